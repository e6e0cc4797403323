// trace_ring.hpp: the newest events of one thread, and all such rings of the process.
// SPDX-License-Identifier: MIT
//
// One thread writes, others copy meanwhile and nobody waits. Rings are never freed, only used again
// by another thread: so a thread that comes late to the end of a runtime writes into memory that is
// there. Protocol recording: README.md beside this.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "recorder/trace_event.hpp"

namespace tandem::inline v0::detail {

class trace_ring {
 public:
  /// @param capacity  a power of two. @throws std::bad_alloc
  explicit trace_ring(std::size_t capacity);
  trace_ring(const trace_ring&) = delete;
  trace_ring& operator=(const trace_ring&) = delete;

  std::size_t capacity() const noexcept { return capacity_; }

  // recording/write. Its thread alone.
  void add(std::uint64_t first, std::uint64_t second) noexcept {
    trace_event* const there = next_.load(std::memory_order_relaxed);  // only we write it
    put(*there, first, second);
    next_.store(behind(there), std::memory_order_release);
  }
  /// An event and what follows it: seen together, or not at all.
  void add(const trace_event* events, std::size_t count) noexcept {
    trace_event* there = next_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < count; ++i) {
      put(*there, events[i].first, events[i].second);
      there = behind(there);
    }
    next_.store(there, std::memory_order_release);
  }

  /// recording/copy. Any thread. What is there, oldest first. @throws std::bad_alloc
  std::vector<trace_event> copy() const;

 private:
  friend class trace_rings;
  struct give_back_room {
    std::size_t alignment;
    void operator()(trace_event* room) const noexcept;
  };

  /// The room lies at a multiple of twice its size, so behind its last event one bit is set that is
  /// set in no address inside.
  trace_event* behind(trace_event* there) const noexcept {
    return reinterpret_cast<trace_event*>(reinterpret_cast<std::uintptr_t>(there + 1) &  // NOLINT
                                          inside_);
  }
  static void put(trace_event& there, std::uint64_t first, std::uint64_t second) noexcept {
    // Release: whoever has read a later word of the ring sees all earlier ones.
    std::atomic_ref(there.first).store(first, std::memory_order_release);
    std::atomic_ref(there.second).store(second, std::memory_order_release);
  }
  static trace_event read(trace_event& there) noexcept {
    const std::uint64_t first = std::atomic_ref(there.first).load(std::memory_order_acquire);
    return {first, std::atomic_ref(there.second).load(std::memory_order_acquire)};
  }
  /// Only zeroes are in it. pre: its user is gone
  void clear() noexcept;

  std::atomic<trace_event*> next_;  // where the next event goes; so there is the oldest one
  std::uintptr_t inside_;
  const std::size_t capacity_;
  std::unique_ptr<trace_event[], give_back_room> room_;

 public:
  /// recording/clock. By what its thread tells the time: of the last, only the runtime knows it.
  enum class time_source : std::uint8_t { ticks, steady, runtime };

  // recording/take. Its thread's own.
  const recorded_thread* role = nullptr;
  bool fires_timers = false;
  bool has_role = false;  // whether the newest role event says both
  // recording/copy. The value of that event, before it is written: it may be overwritten later.
  std::atomic<std::uint64_t> role_value{0};
  time_source by = time_source::ticks;
  std::uint64_t last = 0;  // what was the time, when a runtime was asked

  std::uint64_t serial() const noexcept { return serial_.load(std::memory_order_relaxed); }

 private:
  // recording/take. Written under the lock of all; the serial is read without it, too.
  bool is_free_ = false;
  std::uint64_t number_ = 0;              // of the thread: the how many-th that took a ring
  std::atomic<std::uint64_t> serial_{0};  // of the recorder that it writes for
  std::atomic<std::uint64_t> uses_{0};    // how often it was taken
};

/// What was in a ring.
struct ring_copy {
  std::uint64_t thread = 0;  ///< its number
  std::uint64_t role = 0;    ///< the value of its newest role event of before
  std::vector<trace_event> events;
};

/// All rings of the process.
class trace_rings {
 public:
  static constexpr std::size_t most = 1024;  // at once

  /// recording/take. A ring for the calling thread, which has none, or gives `old` back.
  ///
  /// @returns  null if there is no memory, or `most` are in use
  static trace_ring* take(std::uint64_t serial, std::size_t capacity, trace_ring* old) noexcept;
  /// recording/give_back. The thread ends. What is in the ring stays until another one takes it.
  static void give_back(trace_ring& ring) noexcept;
  /// recording/copy. Those that write, or wrote last, for that recorder. @throws std::bad_alloc
  static std::vector<ring_copy> copy(std::uint64_t serial);

  // For fork(): the child finds the lock free.
  static void lock() noexcept;
  static void unlock() noexcept;
};

// Implementation

inline trace_ring::trace_ring(std::size_t capacity)
    : capacity_(capacity), room_(nullptr, give_back_room{2 * capacity * sizeof(trace_event)}) {
  const std::size_t bytes = capacity * sizeof(trace_event);
  room_.reset(static_cast<trace_event*>(::operator new(bytes, std::align_val_t(2 * bytes))));
  inside_ = ~static_cast<std::uintptr_t>(bytes);
  next_.store(room_.get(), std::memory_order_relaxed);
  clear();
}

inline void trace_ring::give_back_room::operator()(trace_event* room) const noexcept {
  ::operator delete(room, std::align_val_t(alignment));
}

inline void trace_ring::clear() noexcept {
  for (std::size_t i = 0; i < capacity_; ++i) put(room_[i], 0, 0);
}

inline std::vector<trace_event> trace_ring::copy() const {
  constexpr int attempts = 5;
  std::vector<trace_event> out(capacity_);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    // recording/copy. Acquire: pairs with add().
    trace_event* const oldest = next_.load(std::memory_order_acquire);
    // The newest one of before is the last that is overwritten: if it is there still in the end, so
    // is all that lies between where the writer is then and it.
    trace_event& last_place = oldest == room_.get() ? room_[capacity_ - 1] : *(oldest - 1);
    const trace_event newest = read(last_place);
    trace_event* there = oldest;
    for (trace_event& each : out) {
      each = read(*there);
      there = behind(there);
    }
    trace_event* const now = next_.load(std::memory_order_acquire);
    const trace_event again = read(last_place);
    if (again.first != newest.first || again.second != newest.second) continue;
    const std::size_t written =
        static_cast<std::size_t>(now - oldest + static_cast<std::ptrdiff_t>(capacity_)) % capacity_;
    // And what is being written just now.
    const std::size_t gone = std::min(written + trace_event_group, capacity_);
    out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(gone));
    std::erase_if(out, [](const trace_event& each) { return each.second == 0; });
    return out;
  }
  return {};  // it is written faster than it can be read
}

}  // namespace tandem::inline v0::detail
