// asio_executor.hpp: an executor of tandem as one of Asio's.
// SPDX-License-Identifier: MIT
//
// Included by <tandem/asio.hpp> and <tandem/boost_asio.hpp>; one type serves both. It is three words
// at most, so that any_io_executor holds it without an allocation.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string_view>
#include <tandem/detail/foreign_work.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/executor.hpp>
#include <tandem/runtime.hpp>
#include <tandem/strand.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0 {

namespace detail {

/// What a property of Asio's asks for. Each of its namespaces adds its own.
enum class asio_request : std::uint8_t {
  none,
  possibly,
  never,
  fork,
  continuation,
  untracked,
  tracked,
  allocator,
  default_allocator,
};
template <class Property>
struct asio_property {
  static constexpr asio_request request = asio_request::none;
};
/// What it asks about: `flavour` is there, and one of is_blocking, is_relationship, is_work,
/// is_context, is_allocator.
template <class Property>
struct asio_question {};

/// The context of the executors of a runtime, in one of Asio's namespaces.
template <class Flavour>
class asio_context final : public service {
 public:
  explicit asio_context(runtime& /*owner*/) {}
  typename Flavour::execution_context& context() noexcept { return context_; }
  std::string_view service_name() const noexcept override { return "asio"; }
  void stop() noexcept override {}

 private:
  class own_context final : public Flavour::execution_context {};
  own_context context_;
};

/// A strand that executors of Asio keep alive.
class kept_strand {
 public:
  explicit kept_strand(const strand& kept) noexcept : strand_(kept) {}
  void hold() noexcept { holds_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (holds_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  executor& home() const noexcept { return strand_.executor(); }

 private:
  const strand strand_;
  std::atomic<std::size_t> holds_{1};
};

}  // namespace detail

/// Runs the functions of Asio on an executor of tandem: the workers, a completion thread, a strand.
///
///     tandem::asio_executor on(runtime.workers());
///     asio::post(on, [] { ... });
///     asio::co_spawn(on, legacy(), asio::detached);
///     asio::ip::tcp::socket socket(on);
///
/// All properties are there: blocking (possibly, never), relationship, outstanding_work, allocator,
/// context. Work that is tracked counts as a task: the end of the runtime waits for it. An
/// io_context is no part of it: sockets and timers that are made for this executor are served by a
/// thread that Asio starts for their context, and their handlers run here.
///
/// @tparam Allocator  where functions are kept; by default in the memory of frames
/// @thread_safety     as a value; posts from any thread
/// @cost              a post: one queue operation, at most one wake; its memory from a free list
template <class Allocator = std::allocator<void>>
class basic_asio_executor {
 public:
  /// @param target  outlives all copies, but for a strand, which they keep alive
  explicit basic_asio_executor(executor& target)
    requires std::is_same_v<Allocator, std::allocator<void>>
      : word_(reinterpret_cast<std::uintptr_t>(&target)) {}  // NOLINT: three free bits
  explicit basic_asio_executor(const strand& target)
    requires std::is_same_v<Allocator, std::allocator<void>>
      : word_(reinterpret_cast<std::uintptr_t>(&target.executor())),  // NOLINT
        strand_(new detail::kept_strand(target)) {}
  basic_asio_executor(const basic_asio_executor& other) noexcept
      : basic_asio_executor(other, other.word_, other.allocator_) {}
  basic_asio_executor(basic_asio_executor&& other) noexcept
      : word_(other.word_), strand_(other.strand_), allocator_(other.allocator_) {
    // What was moved from names the executor still, but counts nothing any more.
    other.word_ &= ~tracked_bit;
    other.strand_ = nullptr;
  }
  basic_asio_executor& operator=(basic_asio_executor other) noexcept {
    std::swap(word_, other.word_);
    std::swap(strand_, other.strand_);
    std::swap(allocator_, other.allocator_);
    return *this;
  }
  ~basic_asio_executor() {
    if ((word_ & tracked_bit) != 0) detail::end_foreign_work(target());
    if (strand_ != nullptr) strand_->release();
  }

  /// The executor of tandem.
  executor& target() const noexcept {
    return *reinterpret_cast<executor*>(word_ & ~all_bits);  // NOLINT
  }

  // What Asio asks of an executor
  template <class F>
  void execute(F&& f) const {
    executor& home = target();
    if ((word_ & never_bit) == 0 && detail::runs_here(home)) {
      std::decay_t<F> now(std::forward<F>(f));
      now();
      return;
    }
    home.post(posted<std::decay_t<F>>::make(home, allocator_, std::forward<F>(f)),
              (word_ & continuation_bit) != 0 ? post_kind::resume : post_kind::spawn);
  }

  template <class Property>
    requires(detail::asio_property<Property>::request != detail::asio_request::none)
  auto require(const Property& property) const {
    using enum detail::asio_request;
    constexpr detail::asio_request asked = detail::asio_property<Property>::request;
    if constexpr (asked == allocator) {
      using given = std::decay_t<decltype(property.value())>;
      return basic_asio_executor<given>(*this, word_, property.value());
    } else if constexpr (asked == default_allocator) {
      return basic_asio_executor<std::allocator<void>>(*this, word_, std::allocator<void>());
    } else if constexpr (asked == tracked || asked == untracked) {
      return basic_asio_executor(*this, with(tracked_bit, asked == tracked), allocator_);
    } else if constexpr (asked == never || asked == possibly) {
      return basic_asio_executor(*this, with(never_bit, asked == never), allocator_);
    } else {
      return basic_asio_executor(*this, with(continuation_bit, asked == continuation), allocator_);
    }
  }

  template <class Property>
    requires requires { typename detail::asio_question<Property>::flavour; }
  decltype(auto) query(const Property& /*property*/) const noexcept {
    using question = detail::asio_question<Property>;
    using flavour = typename question::flavour;
    if constexpr (requires { question::is_context; }) {
      using kept = detail::asio_context<flavour>;
      runtime& owner = *target().owner();
      kept* const found = owner.template find_service<kept>();
      return (found != nullptr ? *found : owner.template use_service<kept>()).context();
    } else if constexpr (requires { question::is_allocator; }) {
      return Allocator(allocator_);
    } else if constexpr (requires { question::is_blocking; }) {
      return (word_ & never_bit) != 0 ? typename flavour::blocking(flavour::blocking::never)
                                      : typename flavour::blocking(flavour::blocking::possibly);
    } else if constexpr (requires { question::is_relationship; }) {
      using relation = typename flavour::relationship;
      return (word_ & continuation_bit) != 0 ? relation(relation::continuation)
                                             : relation(relation::fork);
    } else {
      using work = typename flavour::outstanding_work;
      return (word_ & tracked_bit) != 0 ? work(work::tracked) : work(work::untracked);
    }
  }

  friend bool operator==(const basic_asio_executor& a, const basic_asio_executor& b) noexcept {
    return a.word_ == b.word_ && a.allocator_ == b.allocator_;
  }

  // Implementation
 private:
  template <class>
  friend class basic_asio_executor;

  static constexpr std::uintptr_t never_bit = 1;
  static constexpr std::uintptr_t continuation_bit = 2;
  static constexpr std::uintptr_t tracked_bit = 4;
  static constexpr std::uintptr_t all_bits = 7;
  static_assert(alignof(executor) > all_bits);

  /// A function on its way.
  template <class F>
  class posted final : public job {
    using allocator_type = typename std::allocator_traits<Allocator>::template rebind_alloc<posted>;
    static constexpr bool is_default = std::is_same_v<Allocator, std::allocator<void>>;

   public:
    template <class G>
    static posted* make(executor& home, const Allocator& allocator, G&& f) {
      if constexpr (is_default) {
        void* const room = detail::allocate_frame(sizeof(posted));
        try {
          return ::new (room) posted(home, allocator, std::forward<G>(f));
        } catch (...) {
          detail::free_frame(room, sizeof(posted));
          throw;
        }
      } else {
        allocator_type own(allocator);
        posted* const room = std::allocator_traits<allocator_type>::allocate(own, 1);
        try {
          return ::new (static_cast<void*>(room)) posted(home, allocator, std::forward<G>(f));
        } catch (...) {
          std::allocator_traits<allocator_type>::deallocate(own, room, 1);
          throw;
        }
      }
    }
    template <class G>
    posted(executor& home, const Allocator& allocator, G&& f)
        : job(&posted::run_it), home_(home), allocator_(allocator), f_(std::forward<G>(f)) {}

   private:
    static void run_it(job* self) noexcept {
      auto* const own = static_cast<posted*>(self);
      executor& home = own->home_;
      try {
        // Its memory is free before it runs, so that what it posts gets the same again.
        F now(std::move(own->f_));
        own->give_back();
        now();
      } catch (...) {
        detail::foreign_work_failed(home, std::current_exception());
      }
    }
    void give_back() noexcept {
      if constexpr (is_default) {
        this->~posted();
        detail::free_frame(this, sizeof(posted));
      } else {
        allocator_type own(allocator_);
        this->~posted();
        std::allocator_traits<allocator_type>::deallocate(own, this, 1);
      }
    }

    executor& home_;
    [[no_unique_address]] Allocator allocator_;
    F f_;
  };

  template <class OtherAllocator>
  basic_asio_executor(const basic_asio_executor<OtherAllocator>& other, std::uintptr_t word,
                      const Allocator& allocator) noexcept
      : word_(word), strand_(other.strand_), allocator_(allocator) {
    if (strand_ != nullptr) strand_->hold();
    // Once the executor is closed nothing waits for what is to come.
    if ((word_ & tracked_bit) != 0 && !detail::begin_foreign_work(target())) word_ &= ~tracked_bit;
  }
  std::uintptr_t with(std::uintptr_t bit, bool set) const noexcept {
    return set ? word_ | bit : word_ & ~bit;
  }

  std::uintptr_t word_;  // the executor, and the bits
  detail::kept_strand* strand_ = nullptr;
  [[no_unique_address]] Allocator allocator_;
};

using asio_executor = basic_asio_executor<std::allocator<void>>;

}  // namespace tandem::inline v0
