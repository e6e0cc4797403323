// stream_coroutine.hpp: the promise of a stream<T>: what it may yield.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <ranges>
#include <source_location>
#include <type_traits>
#include <utility>

#include <tandem/detail/await_transform.hpp>
#include <tandem/detail/stream_limit.hpp>
#include <tandem/detail/stream_promise.hpp>
#include <tandem/elements_of.hpp>

namespace tandem::inline v0 {

template <class T>
class stream;

namespace detail {

/// Awaiter of a co_yield in a stream of the user's.
class yielded_item {
 public:
  explicit yielded_item(stream_promise_base& by) noexcept : by_(&by) {}
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  TANDEM_ALWAYS_INLINE bool await_suspend(std::coroutine_handle<Promise> /*self*/) noexcept {
    return by_->hand_out();
  }
  void await_resume() { by_->throw_if_left(); }

 private:
  stream_promise_base* by_;
};

/// As above, with an item of its own.
template <class Value>
class yielded_value {
 public:
  template <class From>
  yielded_value(std::in_place_t /*converts*/, From&& from, stream_promise_base& by)
      : value_(std::forward<From>(from)), by_(&by) {}
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  TANDEM_ALWAYS_INLINE bool await_suspend(std::coroutine_handle<Promise> /*self*/) noexcept {
    by_->set_item(std::addressof(value_));
    return by_->hand_out();
  }
  void await_resume() { by_->throw_if_left(); }

 private:
  Value value_;
  stream_promise_base* by_;
};

/// What a stream of the library yields. `co_yield pass_item(p)` says whether to go on: it throws
/// nothing where the stream is left.
class pass_item {
 public:
  explicit pass_item(const void* item) noexcept : item_(item) {}
  const void* item() const noexcept { return item_; }

 private:
  const void* item_;
};
class passed_item {
 public:
  explicit passed_item(stream_promise_base& by) noexcept : by_(&by) {}
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  TANDEM_ALWAYS_INLINE bool await_suspend(std::coroutine_handle<Promise> /*self*/) noexcept {
    return by_->hand_out();
  }
  bool await_resume() noexcept { return !by_->hears_of_leaving(); }

 private:
  stream_promise_base* by_;
};

/// Awaiter of co_yield elements_of(stream).
template <class T>
class nested_stream {
 public:
  explicit nested_stream(stream<T>&& inner) noexcept : inner_(std::move(inner)) {}
  /// For an awaiter that has not started.
  nested_stream(nested_stream&& other) noexcept : inner_(std::move(other.inner_)) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
    outer_ = &self.promise();
    stream_promise_base& inner = inner_.release();
    inner.nest(*outer_, room_);
    return transfer(inner.handle());
  }
  void await_resume() {
    room_.rethrow_if_failed();
    outer_->throw_if_left();
  }

 protected:
  outcome_base room_;
  stream_promise_base* outer_ = nullptr;

 private:
  stream<T> inner_;
};

/// The same for streams of the library: `co_yield pass_all(inner, from)` says whether to go on, and
/// leaves a failure with the cursor.
template <class T>
class pass_all {
 public:
  pass_all(stream<T>&& inner, stream_cursor_base& from) noexcept
      : inner_(std::move(inner)), from_(&from) {}
  stream<T>&& inner() noexcept { return std::move(inner_); }
  stream_cursor_base& from() noexcept { return *from_; }

 private:
  stream<T> inner_;
  stream_cursor_base* from_;
};
template <class T>
class passed_stream : public nested_stream<T> {
 public:
  explicit passed_stream(pass_all<T>& all) noexcept
      : nested_stream<T>(all.inner()), from_(&all.from()) {}
  bool await_resume() noexcept {
    const bool is_left = this->outer_->hears_of_leaving();
    if (std::exception_ptr failure = this->room_.take_failure()) {
      from_->note_failure(std::move(failure));
      return false;
    }
    return !is_left;
  }

 private:
  stream_cursor_base* from_;
};

/// Ends a stream of the library with a failure, if there is one, without a throw.
class [[nodiscard]] end_with {
 public:
  using tandem_awaiter = void;

  explicit end_with(std::exception_ptr&& failure) noexcept : failure_(std::move(failure)) {}
  bool await_ready() const noexcept { return failure_ == nullptr; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return transfer(self.promise().end_failed(std::move(failure_)));
  }
  void await_resume() const noexcept {}

 private:
  std::exception_ptr failure_;
};

template <class T, class Range>
stream<T> each_element_of(Range range) {
  for (auto&& element : range) co_yield static_cast<decltype(element)>(element);
}

template <class T>
class stream_promise final : public stream_promise_base {
  using value = std::remove_cvref_t<T>;

 public:
  stream<T> get_return_object() noexcept;

  yielded_item yield_value(T&& item) noexcept {
    set_item(std::addressof(item));
    return yielded_item(*this);
  }
  template <class From>
    requires(!std::is_reference_v<T> && std::constructible_from<value, From &&> &&
             (!std::same_as<value, std::remove_cvref_t<From>> || std::is_lvalue_reference_v<From> ||
              std::is_const_v<From>))
  yielded_value<value> yield_value(From&& from) {
    return yielded_value<value>(std::in_place, std::forward<From>(from), *this);
  }
  template <class Range>
  nested_stream<T> yield_value(elements_of<Range> all) {
    if constexpr (std::same_as<std::remove_cvref_t<Range>, stream<T>>) {
      return nested_stream<T>(std::move(all).take());
    } else {
      static_assert(std::ranges::input_range<Range>,
                    "elements_of(...): a range, or a stream of just what this one yields; "
                    "streams::map makes one of it");
      return nested_stream<T>(each_element_of<T, Range>(std::move(all).take()));
    }
  }
  passed_item yield_value(pass_item one) noexcept {
    set_item(one.item());
    return passed_item(*this);
  }
  passed_stream<T> yield_value(pass_all<T>&& all) noexcept { return passed_stream<T>(all); }

#if TANDEM_ABI_AWAIT_LINES
  template <class Awaitable>
  decltype(auto) await_transform(Awaitable&& awaitable,
                                 std::source_location where = std::source_location::current()) {
    this->awaits_at = where;
    return transform_awaitable(std::forward<Awaitable>(awaitable));
  }
#else
  template <class Awaitable>
  decltype(auto) await_transform(Awaitable&& awaitable) {
    return transform_awaitable(std::forward<Awaitable>(awaitable));
  }
#endif
};

}  // namespace detail
}  // namespace tandem::inline v0
