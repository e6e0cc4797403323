// job.hpp: the unit that every queue of tandem holds.
// SPDX-License-Identifier: MIT
//
// A job lives inside the thing that waits: a coroutine's promise, an awaiter, a request of one's
// own. Nothing is allocated to enqueue it. While it is queued the queue owns `next`; whoever
// dequeues it sets the current environment to `env` and calls `run(this)` exactly once.
#pragma once

#include <cstddef>

namespace tandem::inline v0 {

class environment;

/// An intrusive work item.
///
///     static int ran = 0;
///     tandem::job low([](tandem::job*) noexcept { ran = 1; });
///     levels.level(tandem::priority::low).post(&low);
///
/// @thread_safety  in one queue at a time; posting it publishes it to the thread that runs it
/// @cost           three words, no allocation
struct job {
  using function = void (*)(job*) noexcept;

  job() noexcept : job(nullptr) {}
  explicit job(function f, environment* e = nullptr) noexcept : run(f), next(nullptr), env(e) {}

  function run;
  job* next;         ///< the queue's, while queued
  environment* env;  ///< becomes the current environment while the job runs

  // Implementation
 protected:
  struct set_later {};
  /// For coroutine frames: what starts one sets `env`, what queues one sets `next`.
  job(function f, set_later) noexcept : run(f) {}  // NOLINT
};

/// A chain of jobs linked by `next`, oldest first.
class job_list {
 public:
  job_list() noexcept = default;

  bool empty() const noexcept { return first_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  /// The oldest, or null.
  job* front() const noexcept { return first_; }

  void push_back(job* item) noexcept {
    item->next = nullptr;
    if (first_ == nullptr) {
      first_ = item;
    } else {
      last_->next = item;
    }
    last_ = item;
    ++size_;
  }

  job* pop_front() noexcept {
    job* item = first_;
    if (item != nullptr) {
      first_ = item->next;
      if (first_ == nullptr) last_ = nullptr;
      --size_;
      item->next = nullptr;
    }
    return item;
  }

  void append(job_list& other) noexcept {
    if (other.empty()) return;
    if (first_ == nullptr) {
      first_ = other.first_;
    } else {
      last_->next = other.first_;
    }
    last_ = other.last_;
    size_ += other.size_;
    other = job_list();
  }

 private:
  job* first_ = nullptr;
  job* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tandem::inline v0
