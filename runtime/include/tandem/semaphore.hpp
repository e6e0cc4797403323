// semaphore.hpp: a number of permits that tasks take and give back.
// SPDX-License-Identifier: MIT
//
// Word: the value is the number of free permits (detail/lock_word.hpp). While somebody waits,
// permits are taken under the lock only, in the order of the requests.
#pragma once

#include <coroutine>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/wait_list.hpp>

namespace tandem::inline v0 {

class semaphore;
class semaphore_awaiter;
class scoped_semaphore_awaiter;

/// Permits that are given back when it goes.
class [[nodiscard]] semaphore_permit {
 public:
  semaphore_permit() noexcept = default;
  semaphore_permit(semaphore_permit&& other) noexcept
      : of_(std::exchange(other.of_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  semaphore_permit& operator=(semaphore_permit&& other) noexcept {
    semaphore_permit moved(std::move(other));
    std::swap(of_, moved.of_);
    std::swap(count_, moved.count_);
    return *this;
  }
  ~semaphore_permit() { release(); }

  explicit operator bool() const noexcept { return of_ != nullptr; }
  std::size_t count() const noexcept { return count_; }
  /// Early; nothing if it holds none.
  void release() noexcept;

  // Implementation
  semaphore_permit(semaphore& of, std::size_t count) noexcept : of_(&of), count_(count) {}

 private:
  semaphore* of_ = nullptr;
  std::size_t count_ = 0;
};

/// Limits how many do something at once.
///
///     tandem::semaphore connections(8);
///     const auto permit = co_await connections.scoped();
///     co_await fetch(url);
///
/// Fair: a later request never overtakes an earlier one, however small it is.
///
/// @thread_safety  all members from any thread; release() also outside any task
class TANDEM_API semaphore {
 public:
  static constexpr std::size_t max = detail::lock_word::max_value;

  explicit semaphore(std::size_t permits) noexcept
      : word_(static_cast<detail::lock_word::word>(permits)) {
    TANDEM_ASSERT(permits <= max, "a semaphore was given more than semaphore::max permits");
  }
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  /// Free permits; others may take them at the same time.
  std::size_t available() const noexcept { return word_.load() / detail::lock_word::one; }

  /// Fails also while others wait.
  bool try_acquire(std::size_t permits = 1) noexcept {
    using detail::lock_word;
    if (permits > max) return false;
    const auto wanted = static_cast<lock_word::word>(permits) * lock_word::one;
    lock_word::word seen = word_.load();
    // A fast path even if the word is locked for a moment would break the owner's value: try again.
    while (seen >= wanted && (seen & lock_word::waiters) == 0) {
      if ((seen & lock_word::locked) != 0) return try_acquire_slow(wanted);
      if (word_.change(seen, seen - wanted)) return true;
    }
    return false;
  }

  /// Waits until `permits` are the caller's, who has to release() them.
  ///
  /// @throws         operation_cancelled if a stop comes while it waits, or came before: then it
  ///                 has none of them
  /// @cancellation   may lose the race and return normally, with the permits; one that is ready may
  ///                 go through in a stopped task, up to 128 in a row. A request that is stopped
  ///                 lets those behind it go as soon as its task runs
  /// @resumes_on     the caller's home
  /// @cost           one CAS if they are free; no allocation
  semaphore_awaiter acquire(std::size_t permits = 1) noexcept;

  /// As acquire(). @returns  an object that gives the permits back
  scoped_semaphore_awaiter scoped(std::size_t permits = 1) noexcept;

  /// Gives permits back, or adds new ones.
  ///
  /// @cost  one CAS without waiters, else one post for each run of waiters with the same home
  void release(std::size_t permits = 1) noexcept {
    using detail::lock_word;
    const auto more = static_cast<lock_word::word>(permits) * lock_word::one;
    lock_word::word seen = word_.load();
    while ((seen & (lock_word::locked | lock_word::waiters)) == 0 && permits <= max &&
           seen / lock_word::one + permits <= max) {
      if (word_.change(seen, seen + more)) return;
    }
    release_slow(permits);
  }

  // Implementation
 private:
  friend semaphore_awaiter;
  bool try_acquire_slow(detail::lock_word::word wanted) noexcept;
  void release_slow(std::size_t permits) noexcept;

  detail::lock_word word_;
  detail::wait_list waiting_;
};

namespace detail {

class semaphore_waiter : public waiter {
 public:
  semaphore_waiter(const wait_kind& kind, lock_word& lock, wait_list& list,
                   lock_word::word wanted) noexcept
      : waiter(kind, lock, list), wanted_(wanted) {}
  lock_word::word wanted() const noexcept { return wanted_; }

 private:
  lock_word::word wanted_;
};

}  // namespace detail

/// Awaiter of semaphore::acquire().
class [[nodiscard]] TANDEM_API semaphore_awaiter {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = std::true_type;  // race() refuses it: nobody would release the permits

  semaphore_awaiter(semaphore& target, std::size_t permits) noexcept
      : target_(&target), permits_(permits) {
    TANDEM_ASSERT(permits <= semaphore::max, "more than semaphore::max permits were asked for");
  }
  semaphore_awaiter(semaphore_awaiter&&) noexcept = default;

  bool await_ready() noexcept {
    return !detail::must_stop() && target_->try_acquire(permits_) && room_.ready();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  std::exception_ptr await_failure() noexcept {
    return room_.has_waited() && was_refused() ? room_.failure_if_cancelled() : nullptr;
  }
  void await_resume() {
    if (room_.has_waited() && was_refused()) [[unlikely]]
      room_.throw_if_cancelled();
  }

  // As a branch of select() (protocol selecting).
  bool select_try() noexcept { return target_->try_acquire(permits_); }
  bool select_arm(detail::select_place& as) noexcept;
  void select_disarm() noexcept;
  void select_let_pass() noexcept {
    if (permits_ > 1) target_->release(0);  // waiting/let_go
  }
  void select_reset() noexcept { room_.reset(); }

 protected:
  semaphore* target_;
  std::size_t permits_;

 private:
  bool start(detail::promise_base& waiting) noexcept;
  /// After a wait.
  bool was_refused() noexcept;

  detail::waiter_room<detail::semaphore_waiter> room_;
};

/// Awaiter of semaphore::scoped().
class [[nodiscard]] scoped_semaphore_awaiter : public semaphore_awaiter {
 public:
  using lossy_when_dropped = std::false_type;
  using semaphore_awaiter::semaphore_awaiter;
  semaphore_permit await_resume() {
    semaphore_awaiter::await_resume();
    return semaphore_permit(*target_, permits_);
  }
};

inline semaphore_awaiter semaphore::acquire(std::size_t permits) noexcept {
  return semaphore_awaiter(*this, permits);
}
inline scoped_semaphore_awaiter semaphore::scoped(std::size_t permits) noexcept {
  return scoped_semaphore_awaiter(*this, permits);
}

inline void semaphore_permit::release() noexcept {
  if (of_ != nullptr) std::exchange(of_, nullptr)->release(std::exchange(count_, 0));
}

}  // namespace tandem::inline v0
