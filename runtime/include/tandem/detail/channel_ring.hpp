// channel_ring.hpp: the values of a channel: a bounded ring whose ends move on by one CAS each.
// SPDX-License-Identifier: MIT
//
//   position  counts values: the lap, then the index in the ring, then two bits that are flags where
//             an end stands
//   tail      the position of the next value to come; flags `closed` and `receivers_wait`
//   head      the position of the oldest value; flag `senders_wait`
//   turn      of a slot: the position for which it is free; plus one: whose value it holds
//
// After Dmitry Vyukov's bounded queue for many producers and consumers. An end on which a flag
// stands is moved on under the channel's lock only, so whoever claims a position without the lock
// has seen, by the same CAS, that nobody waits there: protocol channels, runtime/src/sync/README.md.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/fork_lane.hpp>

namespace tandem::inline v0::detail {

enum class ring_look : unsigned char {
  claimed,  ///< the position is the caller's
  none,     ///< no room, or no value, at some moment of the call
  ended,    ///< no value, and the flag `closed`
  flagged,  ///< a flag stands there: only under the lock
  busy,     ///< whoever has claimed the slot before is not done with it
};

/// The part of a ring that does not depend on the values.
template <class Atomics>
class basic_ring_ends {
  template <class T>
  using atomic = typename Atomics::template atomic<T>;

 public:
  using position = std::uint64_t;

  static constexpr position closed = 1;          // of the tail
  static constexpr position receivers_wait = 2;  // of the tail
  static constexpr position senders_wait = 1;    // of the head
  static constexpr position flags = 3;
  static constexpr position one = 4;

  basic_ring_ends(const basic_ring_ends&) = delete;
  basic_ring_ends& operator=(const basic_ring_ends&) = delete;

  std::size_t capacity() const noexcept { return capacity_; }
  /// Values that were claimed by a sender, and not by a receiver.
  std::size_t size() const noexcept {
    position tail = tail_at().load(std::memory_order_acquire);
    while (true) {
      const position head = head_at().load(std::memory_order_acquire);
      const position now = tail_at().load(std::memory_order_acquire);
      if (now == tail) return distance(head, tail);
      tail = now;
    }
  }

  // Ids of tasks, for people who ask why nobody puts or takes; 0: outside of any task. On the line
  // of their end, and written only if it is somebody else: whoever has just moved the end has it.
  void note_sender(std::uint64_t task) noexcept { note(block_->tail.last_task, task); }
  void note_receiver(std::uint64_t task) noexcept { note(block_->head.last_task, task); }
  std::uint64_t last_sender() const noexcept { return noted(block_->tail.last_task); }
  std::uint64_t last_receiver() const noexcept { return noted(block_->head.last_task); }

  // The following under the lock.

  /// channels/close. From now on no position is claimed by a sender.
  void close_tail() noexcept {
    // Release: whoever finds it closed has seen what happened before.
    (void)tail_at().fetch_or(closed, std::memory_order_acq_rel);
  }
  bool is_held_empty() const noexcept {
    return (tail_at().load(std::memory_order_relaxed) & receivers_wait) != 0;  // under the lock
  }
  bool is_held_full() const noexcept {
    return (head_at().load(std::memory_order_relaxed) & senders_wait) != 0;  // under the lock
  }
  /// channels/hold. @returns false if it is not empty (any more). Else it stays so, and the tail is
  /// the lock's.
  bool hold_empty() noexcept {
    position tail = tail_at().load(std::memory_order_acquire);
    if ((tail & receivers_wait) != 0) return true;
    if (place(tail) != place(head_at().load(std::memory_order_acquire))) return false;
    return tail_at().compare_exchange_strong(tail, tail | receivers_wait, std::memory_order_acq_rel,
                                             std::memory_order_acquire);
  }
  /// channels/hold. As above: full, and the head.
  bool hold_full() noexcept {
    position head = head_at().load(std::memory_order_acquire);
    if ((head & senders_wait) != 0) return true;
    if (place(tail_at().load(std::memory_order_acquire)) != head + lap()) return false;
    return head_at().compare_exchange_strong(head, head | senders_wait, std::memory_order_acq_rel,
                                             std::memory_order_acquire);
  }
  /// channels/let_go. Nobody waits any more.
  void let_go_empty() noexcept {
    // Plain stores: an end on which a flag stands is moved on under the lock only. Release: whoever
    // moves it next has seen what happened before.
    const position tail = tail_at().load(std::memory_order_relaxed);
    tail_at().store(tail & ~receivers_wait, std::memory_order_release);
  }
  void let_go_full() noexcept {
    const position head = head_at().load(std::memory_order_relaxed);
    head_at().store(head & ~senders_wait, std::memory_order_release);
  }

 protected:
  /// One end, on a cache line of its own.
  struct alignas(16) end {
    explicit end(position first) noexcept : at(first) {}
    atomic<position> at;
    atomic<std::uint64_t> last_task{0};
    char rest[64 - 2 * sizeof(std::uint64_t)];
  };
  struct block {
    // Without a place for a value both ends are always the lock's.
    explicit block(bool any) noexcept
        : tail(any ? 0 : receivers_wait), head(any ? 0 : senders_wait) {}
    end tail, head;
  };

  explicit basic_ring_ends(std::size_t capacity) noexcept
      : capacity_(capacity), mask_(one * std::bit_ceil(std::uint64_t{capacity}) - 1) {}

  position lap() const noexcept { return mask_ + 1; }
  static position place(position at) noexcept { return at & ~flags; }
  std::size_t index(position at) const noexcept {
    return static_cast<std::size_t>((at & mask_) / one);
  }
  /// Of a place, without flags, whose index is `of`.
  position next(position at, std::size_t of) const noexcept {
    return of + 1 < capacity_ ? at + one : (at | mask_) + 1;
  }
  position next(position at) const noexcept { return next(at, index(at)); }
  /// How many places `tail` is ahead, at most all.
  std::size_t distance(position head, position tail) const noexcept {
    const position ahead = place(tail) - place(head);
    if (ahead >= lap()) return capacity_;
    // Across the end of the ring a lap may have more places than there are.
    return index(tail) >= index(head) ? index(tail) - index(head)
                                      : index(tail) + capacity_ - index(head);
  }
  atomic<position>& tail_at() const noexcept { return block_->tail.at; }
  atomic<position>& head_at() const noexcept { return block_->head.at; }

  block* block_ = nullptr;  // the slots stand behind it
  const std::size_t capacity_;
  const position mask_;  // of a place in its lap

 private:
  static void note(atomic<std::uint64_t>& last, std::uint64_t task) noexcept {
    // Relaxed: for looks, which want to know about now.
    if (last.load(std::memory_order_relaxed) != task) last.store(task, std::memory_order_relaxed);
  }
  static std::uint64_t noted(const atomic<std::uint64_t>& last) noexcept {
    return last.load(std::memory_order_relaxed);
  }
};

/// @tparam Atomics  std_atomics; another set in the test that explores schedules
/// @tparam Ends     what else belongs to it
template <class Atomics, class T, class Ends = basic_ring_ends<Atomics>>
class basic_channel_ring : public Ends {
  using ends = basic_ring_ends<Atomics>;
  template <class V>
  using atomic = typename Atomics::template atomic<V>;

 public:
  using position = typename ends::position;

  struct slot {
    explicit slot(position first) noexcept : turn(first) {}
    ~slot() noexcept {}  // NOLINT: the value is gone before
    atomic<position> turn;
    union {
      T value;
    };
  };
  /// What was claimed. Of a receive `at` is what the slot is free for afterwards.
  struct ticket {
    position at;
    slot* where;
  };

  explicit basic_channel_ring(std::size_t capacity) : Ends(checked(capacity)) {
    void* const memory = ::operator new(bytes(capacity), alignment);
    this->block_ = ::new (memory) typename ends::block(capacity != 0);
    for (std::size_t i = 0; i < capacity; ++i) std::construct_at(slots() + i, i * ends::one);
  }
  ~basic_channel_ring() {
    position at = ends::place(this->head_at().load(std::memory_order_acquire));
    const position tail = ends::place(this->tail_at().load(std::memory_order_acquire));
    for (; this->capacity_ != 0 && at != tail; at = this->next(at))
      std::destroy_at(std::addressof(slot_of(at).value));
    for (std::size_t i = 0; i < this->capacity_; ++i) std::destroy_at(slots() + i);
    std::destroy_at(this->block_);
    ::operator delete(this->block_, alignment);
  }

  /// channels/claim. The place is then the caller's to fill().
  TANDEM_ALWAYS_INLINE ring_look claim_send(ticket& got) noexcept {
    // Acquire, here and below: whoever sees a position sees what led to it.
    typename ends::block& both = *this->block_;
    position seen = both.tail.at.load(std::memory_order_acquire);
    while (true) {
      if ((seen & ends::flags) != 0) [[unlikely]]
        return ring_look::flagged;
      const std::size_t index = this->index(seen);
      const position after = this->next(seen, index);
      slot* const to = slots_of(both) + index;
      if (to->turn.load(std::memory_order_acquire) == seen) [[likely]] {  // channels/drain
        if (both.tail.at.compare_exchange_weak(seen, after, std::memory_order_acq_rel,
                                               std::memory_order_acquire)) [[likely]] {
          got.at = seen;
          got.where = to;
          return ring_look::claimed;
        }
        continue;
      }
      // The head, read after this tail: as far behind as the ring is long, and so it was then.
      const position head = this->head_at().load(std::memory_order_acquire);
      if (static_cast<std::int64_t>(seen - ends::place(head)) >=
          static_cast<std::int64_t>(this->lap()))
        return ring_look::none;
      const position now = this->tail_at().load(std::memory_order_acquire);
      if (now == seen) return ring_look::busy;
      seen = now;
    }
  }
  /// channels/fill. The last access to the ring.
  TANDEM_ALWAYS_INLINE static void fill(const ticket& got, T& value) noexcept {
    std::construct_at(std::addressof(got.where->value), std::move(value));
    got.where->turn.store(got.at + 1, std::memory_order_release);
  }

  /// channels/claim. The value is then the caller's to drain().
  TANDEM_ALWAYS_INLINE ring_look claim_receive(ticket& got) noexcept {
    typename ends::block& both = *this->block_;
    position seen = both.head.at.load(std::memory_order_acquire);
    while (true) {
      if ((seen & ends::flags) != 0) [[unlikely]]
        return ring_look::flagged;
      const std::size_t index = this->index(seen);
      const position after = this->next(seen, index);
      slot* const from = slots_of(both) + index;
      if (from->turn.load(std::memory_order_acquire) == seen + 1) [[likely]] {  // channels/fill
        if (both.head.at.compare_exchange_weak(seen, after, std::memory_order_acq_rel,
                                               std::memory_order_acquire)) [[likely]] {
          got.at = seen + this->lap();
          got.where = from;
          return ring_look::claimed;
        }
        continue;
      }
      const position tail = this->tail_at().load(std::memory_order_acquire);
      if (ends::place(tail) == seen)
        return (tail & ends::closed) != 0 ? ring_look::ended : ring_look::none;
      const position now = this->head_at().load(std::memory_order_acquire);
      if (now == seen) return ring_look::busy;
      seen = now;
    }
  }
  /// channels/drain. The last access to the slot.
  TANDEM_ALWAYS_INLINE static void drain(const ticket& got, std::optional<T>& into) noexcept {
    into.emplace(std::move(got.where->value));
    std::destroy_at(std::addressof(got.where->value));
    got.where->turn.store(got.at, std::memory_order_release);
  }

  /// channels/rotate. Under the lock, held full: whether the oldest value is there. It stays so.
  bool oldest_has_come() const noexcept {
    const position at = ends::place(this->head_at().load(std::memory_order_relaxed));  // the lock's
    return slot_of(at).turn.load(std::memory_order_acquire) == at + 1;  // channels/fill
  }
  /// channels/rotate. Under the lock, held full: takes the oldest value, and puts `value` behind all
  /// others. The head stays held. @returns false, and has done nothing, if the oldest is busy
  bool rotate(std::optional<T>& into, T& value) noexcept {
    const position head = this->head_at().load(std::memory_order_relaxed);  // the lock's
    const position at = ends::place(head);
    slot& both = slot_of(at);
    if (both.turn.load(std::memory_order_acquire) != at + 1) return false;  // channels/fill
    into.emplace(std::move(both.value));
    std::destroy_at(std::addressof(both.value));
    std::construct_at(std::addressof(both.value), std::move(value));
    // The tail first: with it nobody takes the ring for one with room. Both are the lock's: nobody
    // else moves a tail that finds no free slot.
    const position tail = this->tail_at().load(std::memory_order_relaxed);
    this->tail_at().store(this->next(ends::place(tail)) | (tail & ends::flags),
                          std::memory_order_release);
    both.turn.store(at + this->lap() + 1, std::memory_order_release);
    this->head_at().store(this->next(at) | ends::senders_wait, std::memory_order_release);
    return true;
  }

 private:
  static constexpr std::align_val_t alignment{64};

  static std::size_t checked(std::size_t capacity) {
    if (capacity > (SIZE_MAX / 4 - sizeof(typename ends::block)) / sizeof(slot))
      throw std::bad_array_new_length();
    return capacity;
  }
  static std::size_t bytes(std::size_t capacity) noexcept {
    return sizeof(typename ends::block) + capacity * sizeof(slot);
  }
  static slot* slots_of(typename ends::block& of) noexcept {
    return std::launder(reinterpret_cast<slot*>(&of + 1));  // NOLINT
  }
  slot* slots() const noexcept { return slots_of(*this->block_); }
  slot& slot_of(position at) const noexcept { return slots()[this->index(at)]; }
};

}  // namespace tandem::inline v0::detail
