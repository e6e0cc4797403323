// generator.hpp: a range whose elements a coroutine makes as they are asked for.
// SPDX-License-Identifier: MIT
//
// Of the shape of C++23's std::generator: synchronous, for plain functions, with or without a
// runtime. What waits is a stream (stream.hpp). Nested generators (elements_of) know the outermost
// one, which knows the innermost: an item costs one resume, at any depth, and a chain of ends is a
// loop, no recursion.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

#include <tandem/detail/frame_memory.hpp>
#include <tandem/elements_of.hpp>

namespace tandem::inline v0 {

template <class Ref, class V>
class generator;

namespace detail {

template <class Yielded>
class generator_nest;
template <class Range, class Ref, class V>
class generator_of_range;

/// The part that depends on what is yielded only: generators of one such type nest.
template <class Yielded>
class generator_promise : public frame_allocated {
 public:
  using pointer = std::add_pointer_t<Yielded>;

  generator_promise() noexcept = default;
  generator_promise(const generator_promise&) = delete;
  generator_promise& operator=(const generator_promise&) = delete;

  std::suspend_always initial_suspend() const noexcept { return {}; }
  std::suspend_always final_suspend() noexcept {
    if (outer_ != nullptr) outermost_->top_ = outer_;
    return {};
  }
  void return_void() const noexcept {}
  void unhandled_exception() noexcept { failure_ = std::current_exception(); }

  std::suspend_always yield_value(Yielded value) noexcept {
    outermost_->item_ = std::addressof(value);
    return {};
  }
  /// What is yielded by value is the consumer's to move from: of an lvalue it gets a copy.
  auto yield_value(const std::remove_reference_t<Yielded>& value)
    requires std::is_rvalue_reference_v<Yielded> &&
             std::constructible_from<std::remove_cvref_t<Yielded>,
                                     const std::remove_reference_t<Yielded>&>
  {
    return copied_item(value, *outermost_);
  }
  template <class Range>
  auto yield_value(elements_of<Range> inner);

  template <class Awaitable>
  std::suspend_never await_transform(Awaitable&&) const noexcept {
    static_assert(sizeof(Awaitable) == 0,
                  "a generator is synchronous, and awaits nothing: make it a tandem::stream "
                  "(stream.hpp), which may await whatever a task may");
    return {};
  }

  // Of the outermost one.
  /// Goes on until there is an item, or the end. @throws what the generator has thrown
  void advance() {
    generator_promise* running = nullptr;
    do {
      running = top_;
      running->handle().resume();
    } while (top_ != running);  // a nested one has begun, or ended
    if (failure_ != nullptr) [[unlikely]]
      std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  bool has_ended() noexcept { return handle().done(); }
  pointer item() const noexcept { return item_; }
  /// The innermost first, one after the other.
  void destroy_all() noexcept {
    while (top_ != this) {
      generator_promise* const inner = std::exchange(top_, top_->outer_);
      *inner->owner_ = nullptr;
      inner->handle().destroy();
    }
    handle().destroy();
  }

 private:
  friend class generator_nest<Yielded>;

  class copied_item {
   public:
    copied_item(const std::remove_reference_t<Yielded>& value, generator_promise& outermost)
        : copy_(value), outermost_(&outermost) {}
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> /*self*/) noexcept {
      outermost_->item_ = std::addressof(copy_);
    }
    void await_resume() const noexcept {}

   private:
    std::remove_cvref_t<Yielded> copy_;
    generator_promise* outermost_;
  };

  std::coroutine_handle<generator_promise> handle() noexcept {
    return std::coroutine_handle<generator_promise>::from_promise(*this);
  }

  generator_promise* outermost_ = this;
  generator_promise* top_ = this;        // of the outermost one: which one goes on
  pointer item_ = nullptr;               // of the outermost one
  generator_promise* outer_ = nullptr;   // of a nested one: whose co_yield waits for its end
  generator_promise** owner_ = nullptr;  // of a nested one: what would destroy it
  std::exception_ptr failure_;
};

/// Awaiter of co_yield elements_of(generator).
template <class Yielded>
class generator_nest {
  using promise = generator_promise<Yielded>;

 public:
  explicit generator_nest(promise* inner) noexcept : inner_(inner) {}
  generator_nest(generator_nest&& other) noexcept : inner_(std::exchange(other.inner_, nullptr)) {}
  generator_nest& operator=(generator_nest&&) = delete;
  ~generator_nest() {
    if (inner_ != nullptr) inner_->handle().destroy();
  }

  bool await_ready() const noexcept { return inner_ == nullptr; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    promise& outer = self.promise();
    inner_->outer_ = &outer;
    inner_->owner_ = &inner_;
    inner_->outermost_ = outer.outermost_;
    outer.outermost_->top_ = inner_;
  }
  void await_resume() {
    if (inner_ != nullptr && inner_->failure_ != nullptr) [[unlikely]]
      std::rethrow_exception(std::exchange(inner_->failure_, nullptr));
  }

 private:
  promise* inner_;
};

}  // namespace detail

/// The elements that a coroutine yields, made one at a time.
///
///     tandem::generator<int> squares(int n) {
///       for (int i = 0; i < n; ++i) co_yield i * i;
///     }
///     for (int square : squares(10)) print(square);
///
/// An input range: it is gone through once. `co_yield` takes a value, an lvalue, or elements_of()
/// of a range or another generator. Dropped early, its coroutine is destroyed where it stands.
///
/// @tparam Ref     what an element is: `generator<T>` gives `T&&`, so that a loop may move it out;
///                 `generator<const T&>` copies nothing; as std::generator
/// @tparam V       the value type where it is not `Ref` without reference
/// @throws         begin() and ++ throw what the coroutine throws: then it has ended
/// @thread_safety  one thread at a time
/// @cost           a resume an element; one frame from the free lists of frame_memory.hpp
template <class Ref, class V = void>
class [[nodiscard]] generator : public std::ranges::view_interface<generator<Ref, V>> {
  using value = std::conditional_t<std::is_void_v<V>, std::remove_cvref_t<Ref>, V>;
  using reference = std::conditional_t<std::is_void_v<V>, Ref&&, Ref>;

 public:
  using yielded = std::conditional_t<std::is_reference_v<reference>, reference, const reference&>;

  class promise_type : public detail::generator_promise<yielded> {
   public:
    generator get_return_object() noexcept { return generator(*this); }
  };

  class iterator {
   public:
    using value_type = value;
    using difference_type = std::ptrdiff_t;

    iterator(iterator&&) noexcept = default;
    iterator& operator=(iterator&&) noexcept = default;

    reference operator*() const noexcept(std::is_nothrow_copy_constructible_v<reference>) {
      return static_cast<reference>(*coroutine_->item());
    }
    iterator& operator++() {
      coroutine_->advance();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& at, std::default_sentinel_t /*end*/) noexcept {
      return at.coroutine_->has_ended();
    }

   private:
    friend generator;
    explicit iterator(detail::generator_promise<yielded>& coroutine) noexcept
        : coroutine_(&coroutine) {}

    detail::generator_promise<yielded>* coroutine_;
  };

  generator(generator&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  generator& operator=(generator other) noexcept {
    std::swap(coroutine_, other.coroutine_);
    return *this;
  }
  ~generator() {
    if (coroutine_ != nullptr) coroutine_->destroy_all();
  }

  /// Starts it: once.
  iterator begin() {
    TANDEM_ASSERT(coroutine_ != nullptr, "a generator that was moved from has no elements");
    coroutine_->advance();
    return iterator(*coroutine_);
  }
  std::default_sentinel_t end() const noexcept { return std::default_sentinel; }

  // Implementation
  /// For whoever nests it.
  detail::generator_promise<yielded>* release() noexcept {
    return std::exchange(coroutine_, nullptr);
  }

 private:
  explicit generator(promise_type& coroutine) noexcept : coroutine_(&coroutine) {}

  detail::generator_promise<yielded>* coroutine_;
};

namespace detail {

template <class Range, class Yielded>
concept nests_in_generator = requires(std::remove_cvref_t<Range>& inner) {
  { inner.release() } -> std::same_as<generator_promise<Yielded>*>;
};

template <class Yielded, class Range>
generator<Yielded> each_element(Range range) {
  using element = std::ranges::range_reference_t<Range>;
  for (auto&& each : range) {
    if constexpr (std::convertible_to<element, Yielded>) {
      co_yield static_cast<Yielded>(static_cast<element>(each));
    } else {
      co_yield std::remove_cvref_t<Yielded>(each);  // a copy, for whoever may move it out
    }
  }
}

template <class Yielded>
template <class Range>
auto generator_promise<Yielded>::yield_value(elements_of<Range> inner) {
  if constexpr (nests_in_generator<Range, Yielded>) {
    return generator_nest<Yielded>(std::move(inner).take().release());
  } else {
    static_assert(std::ranges::input_range<Range> &&
                      (std::convertible_to<std::ranges::range_reference_t<Range>, Yielded> ||
                       (std::is_rvalue_reference_v<Yielded> &&
                        std::convertible_to<std::ranges::range_reference_t<Range>,
                                            std::remove_cvref_t<Yielded>>)),
                  "elements_of(range): its elements do not convert to what this generator yields");
    return generator_nest<Yielded>(each_element<Yielded, Range>(std::move(inner).take()).release());
  }
}

}  // namespace detail
}  // namespace tandem::inline v0
