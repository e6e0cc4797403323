// trace_ring.cpp: who has which ring.
// SPDX-License-Identifier: MIT
#include "recorder/trace_ring.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

namespace tandem::inline v0::detail {

namespace {

struct all_rings {
  std::mutex lock;
  std::vector<std::unique_ptr<trace_ring>> made;  // under the lock
  std::uint64_t threads = 0;                      // that ever took one; under the lock
};

// Never destroyed: threads may end after the static objects of this file.
all_rings& rings() noexcept {
  static all_rings* const only = new all_rings;
  return *only;
}

}  // namespace

trace_ring* trace_rings::take(std::uint64_t serial, std::size_t capacity,
                              trace_ring* old) noexcept {
  try {
    all_rings& all = rings();
    const std::lock_guard lock(all.lock);
    trace_ring* ring = old;
    if (old != nullptr && old->capacity() != capacity) {
      old->is_free_ = true;
      ring = nullptr;
    }
    if (ring == nullptr) {
      const auto fits = [capacity](const std::unique_ptr<trace_ring>& each) {
        return each->is_free_ && each->capacity() == capacity;
      };
      const auto found = std::find_if(all.made.begin(), all.made.end(), fits);
      if (found != all.made.end()) {
        ring = found->get();
        // The one that has been free for longest is at the front: its events go last.
        std::rotate(found, found + 1, all.made.end());
      } else if (all.made.size() < most) {
        all.made.push_back(std::make_unique<trace_ring>(capacity));
        ring = all.made.back().get();
      }
    }
    if (ring == nullptr) return nullptr;
    ring->is_free_ = false;
    ring->number_ = ++all.threads;
    ring->has_role = false;
    ring->role_value.store(0, std::memory_order_relaxed);
    // recording/copy: what is in it is the other one's. The serial changes twice, so that whoever
    // copies it meanwhile sees that.
    ring->serial_.store(0, std::memory_order_release);
    ring->clear();
    ring->uses_.fetch_add(1, std::memory_order_relaxed);
    ring->serial_.store(serial, std::memory_order_release);
    return ring;
  } catch (const std::exception&) {
    return nullptr;  // no memory: the thread is not recorded
  }
}

void trace_rings::give_back(trace_ring& ring) noexcept {
  all_rings& all = rings();
  const std::lock_guard lock(all.lock);
  ring.is_free_ = true;
}

std::vector<ring_copy> trace_rings::copy(std::uint64_t serial) {
  struct place {
    const trace_ring* ring;
    ring_copy made;
  };
  std::vector<place> those;
  {
    all_rings& all = rings();
    const std::lock_guard lock(all.lock);
    for (const std::unique_ptr<trace_ring>& each : all.made) {
      if (each->serial_.load(std::memory_order_relaxed) == serial) {
        those.push_back({each.get(), {each->number_, 0, {}}});
      }
    }
  }
  // Without the lock: a thread that takes its first ring must not wait for us.
  std::vector<ring_copy> out;
  out.reserve(those.size());
  for (place& each : those) {
    ring_copy& made = each.made;
    const std::uint64_t uses = each.ring->uses_.load(std::memory_order_acquire);
    // Before the rest: if it changes meanwhile, the rest has the event that says so.
    made.role = each.ring->role_value.load(std::memory_order_acquire);
    made.events = each.ring->copy();
    // Another thread may have taken it meanwhile: then this is not what it was.
    if (each.ring->uses_.load(std::memory_order_acquire) != uses ||
        each.ring->serial_.load(std::memory_order_acquire) != serial) {
      continue;
    }
    out.push_back(std::move(made));
  }
  std::sort(out.begin(), out.end(),
            [](const ring_copy& a, const ring_copy& b) { return a.thread < b.thread; });
  return out;
}

void trace_rings::lock() noexcept { rings().lock.lock(); }
void trace_rings::unlock() noexcept { rings().lock.unlock(); }

}  // namespace tandem::inline v0::detail
