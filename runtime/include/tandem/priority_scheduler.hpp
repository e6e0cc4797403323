// priority_scheduler.hpp: five levels over one executor; the highest that has something goes first.
// SPDX-License-Identifier: MIT
//
// Each segment of a task at home on a level puts one token into the executor below; a token that
// runs takes the oldest segment of the highest level that has one. So a segment that became ready
// late but matters more overtakes all that have not begun; nothing is interrupted. Without ageing a
// low level waits as long as higher ones are busy, for ever if need be. With it each level runs
// eventually. Protocol queues: runtime/src/executors/README.md.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <tandem/executor.hpp>
#include <tandem/priority.hpp>

namespace tandem::inline v0 {

/// A handle of the levels over one executor; copies are handles of the same ones. Each level is an
/// executor, FIFO in itself.
///
///     tandem::priority_scheduler levels(runtime.workers(), tandem::priority_ageing().after_items(100));
///     runtime.spawn(levels.level(tandem::priority::high), answer(request));
///     runtime.spawn(levels.level(tandem::priority::lowest), compact(log));
///
/// The levels live as long as the handles, the tasks that were spawned there, and what is queued. A
/// task that moves there by resume_on() has to hold a handle itself. Once the executor below is
/// closed, levels refuse new tasks.
///
/// @thread_safety  as a value: one handle by one thread at a time; what it names may be used from
///                 any thread
/// @cost           an item: a post below, and a short lock twice; with ageing by time a look at the
///                 clock where a level waits behind another
class TANDEM_API priority_scheduler {
 public:
  /// @param below   as of a strand
  /// @param ageing  by items: a level waits for at most so many items of others, and one more for
  ///                each other level that is due as well
  /// @throws        executor_closed, forked_runtime, std::bad_alloc
  explicit priority_scheduler(tandem::executor& below, priority_ageing ageing = priority_ageing());

  /// The home of tasks of that importance; the same object for all handles. @thread_safety any
  /// thread
  executor& level(priority of) const noexcept;

  /// Segments that wait on a level; a hint. @thread_safety any thread
  std::size_t waiting(priority of) const noexcept;

  // Implementation
  class impl;

 private:
  std::shared_ptr<impl> impl_;  // its deleter gives back one hold for all handles
};

}  // namespace tandem::inline v0
