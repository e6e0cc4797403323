// hand_overs.cpp: collected per home, posted at the end of a batch.
// SPDX-License-Identifier: MIT
#include "ready/hand_overs.hpp"

#include <utility>

#include <tandem/detail/clock_hold.hpp>
#include <tandem/detail/promise_base.hpp>

namespace tandem::inline v0::io {

void hand_overs::add(tandem::detail::promise_base& waiting) noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (each_[i].target == waiting.home) {
      each_[i].items.push_back(&waiting);
      return;
    }
  }
  if (count_ == homes_at_once) [[unlikely]] {
    of_further_homes_.push_back(&waiting);
    return;
  }
  hand_over& fresh = each_[count_++];
  fresh.target = waiting.home;
  fresh.items.push_back(&waiting);
}

std::size_t hand_overs::flush(runtime& owner, const tandem::executor& workers) noexcept {
  std::size_t to_workers = post_all(owner, workers);
  while (!of_further_homes_.empty()) [[unlikely]] {
    job_list rest = std::exchange(of_further_homes_, job_list());
    while (job* const item = rest.pop_front()) {
      add(*static_cast<tandem::detail::promise_base*>(item));
    }
    to_workers += post_all(owner, workers);  // of eight homes more: so it ends
  }
  return to_workers;
}

std::size_t hand_overs::post_all(runtime& owner, const tandem::executor& workers) noexcept {
  std::size_t to_workers = 0;
  const std::size_t homes = std::exchange(count_, 0);
  for (std::size_t i = 0; i < homes; ++i) {
    hand_over& each = each_[i];
    posts_.add();
    const std::size_t count = each.items.size();
    if (each.target == &workers) to_workers += count;
    each.target->post_batch(std::exchange(each.items, job_list()), post_kind::resume);
    // ring_sleep/clock
    for (std::size_t k = 0; k < count; ++k) tandem::detail::release_clock(owner);
  }
  return to_workers;
}

}  // namespace tandem::inline v0::io
