// posted_jobs.hpp: where any thread leaves jobs for somebody who takes all of them at once.
// SPDX-License-Identifier: MIT
//
// One word: a chain of jobs by `next`, the newest first, or null. Whoever leaves a job puts it in
// front by one CAS; whoever takes turns the chain round. Nobody ever waits for a lock. Who tells
// the taker, and why no wake-up is lost, is the protocol of whoever has the inbox: all operations
// but looks_empty() are seq_cst for it.
#pragma once

#include <atomic>
#include <cstddef>

#include <tandem/job.hpp>

namespace tandem::inline v0::detail {

/// Jobs in the order in which they came, by `next`.
class job_chain {
 public:
  job* oldest = nullptr;
  job* newest = nullptr;
  std::size_t count = 0;
};

class posted_jobs {
 public:
  /// Any thread. The chain `newest` ... `oldest` (by `next`) goes before what is there.
  /// @returns  whether nothing was
  bool push(job* newest, job* oldest) noexcept {
    job* seen = newest_.load(std::memory_order_relaxed);  // the CAS looks again
    do {
      oldest->next = seen;
    } while (!newest_.compare_exchange_weak(seen, newest, std::memory_order_seq_cst,
                                            std::memory_order_relaxed));
    return seen == nullptr;
  }
  /// Any thread. As push(), unless nothing is there: then nothing has happened.
  /// @returns  whether something was
  bool push_behind(job* newest, job* oldest) noexcept {
    job* seen = newest_.load(std::memory_order_relaxed);  // the CAS looks again
    while (seen != nullptr) {
      oldest->next = seen;
      if (newest_.compare_exchange_weak(seen, newest, std::memory_order_seq_cst,
                                        std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  /// Any thread.
  bool empty() const noexcept { return newest_.load(std::memory_order_seq_cst) == nullptr; }
  /// Any thread: a hint, in no order with anything.
  bool looks_empty() const noexcept { return newest_.load(std::memory_order_relaxed) == nullptr; }
  /// All that is there. One thread at a time.
  job_chain take_all() noexcept {
    job_chain out;
    out.newest = newest_.exchange(nullptr, std::memory_order_seq_cst);
    for (job* each = out.newest; each != nullptr; ++out.count) {
      job* const older = each->next;
      each->next = out.oldest;
      out.oldest = each;
      each = older;
    }
    return out;
  }

 private:
  std::atomic<job*> newest_{nullptr};
};

}  // namespace tandem::inline v0::detail
