// shared_mutex.hpp: many readers or one writer, waited for by tasks, and held across awaits.
// SPDX-License-Identifier: MIT
//
// Word: the value's lowest bit says "held by a writer", the bits above count the readers
// (detail/lock_word.hpp). Readers and writers wait in one list, in the order in which they came,
// and whoever gives the lock back hands it to the oldest: to one writer, or to all readers up to
// the next writer. While anybody waits nobody else gets in, so neither side starves.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <type_traits>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/wait_list.hpp>

namespace tandem::inline v0 {

class shared_mutex;
class write_lock_awaiter;
class scoped_write_lock_awaiter;
class read_lock_awaiter;
class scoped_read_lock_awaiter;

/// The right to read, among others; gives it back when it goes.
class [[nodiscard]] read_guard {
 public:
  read_guard() noexcept = default;
  read_guard(read_guard&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  read_guard& operator=(read_guard&& other) noexcept {
    read_guard moved(std::move(other));
    std::swap(held_, moved.held_);
    return *this;
  }
  ~read_guard() { unlock(); }

  explicit operator bool() const noexcept { return held_ != nullptr; }
  /// Early; nothing if it holds none.
  void unlock() noexcept;

  // Implementation
  explicit read_guard(shared_mutex& held) noexcept : held_(&held) {}

 private:
  shared_mutex* held_ = nullptr;
};

/// The right to write, alone; gives it back when it goes.
class [[nodiscard]] write_guard {
 public:
  write_guard() noexcept = default;
  write_guard(write_guard&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  write_guard& operator=(write_guard&& other) noexcept {
    write_guard moved(std::move(other));
    std::swap(held_, moved.held_);
    return *this;
  }
  ~write_guard() { unlock(); }

  explicit operator bool() const noexcept { return held_ != nullptr; }
  /// Early; nothing if it holds none.
  void unlock() noexcept;
  /// Becomes a reader, without letting a writer in between: read = std::move(write).downgrade().
  ///
  /// pre: it holds one
  read_guard downgrade() && noexcept;

  // Implementation
  explicit write_guard(shared_mutex& held) noexcept : held_(&held) {}

 private:
  shared_mutex* held_ = nullptr;
};

/// Many readers at a time, or one writer; the others wait in the order in which they came.
///
///     tandem::shared_mutex m;
///     auto reading = co_await m.scoped_lock_shared();   // beside other readers
///     auto writing = co_await m.scoped_lock();          // alone
///
/// A reader that comes while a writer waits queues up behind it, so a task that reads must not ask
/// to read again: it would wait for itself as soon as a writer came between.
///
/// @thread_safety  all members from any thread; the holder need not be the one that unlocks
class TANDEM_API shared_mutex {
 public:
  shared_mutex() noexcept : word_(0) {}
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  bool try_lock() noexcept {
    detail::lock_word::word free = 0;
    while (!word_.change(free, writer)) {
      if (free != 0) return false;
    }
    note_owner(detail::this_thread().env);
    return true;
  }
  /// Fails also while a writer waits.
  bool try_lock_shared() noexcept {
    return try_read_at_once() || ((word_.load() & writer) == 0 && try_lock_shared_slow());
  }

  /// Waits until the caller is alone, and has to unlock().
  ///
  /// @throws         operation_cancelled if a stop comes while it waits, or came before: then the
  ///                 caller does not hold it
  /// @cancellation   one that is ready may go through in a stopped task, up to 128 in a row; may
  ///                 lose the race and return normally, holding it. A writer that is stopped lets
  ///                 the readers behind it in as soon as its task runs
  /// @resumes_on     the caller's home
  /// @cost           one CAS if it is free; no allocation
  write_lock_awaiter lock() noexcept;
  /// Waits until the caller may read beside other readers, and has to unlock_shared(). As lock().
  ///
  /// @cost  one CAS if no writer holds it or waits; no allocation
  read_lock_awaiter lock_shared() noexcept;

  /// As lock(). @returns  a guard that unlocks
  scoped_write_lock_awaiter scoped_lock() noexcept;
  /// As lock_shared(). @returns  a guard that unlocks
  scoped_read_lock_awaiter scoped_lock_shared() noexcept;

  /// Hands it to the oldest that waits: a writer, or all readers up to the next writer.
  ///
  /// @cost  one CAS without waiters, else one post for each run of waiters with the same home
  void unlock() noexcept {
    detail::lock_word::word held = writer;
    if (!word_.change(held, 0)) give_back_slow(writer);
  }
  /// @cost  one CAS, also while somebody waits and others read; the last reader hands it on
  void unlock_shared() noexcept {
    using detail::lock_word;
    lock_word::word seen = word_.load();
    while ((seen & lock_word::locked) == 0 &&
           ((seen & lock_word::waiters) == 0 || seen / reader > 1)) {
      TANDEM_ASSERT(seen >= reader, "a shared_mutex was given back by more readers than it has");
      if (word_.change(seen, seen - reader)) return;  // waiting/unlock: the last access
    }
    give_back_slow(reader);
  }
  /// The writer becomes a reader; readers that wait up to the next writer come in, too.
  ///
  /// pre: the caller holds it alone
  void downgrade() noexcept {
    detail::lock_word::word held = writer;
    if (!word_.change(held, reader)) downgrade_slow();
  }

  // Implementation
 private:
  friend write_lock_awaiter;
  friend read_lock_awaiter;
  static constexpr detail::lock_word::word writer = detail::lock_word::one;
  static constexpr detail::lock_word::word reader = 2 * detail::lock_word::one;

  /// Where nobody waits, nor comes or goes by the lock.
  bool try_read_at_once() noexcept {
    using detail::lock_word;
    lock_word::word seen = word_.load();
    while ((seen & (lock_word::locked | lock_word::waiters | writer)) == 0) {
      if (word_.change(seen, seen + reader)) return true;
    }
    return false;
  }
  bool try_lock_shared_slow() noexcept;
  /// @param held  writer, or reader
  void give_back_slow(detail::lock_word::word held) noexcept;
  void downgrade_slow() noexcept;
  /// waiting/let_go. What a writer held up that waits no more.
  void let_go() noexcept;
  // Under the lock. A select that was taken elsewhere may be in the list: it holds up nobody.
  bool may_write(detail::lock_word::word state) noexcept;
  bool may_read(detail::lock_word::word state) noexcept;
  detail::lock_word::word with_reader(detail::lock_word::word state) const noexcept;
  detail::lock_word::word with_waiters(detail::lock_word::word value) const noexcept;
  /// waiting/grant, under the lock. @returns the word to unlock with
  detail::lock_word::word grant(detail::lock_word::word value,
                                detail::taken_list& granted) noexcept;
  /// For looks: who writes. Only whoever has just got it.
  void note_owner(const environment* owner) noexcept {
    // Of the task: a part of it may end before the lock is given back. Relaxed: about now.
    owner_.store(environment::task_id(owner), std::memory_order_relaxed);
  }
  static void describe(const stop_waiter& wait, detail::wait_note& note) noexcept;
  static const detail::wait_kind waits_to_write;
  static const detail::wait_kind waits_to_read;

  detail::lock_word word_;               // first: describe
  std::atomic<std::uint64_t> owner_{0};  // of the last writer; 0: it locked outside any task
  detail::wait_list waiting_;
};

/// Awaiter of shared_mutex::lock().
class [[nodiscard]] TANDEM_API write_lock_awaiter {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = std::true_type;  // race() refuses it: nobody would unlock

  explicit write_lock_awaiter(shared_mutex& target) noexcept : target_(&target) {}
  write_lock_awaiter(write_lock_awaiter&&) noexcept = default;

  bool await_ready() noexcept {
    return !detail::must_stop() && target_->try_lock() && room_.ready();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  std::exception_ptr await_failure() noexcept {
    return was_refused() ? room_.failure_if_cancelled() : nullptr;
  }
  void await_resume() {
    if (was_refused()) [[unlikely]]
      room_.throw_if_cancelled();
  }

  // As a branch of select() (protocol selecting).
  bool select_try() noexcept { return target_->try_lock(); }
  bool select_arm(detail::select_place& as) noexcept;
  void select_disarm() noexcept;
  void select_let_pass() noexcept;
  void select_reset() noexcept { room_.reset(); }

 protected:
  shared_mutex* target_;

 private:
  bool start(detail::promise_base& waiting) noexcept;
  bool was_refused() noexcept {
    if (!room_.has_waited() || !room_.get().cancelled()) [[likely]]
      return false;
    target_->let_go();
    return true;
  }

  detail::waiter_room<detail::waiter> room_;
};

/// Awaiter of shared_mutex::scoped_lock().
class [[nodiscard]] scoped_write_lock_awaiter : public write_lock_awaiter {
 public:
  using lossy_when_dropped = std::false_type;
  using write_lock_awaiter::write_lock_awaiter;
  write_guard await_resume() {
    write_lock_awaiter::await_resume();
    return write_guard(*target_);
  }
};

/// Awaiter of shared_mutex::lock_shared().
class [[nodiscard]] TANDEM_API read_lock_awaiter {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = std::true_type;  // race() refuses it: nobody would unlock

  explicit read_lock_awaiter(shared_mutex& target) noexcept : target_(&target) {}
  read_lock_awaiter(read_lock_awaiter&&) noexcept = default;

  bool await_ready() noexcept {
    return !detail::must_stop() && target_->try_read_at_once() && room_.ready();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  std::exception_ptr await_failure() const noexcept { return room_.failure_if_cancelled(); }
  void await_resume() const { room_.throw_if_cancelled(); }

  // As a branch of select() (protocol selecting).
  bool select_try() noexcept { return target_->try_read_at_once(); }
  bool select_arm(detail::select_place& as) noexcept;
  void select_disarm() noexcept { (void)room_.disarm(); }
  void select_reset() noexcept { room_.reset(); }

 protected:
  shared_mutex* target_;

 private:
  bool start(detail::promise_base& waiting) noexcept;

  detail::waiter_room<detail::waiter> room_;
};

/// Awaiter of shared_mutex::scoped_lock_shared().
class [[nodiscard]] scoped_read_lock_awaiter : public read_lock_awaiter {
 public:
  using lossy_when_dropped = std::false_type;
  using read_lock_awaiter::read_lock_awaiter;
  read_guard await_resume() const {
    read_lock_awaiter::await_resume();
    return read_guard(*target_);
  }
};

inline write_lock_awaiter shared_mutex::lock() noexcept { return write_lock_awaiter(*this); }
inline scoped_write_lock_awaiter shared_mutex::scoped_lock() noexcept {
  return scoped_write_lock_awaiter(*this);
}
inline read_lock_awaiter shared_mutex::lock_shared() noexcept { return read_lock_awaiter(*this); }
inline scoped_read_lock_awaiter shared_mutex::scoped_lock_shared() noexcept {
  return scoped_read_lock_awaiter(*this);
}

inline void read_guard::unlock() noexcept {
  if (held_ != nullptr) std::exchange(held_, nullptr)->unlock_shared();
}
inline void write_guard::unlock() noexcept {
  if (held_ != nullptr) std::exchange(held_, nullptr)->unlock();
}
inline read_guard write_guard::downgrade() && noexcept {
  TANDEM_ASSERT(held_ != nullptr, "a write_guard that holds nothing was downgraded");
  held_->downgrade();
  return read_guard(*std::exchange(held_, nullptr));
}

}  // namespace tandem::inline v0

// The standard guards would call lock(), drop what has to be awaited, and unlock what they do not
// hold.
template <>
class std::lock_guard<tandem::shared_mutex> {
 public:
  /// Write: auto guard = co_await m.scoped_lock();
  explicit lock_guard(tandem::shared_mutex&) = delete;
};
template <>
class std::unique_lock<tandem::shared_mutex> {
 public:
  /// Write: auto guard = co_await m.scoped_lock();
  explicit unique_lock(tandem::shared_mutex&) = delete;
};
template <>
class std::scoped_lock<tandem::shared_mutex> {
 public:
  /// Write: auto guard = co_await m.scoped_lock();
  explicit scoped_lock(tandem::shared_mutex&) = delete;
};
template <>
class std::shared_lock<tandem::shared_mutex> {
 public:
  /// Write: auto guard = co_await m.scoped_lock_shared();
  explicit shared_lock(tandem::shared_mutex&) = delete;
};
