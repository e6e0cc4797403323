// held_queue.hpp: tasks that are ready on one completion thread, and the hold that they have on the clock.
// SPDX-License-Identifier: MIT
//
// ring_sleep/clock: README.md in the room ring. While it has something it holds the clock, at least
// once. All of it is the owner's.
#pragma once

#include <cstddef>
#include <tandem/detail/clock_hold.hpp>
#include <tandem/executor.hpp>

namespace tandem::inline v0::io {

class held_queue {
 public:
  explicit held_queue(runtime& owner) noexcept : owner_(owner) {}

  bool empty() const noexcept { return items_.empty(); }
  job* pop_front() noexcept { return items_.pop_front(); }

  /// It has a hold of its own, which is the queue's now.
  void add_held(job* item) noexcept {
    items_.push_back(item);
    ++held_;
  }
  /// This thread posts to itself: whoever posts may release a hold of its own before this has run.
  void push_back(job* item) noexcept {
    if (held_ == 0) hold();
    items_.push_back(item);
  }
  void append(job_list& items) noexcept {
    if (held_ == 0) hold();
    items_.append(items);
  }
  /// After a round of jobs: what is left needs one hold.
  void settle() noexcept {
    if (held_ != 0) release(items_.empty() ? 0 : 1);
  }

 private:
  void hold() noexcept {
    tandem::detail::hold_clock(owner_);
    held_ = 1;
  }
  void release(std::size_t but) noexcept {
    for (; held_ > but; --held_) tandem::detail::release_clock(owner_);
  }

  runtime& owner_;
  std::size_t held_ = 0;  // not 0 while there is something
  job_list items_;
};

}  // namespace tandem::inline v0::io
