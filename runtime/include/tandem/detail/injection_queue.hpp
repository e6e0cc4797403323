// injection_queue.hpp: where work from outside a pool waits, oldest first.
// SPDX-License-Identifier: MIT
//
// A list under a small lock, with its size beside it so that workers look without the lock. The size
// is written under the lock with seq_cst: it is what a sleeper's scan reads (P3).
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

#include <tandem/detail/futex_mutex.hpp>
#include <tandem/job.hpp>

namespace tandem::inline v0::detail {

class injection_queue {
 public:
  void push(job* item) noexcept {
    job_list one;
    one.push_back(item);
    push(one);
  }
  void push(job_list& items) noexcept {
    std::lock_guard lock(lock_);
    items_.append(items);
    size_.store(items_.size(), std::memory_order_seq_cst);
  }

  job* pop() noexcept {
    if (empty()) return nullptr;
    std::lock_guard lock(lock_);
    job* const item = items_.pop_front();
    size_.store(items_.size(), std::memory_order_seq_cst);
    __builtin_prefetch(items_.front(), 1);  // what it was posted with lies in another CPU's cache
    return item;
  }

  std::size_t size() const noexcept { return size_.load(std::memory_order_seq_cst); }
  bool empty() const noexcept { return size() == 0; }

 private:
  alignas(64) futex_mutex lock_;
  job_list items_;  // guarded by lock_
  alignas(64) std::atomic<std::size_t> size_{0};
};

}  // namespace tandem::inline v0::detail
