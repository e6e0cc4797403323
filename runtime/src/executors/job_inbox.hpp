// job_inbox.hpp: jobs from any thread for one taker, in one word that also says whether the taker sleeps.
// SPDX-License-Identifier: MIT
//
// The word is one of
//   asleep_mark   nothing is there, and the taker does not look: whoever puts something in has to
//                 call it
//   null          nothing is there; the taker looks once more before it goes to sleep
//   a job         the newest, linked by `next` to the older ones; the taker comes for them
// Only the taker writes null or the mark, the latter only over null. So of a poster and a taker
// that is about to sleep one sees the other, by one word and without any order of several
// (strand/post, strand/take; own_thread/post, own_thread/sleep of runtime/src/executors/README.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include <tandem/job.hpp>

namespace tandem::inline v0::detail {

class job_inbox {
 public:
  /// Any thread. `newest` is linked by `next` to `oldest`, the other end of the chain.
  ///
  /// @returns  whether the taker slept, and it is the caller who has to call it
  [[nodiscard]] bool push(job* newest, job* oldest) noexcept {
    job* seen = head_.load(std::memory_order_relaxed);  // the CAS looks again
    do {
      oldest->next = seen == asleep_mark() ? nullptr : seen;
      // acq_rel: release for take(); acquire of the mark, so that the next taker follows the last
      // one.
    } while (!head_.compare_exchange_weak(seen, newest, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
    return seen == asleep_mark();
  }
  [[nodiscard]] bool push(job* item) noexcept { return push(item, item); }
  /// A chain, oldest first. pre: not empty
  [[nodiscard]] bool push(job_list& items) noexcept {
    job* const oldest = items.pop_front();
    job* newest = oldest;
    while (job* const item = items.pop_front()) {
      item->next = newest;
      newest = item;
    }
    return push(newest, oldest);
  }

  /// The taker, awake (it begins asleep). @returns everything, the oldest first, linked by `next`;
  /// null: nothing
  [[nodiscard]] job* take() noexcept {
    job* newest = head_.exchange(nullptr, std::memory_order_acquire);  // pairs with push()
    job* oldest = nullptr;
    while (newest != nullptr) {
      job* const older = std::exchange(newest->next, oldest);
      oldest = std::exchange(newest, older);
    }
    return oldest;
  }
  /// Anybody: becomes the taker, if it sleeps. @returns whether
  [[nodiscard]] bool try_wake() noexcept {
    job* asleep = asleep_mark();
    // acquire: pairs with sleep(): this taker follows the last one.
    return head_.compare_exchange_strong(asleep, nullptr, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  /// The taker. @returns false if something has come; true: it does not look any more
  [[nodiscard]] bool sleep() noexcept {
    job* nothing = nullptr;
    return head_.compare_exchange_strong(nothing, asleep_mark(), std::memory_order_acq_rel,
                                         std::memory_order_relaxed);
  }
  /// A hint.
  bool empty() const noexcept {
    const job* const seen = head_.load(std::memory_order_relaxed);
    return seen == nullptr || seen == asleep_mark();
  }

 private:
  static job* asleep_mark() noexcept {
    return reinterpret_cast<job*>(std::uintptr_t{1});  // NOLINT: no job has an odd address
  }

  std::atomic<job*> head_{asleep_mark()};
};

}  // namespace tandem::inline v0::detail
