// fair_queue.hpp: a share of an executor, for the tasks of one batch, client or tenant.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <tandem/executor.hpp>

namespace tandem::inline v0 {

/// A handle of one queue of a fair_scheduler; copies are handles of the same one. It is used
/// wherever an executor is, and tasks at home there share with those of the other queues segment by
/// segment.
///
/// The queue lives as long as its handles, the tasks that were spawned in it, and what is queued;
/// the last handle closes it. A task that moves there by resume_on() has to hold a handle itself.
///
/// @thread_safety  as a value: one handle by one thread at a time; what it names may be used from
///                 any thread
class TANDEM_API fair_queue {
 public:
  /// No queue: to be assigned to.
  fair_queue() noexcept = default;

  /// pre: not empty. The home of the tasks.
  tandem::executor& executor() const noexcept;
  operator tandem::executor&() const noexcept { return executor(); }  // NOLINT: that is its use

  /// Refuses new tasks from now on: spawning here throws executor_closed. What was spawned before
  /// runs to its end, however often it waits; then the queue is gone from its scheduler.
  /// Idempotent.
  ///
  /// @thread_safety  any thread, tasks of the queue too
  void close() noexcept;
  /// Whether close() was called: not whether the executor below the scheduler is closed.
  /// @thread_safety any thread
  bool is_closed() const noexcept;

  unsigned weight() const noexcept;
  /// Segments that wait for their turn; a hint. @thread_safety any thread
  std::size_t waiting() const noexcept;
  bool is_current() const noexcept { return executor().is_current(); }
  std::string_view name() const noexcept { return executor().name(); }

  friend bool operator==(const fair_queue& a, const fair_queue& b) noexcept = default;

  // Implementation
  class impl;
  explicit fair_queue(std::shared_ptr<impl> made) noexcept : impl_(std::move(made)) {}

 private:
  std::shared_ptr<impl> impl_;  // its deleter closes the queue and gives it up
};

}  // namespace tandem::inline v0
