// thread_set.cpp: which threads had a part in something.
// SPDX-License-Identifier: MIT
#include "thread_set.hpp"

#include <algorithm>

#include "system.hpp"

namespace puzzles {

namespace {

std::atomic<std::uint64_t> last_serial{0};

// Serials are never used twice, so a set at the address of an earlier one is not mistaken for it.
thread_local std::uint64_t noted_last = 0;

int this_thread_id() noexcept {
  static thread_local const int id = system_thread_id();
  return id;
}

}  // namespace

thread_set::thread_set() noexcept : serial_(last_serial.fetch_add(1) + 1) {}

void thread_set::note() noexcept {
  if (noted_last == serial_) return;
  noted_last = serial_;
  const int id = this_thread_id();
  for (std::atomic<int>& slot : ids_) {
    // Relaxed: ids() is called after a join, and a slot guards no other memory.
    int there = slot.load(std::memory_order_relaxed);
    if (there == 0 && slot.compare_exchange_strong(there, id, std::memory_order_relaxed)) return;
    if (there == id) return;
  }
}

std::vector<int> thread_set::ids() const {
  std::vector<int> ids;
  for (const std::atomic<int>& slot : ids_) {
    if (const int id = slot.load(std::memory_order_relaxed); id != 0) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace puzzles
