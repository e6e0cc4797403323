// futex.cpp: waiting for a word, by a table of mutexes and a condition variable for each sleeper.
// SPDX-License-Identifier: MIT
//
// Protocol lot: README.md of the room platform.
#include "platform/futex.hpp"

#include <array>
#include <cstddef>
#include <mutex>

#include "platform/posix/condition.hpp"
#include "platform/posix/futex_fork.hpp"

namespace tandem::inline v0::platform {

namespace {

/// A thread that waits; on its stack.
struct sleeper {
  explicit sleeper(const void* of) noexcept : word(of) {}

  const void* const word;
  // Under the bucket's lock.
  bool is_woken = false;
  sleeper* previous = nullptr;
  sleeper* next = nullptr;
  condition wake_up;
};

/// Sleepers whose words have the same hash, in the order in which they came.
struct alignas(64) bucket {
  void push_back(sleeper& one) noexcept {
    one.previous = last;
    (last != nullptr ? last->next : first) = &one;
    last = &one;
  }
  void remove(sleeper& one) noexcept {
    (one.previous != nullptr ? one.previous->next : first) = one.next;
    (one.next != nullptr ? one.next->previous : last) = one.previous;
  }
  /// lot/wake. @returns  whom it stood before, for a look at the rest
  sleeper* wake(sleeper& one) noexcept {
    sleeper* const next = one.next;
    remove(one);
    one.is_woken = true;
    one.wake_up.wake();  // before the lock is left: with it the sleeper goes
    return next;
  }

  plain_mutex lock;
  // Under the lock.
  sleeper* first = nullptr;
  sleeper* last = nullptr;
};

// Few, since a fork takes all of them, and ThreadSanitizer follows no more than 64 at a time.
constexpr unsigned bucket_bits = 5;
// Never destroyed: threads may wait while static objects end.
constinit std::array<bucket, std::size_t{1} << bucket_bits> buckets{};

bucket& bucket_of(const void* word) noexcept {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // Knuth, TAOCP 3, 6.4
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(word));
  return buckets[static_cast<std::size_t>((address * golden) >> (64 - bucket_bits))];
}

}  // namespace

bool wait_on(std::atomic<std::uint32_t>& word, std::uint32_t expected,
             std::int64_t deadline_ns) noexcept {
  bucket& home = bucket_of(&word);
  const std::lock_guard lock(home.lock);
  // lot/look. Relaxed: whoever has changed it and wakes comes by the lock, before us or after us.
  if (word.load(std::memory_order_relaxed) != expected) return true;
  sleeper self(&word);
  home.push_back(self);  // lot/sleep
  while (!self.is_woken) {
    if (self.wake_up.wait(home.lock, deadline_ns) || self.is_woken) continue;
    home.remove(self);  // lot/give_up
    return false;
  }
  return true;
}

bool waits_are_short() noexcept { return true; }

void wait_outside(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  wait_on(word, expected);  // handlers run while it waits for the condition
}

void wake_one(std::atomic<std::uint32_t>& word) noexcept {
  bucket& home = bucket_of(&word);
  const std::lock_guard lock(home.lock);
  for (sleeper* each = home.first; each != nullptr; each = each->next) {
    if (each->word != &word) continue;
    home.wake(*each);
    return;
  }
}

void wake_all(std::atomic<std::uint32_t>& word) noexcept {
  bucket& home = bucket_of(&word);
  const std::lock_guard lock(home.lock);
  for (sleeper* each = home.first; each != nullptr;) {
    each = each->word == &word ? home.wake(*each) : each->next;
  }
}

void lock_futexes() noexcept {
  for (bucket& each : buckets) each.lock.lock();
}

void unlock_futexes() noexcept {
  for (bucket& each : buckets) each.lock.unlock();
}

void forget_sleepers() noexcept {
  for (bucket& each : buckets) each.first = each.last = nullptr;
  unlock_futexes();
}

}  // namespace tandem::inline v0::platform
