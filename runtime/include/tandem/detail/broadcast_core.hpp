// broadcast_core.hpp: the last n values of a broadcast, which each receiver copies out by itself.
// SPDX-License-Identifier: MIT
//
// A position counts values. The value of position p stands in slot p mod n under the stamp p + 1
// (detail/shared_value.hpp), so a receiver that looks for a position finds it, or an older one (it
// has not come yet), or a younger one (the receiver lags). Senders take turns by the word's lock,
// whose bit says "closed"; receivers take it only where they have to wait, or lag. Protocol
// broadcasts, runtime/src/sync/README.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/shared_value.hpp>
#include <tandem/detail/wait_list.hpp>
#include <tandem/environment.hpp>

namespace tandem::inline v0::detail {

/// Where a receiver is.
class broadcast_place {
 public:
  broadcast_place(std::uint64_t of_next, std::size_t in_slot) noexcept
      : next(of_next), slot(in_slot) {}
  std::uint64_t next;  // the position that it reads next
  std::size_t slot;    // of that
};

enum class broadcast_look : unsigned char { nothing, something, ended };

/// The part that does not depend on the values.
class TANDEM_API broadcast_base {
 public:
  static constexpr lock_word::word closed = lock_word::one;

  broadcast_base(const broadcast_base&) = delete;
  broadcast_base& operator=(const broadcast_base&) = delete;

  void close() noexcept;
  bool is_closed() const noexcept { return (word_.load() & closed) != 0; }
  std::size_t capacity() const noexcept { return capacity_; }
  /// How many values were sent.
  std::uint64_t sent() const noexcept {
    return tail_.load(std::memory_order_acquire);  // pairs with end_send()
  }
  std::size_t receivers() const noexcept { return joined_.load(std::memory_order_relaxed); }
  std::size_t waiting() noexcept;
  std::uint64_t last_sender() const noexcept { return last_task_.load(std::memory_order_relaxed); }

  broadcast_place join() noexcept {
    joined_.fetch_add(1, std::memory_order_relaxed);
    return place_of(sent());
  }
  void leave() noexcept { joined_.fetch_sub(1, std::memory_order_relaxed); }
  /// broadcasts/wait. What await_suspend returns.
  bool start(waiter& self, promise_base& waiting, const broadcast_place& at) noexcept;
  /// selecting/arm. @returns whether there is nothing to wait for
  bool arm(waiter& self, const broadcast_place& at) noexcept;
  /// broadcasts/lag. Of a place whose value was not there to be held: moves it to the oldest value
  /// that is. @returns how many it has missed; 0: none, it has not come yet, or look again
  std::uint64_t catch_up(broadcast_place& at) noexcept;

 protected:
  friend class broadcast_waiter;

  explicit broadcast_base(std::size_t capacity) noexcept : word_(0), capacity_(capacity) {}
  ~broadcast_base() {
    TANDEM_ASSERT(receivers() == 0, "a broadcast was destroyed before its receivers");
  }

  /// Under the lock.
  bool must_wait(lock_word::word state, const broadcast_place& at) const noexcept {
    return tail_.load(std::memory_order_relaxed) == at.next && (state & closed) == 0;
  }
  broadcast_place place_of(std::uint64_t position) const noexcept {
    return {position, static_cast<std::size_t>(position % capacity_)};
  }
  /// broadcasts/send. Under the lock, which it releases.
  void end_send(lock_word::word state) noexcept;

  lock_word word_;
  const std::size_t capacity_;
  std::atomic<std::uint64_t> tail_{0};       // the next position; written under the lock
  std::atomic<std::size_t> joined_{0};       // receivers that there are; for people
  std::atomic<std::uint64_t> last_task_{0};  // id of a task; 0: outside any task
  // Under the lock.
  std::size_t tail_slot_ = 0;
  wait_list waiting_;
};

/// A receive that waits.
class TANDEM_API broadcast_waiter : public waiter {
 public:
  explicit broadcast_waiter(broadcast_base& target) noexcept;
  const broadcast_base* const of;
};

template <class T>
class broadcast_core final : public broadcast_base {
  struct slot {
    slot() noexcept : who(0) {}
    slot(const slot&) = delete;
    slot& operator=(const slot&) = delete;
    ~slot() {  // NOLINT
      if (who.now() != 0) std::destroy_at(std::addressof(value));
    }
    shared_value who;
    union {
      T value;
    };
  };

 public:
  explicit broadcast_core(std::size_t capacity)
      : broadcast_base(capacity), slots_(new slot[capacity]) {}

  /// @returns  false if it is closed: then `value` is untouched
  bool send(T& value) noexcept {
    const lock_word::word state = word_.lock();
    if ((state & closed) != 0) [[unlikely]] {
      word_.unlock(state);
      return false;
    }
    slot& to = slots_[tail_slot_];
    to.who.begin_write();
    if (to.who.now() != 0) std::destroy_at(std::addressof(to.value));
    std::construct_at(std::addressof(to.value), std::move(value));
    to.who.end_write(tail_.load(std::memory_order_relaxed) + 1);  // under the lock
    end_send(state);
    return true;
  }

  /// broadcasts/look. Whether a receive there has nothing to wait for.
  broadcast_look look(const broadcast_place& at) const noexcept {
    const bool was_closed = is_closed();  // first: what was sent before is seen
    const shared_value& who = slots_[at.slot].who;
    if (who.now() > at.next) return broadcast_look::something;
    return was_closed && sent() == at.next ? broadcast_look::ended : broadcast_look::nothing;
  }

  /// broadcasts/read. Calls `use` with the value at a place, and moves that on. @returns false if
  /// it is not there
  template <class Use>
  bool read(broadcast_place& at, Use use) {
    slot& from = slots_[at.slot];
    if (!from.who.try_hold(at.next + 1)) return false;
    {
      const value_hold held(from.who);
      use(std::as_const(from.value));
    }
    ++at.next;
    at.slot = at.slot + 1 == capacity_ ? 0 : at.slot + 1;
    return true;
  }

 private:
  const std::unique_ptr<slot[]> slots_;
};

}  // namespace tandem::inline v0::detail
