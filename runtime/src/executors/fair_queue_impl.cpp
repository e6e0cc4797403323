// fair_queue_impl.cpp: the life of a queue. Protocol queues: runtime/src/executors/README.md.
// SPDX-License-Identifier: MIT
#include "executors/fair_queue_impl.hpp"

#include <utility>

#include "executors/fair_scheduler_impl.hpp"

namespace tandem::inline v0 {

fair_queue::impl::impl(fair_scheduler::impl& scheduler, unsigned weight, std::string name)
    : detail::ordered_queue(scheduler, std::move(name)), fair_(scheduler), weight_(weight) {
  fair_.queue_made();
  fair_.retain();
}
fair_queue::impl::~impl() {
  fair_.queue_ended();
  fair_.release();
}

bool fair_queue::impl::begin_task() noexcept {
  if (!fair_.admits()) return false;
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  do {
    if ((seen & closed_bit) != 0) return false;
  } while (!word_.compare_exchange_weak(seen, seen + one_use, std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
  return true;
}

void fair_queue::impl::begin_item() noexcept {
  word_.fetch_add(one_use, std::memory_order_relaxed);  // its task keeps the queue meanwhile
}

void fair_queue::impl::end_task() noexcept {
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  while (true) {
    if ((seen & ~handle_bit) == (one_use | closed_bit)) {
      // queues/close. Ours is the last use: the queue goes. Our hold is kept until the scheduler
      // knows.
      if (!word_.compare_exchange_weak(seen, seen | gone_bit, std::memory_order_acq_rel)) continue;
      fair_.queue_left();
      seen |= gone_bit;
    }
    // acq_rel: the end comes after whatever the others did.
    if (word_.compare_exchange_weak(seen, seen - one_use, std::memory_order_acq_rel)) break;
  }
  const std::uint64_t left = seen - one_use;
  if (left < one_use && (left & handle_bit) == 0) delete this;
}

void fair_queue::impl::close() noexcept {
  // The caller has a handle.
  std::uint64_t seen = word_.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    if ((seen & closed_bit) != 0) return;
    next = seen | closed_bit;
    if (seen < one_use) next |= gone_bit;  // queues/close
  } while (!word_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
  if ((next & gone_bit) != 0) fair_.queue_left();
}

void fair_queue::impl::drop_handle() noexcept {
  close();
  if (word_.fetch_and(~handle_bit, std::memory_order_acq_rel) < one_use) {
    // No uses.
    delete this;
  }
}

}  // namespace tandem::inline v0
