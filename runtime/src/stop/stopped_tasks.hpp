// stopped_tasks.hpp: the tasks whose waits a walk has ended, until it has left the states above them.
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include <tandem/detail/promise_base.hpp>
#include <tandem/executor.hpp>

namespace tandem::inline v0::detail {

/// stopping/gather. Each stays suspended until it is posted, so it keeps what it lies in alive.
class stopped_tasks {
 public:
  stopped_tasks() noexcept = default;
  stopped_tasks(const stopped_tasks&) = delete;
  stopped_tasks& operator=(const stopped_tasks&) = delete;
  ~stopped_tasks() { post(); }

  void add(promise_base& task) noexcept {
    if (task.home != home_) post();
    home_ = task.home;
    task.note_queued();
    tasks_.push_back(&task);
  }
  bool are_many() const noexcept { return tasks_.size() >= many; }
  /// All of them, to the home that they have in common.
  void post() noexcept {
    if (!tasks_.empty()) home_->post_batch(std::exchange(tasks_, job_list()));
  }

 private:
  static constexpr std::size_t many = 64;  // some 50 us of work, which others may begin

  executor* home_ = nullptr;
  job_list tasks_;
};

}  // namespace tandem::inline v0::detail
