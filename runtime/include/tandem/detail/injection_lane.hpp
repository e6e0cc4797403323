// injection_lane.hpp: where what was posted from outside waits for the threads of a pool, oldest first.
// SPDX-License-Identifier: MIT
//
// Two parts. The inbox is one word (posted_jobs.hpp). Behind it a list under a small lock, oldest first, from which workers take;
// when it is empty, whoever takes gathers the inbox into it whole. So a post never waits for a
// lock, and a job is turned round once.
//
// Steps parking/post, inbox/gather, inbox/take: runtime/src/worker/README.md. A job is counted, in
// the inbox or in a lane at any moment, and whoever finds it in none of them, looking in the order
// inbox, count, lanes, knows that a worker has taken it. Completion threads are such workers, too,
// for what may run on any of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <tandem/detail/fifo_lane.hpp>
#include <tandem/detail/futex_mutex.hpp>
#include <tandem/detail/posted_jobs.hpp>
#include <tandem/job.hpp>

namespace tandem::inline v0::detail {

class injection_lane {
 public:
  /// Any thread: puts the chain (by `next`, newest first) behind what the inbox holds. @returns
  /// false if it holds nothing: then nothing has happened, and the caller pushes and tells the
  /// workers
  bool push_behind(job* newest, job* oldest) noexcept {
    return inbox_.push_behind(newest, oldest);  // parking/post
  }
  /// Any thread. It then tells the workers.
  void push(job* newest, job* oldest) noexcept {
    (void)inbox_.push(newest, oldest);  // parking/post
  }
  /// As above, a chain with the oldest first. pre: not empty
  void push(job_list& items) noexcept {
    job* const oldest = items.pop_front();
    job* newest = oldest;
    while (job* const item = items.pop_front()) {
      item->next = newest;
      newest = item;
    }
    push(newest, oldest);
  }
  /// A worker of the pool hands over what it cannot keep: behind everything, not counted as posted.
  void hand_over(job_list& items) noexcept {
    const std::lock_guard guard(lock_);
    gather();
    while (job* const item = items.pop_front()) append(item, item, 1);
    count_.store(waiting_, std::memory_order_seq_cst);  // parking/post
  }

  /// A worker. The oldest, or null.
  job* pop() noexcept {
    std::size_t left = 0;
    return pop_into(nullptr, 1, 1, left);
  }
  /// A worker. The oldest, or null; of those behind it up to `most` - 1 go into `lane`, its own and
  /// empty, but no more than its share if `sharers` take. @param left how many are left, and in the
  /// lane
  job* pop_into(fifo_lane* lane, std::size_t most, std::size_t sharers,
                std::size_t& left) noexcept {
    left = 0;
    if (empty()) return nullptr;
    const std::lock_guard guard(lock_);
    if (waiting_ == 0) gather();
    if (waiting_ == 0) return nullptr;
    job* const item = take_oldest();
    left = waiting_;
    if (most > 1 && left > 0) {
      const std::size_t wanted = (std::min)(most - 1, left / sharers);
      lane->push_some(wanted, [this] {  // inbox/take
        job* const next = take_oldest();
        fetch_ahead(*next);
        return next;
      });
    }
    count_.store(waiting_, std::memory_order_seq_cst);  // inbox/take
    TANDEM_PREFETCH_TO_WRITE(oldest_);  // what it was posted with lies in another CPU's cache
    return item;
  }

  /// Any thread: exact in the order of seq_cst operations.
  bool empty() const noexcept {
    return inbox_.empty() &&  // first: inbox/gather
           count_.load(std::memory_order_seq_cst) == 0;
  }
  /// Any thread, for statistics.
  std::size_t size() noexcept {
    const std::lock_guard guard(lock_);
    gather();
    count_.store(waiting_, std::memory_order_seq_cst);
    return waiting_;
  }
  /// queued/list. Calls `look(job)` with the oldest ones; none of them is taken meanwhile.
  template <class Look>
  void look(std::size_t most, Look look) noexcept {
    const std::lock_guard guard(lock_);
    gather();
    count_.store(waiting_, std::memory_order_seq_cst);
    const job* each = oldest_;
    for (std::size_t i = (std::min)(most, waiting_); i != 0; --i, each = each->next) look(*each);
  }
  /// How many were ever pushed. For statistics.
  std::uint64_t pushed() noexcept {
    const std::lock_guard guard(lock_);
    gather();
    count_.store(waiting_, std::memory_order_seq_cst);
    return pushed_;
  }

 private:
  // Under the lock.

  /// inbox/gather. What the inbox holds goes behind the rest; the caller then stores the count.
  void gather() noexcept {
    if (inbox_.looks_empty()) return;  // only we empty it
    // Relaxed: published by the exchange, for whoever sees that the inbox is empty.
    if (waiting_ == 0) count_.store(1, std::memory_order_relaxed);
    const job_chain came = inbox_.take_all();
    append(came.oldest, came.newest, came.count);
    pushed_ += came.count;
  }
  void append(job* first, job* last, std::size_t count) noexcept {
    (oldest_ == nullptr ? oldest_ : newest_->next) = first;
    newest_ = last;
    waiting_ += count;
  }
  /// What it will touch: the rest of a frame, and the environment, unseen since as many items ago.
  static void fetch_ahead(const job& item) noexcept {
    const auto* const frame = reinterpret_cast<const char*>(&item);
    TANDEM_PREFETCH_TO_WRITE(frame + 64);
    TANDEM_PREFETCH_TO_WRITE(frame + 128);
    const auto env = reinterpret_cast<std::uintptr_t>(item.env);        // NOLINT: there may be none
    TANDEM_PREFETCH_TO_WRITE(reinterpret_cast<const void*>(env));       // NOLINT
    TANDEM_PREFETCH_TO_WRITE(reinterpret_cast<const void*>(env + 64));  // NOLINT
  }
  job* take_oldest() noexcept {
    job* const item = oldest_;
    oldest_ = item->next;
    item->next = nullptr;
    --waiting_;
    return item;
  }

  alignas(64) posted_jobs inbox_;
  alignas(64) futex_mutex lock_;
  // Guarded by lock_.
  job* oldest_ = nullptr;
  job* newest_ = nullptr;  // unspecified if there is none
  std::size_t waiting_ = 0;
  std::uint64_t pushed_ = 0;
  alignas(64) std::atomic<std::size_t> count_{
      0};  // waiting_, written under lock_; or 1: being gathered
};

}  // namespace tandem::inline v0::detail
