// fair_scheduler.hpp: k busy queues get a k-th of an executor each, or as their weights say.
// SPDX-License-Identifier: MIT
//
// For a server with batches: one that submits 100,000 items does not keep one that submits 100
// waiting. Each item of a queue puts one token into the executor below; a token that runs takes the
// next item of the queue whose turn it is. Every segment is charged, so a task that wakes up again
// and again pays like one that is new. With equal weights that is a round robin; with others a
// queue of weight 3 gets three turns where one of weight 1 gets one, also if it never has more than
// one task (start-time fair queueing: Goyal, Vin, Cheng, 1996). An idle queue costs nothing and
// saves nothing up. Fair are counts of segments, not times: long computations should yield().
// Protocol queues: runtime/src/executors/README.md.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <tandem/fair_queue.hpp>

namespace tandem::inline v0 {

/// A handle of a set of queues over one executor; copies are handles of the same one.
///
///     tandem::fair_scheduler fair(runtime.workers());
///     tandem::fair_queue gold = fair.add_queue(3, "gold");
///     tandem::fair_queue free_of_charge = fair.add_queue(1, "free");
///     runtime.spawn(gold, render(page));
///
/// It lives as long as its handles and its queues. Once the executor below is closed, its queues
/// refuse new tasks.
///
/// @thread_safety  as a value: one handle by one thread at a time; what it names may be used from
///                 any thread
/// @cost           an item: a post below, a short lock twice, the logarithm of the number of busy
///                 queues. Tokens are allocated as many as there are items that wait, and used
///                 again
class TANDEM_API fair_scheduler {
 public:
  static constexpr unsigned most_weight = 1000;

  /// @param below  as of a strand
  /// @throws       executor_closed, forked_runtime, std::bad_alloc
  explicit fair_scheduler(tandem::executor& below);

  /// One more queue.
  ///
  /// @param weight  turns of this queue for each turn of one of weight 1; 1 to most_weight
  /// @throws        std::invalid_argument, forked_runtime, std::bad_alloc
  /// @thread_safety any thread, also while tasks of other queues run
  fair_queue add_queue(unsigned weight = 1, std::string name = "fair");

  /// Queues that are open, or closed and not done; a hint. @thread_safety any thread
  std::size_t queue_count() const noexcept;
  /// Segments that wait in all queues; a hint. @thread_safety any thread
  std::size_t waiting() const noexcept;

  // Implementation
  class impl;

 private:
  std::shared_ptr<impl> impl_;  // its deleter gives back one hold for all handles
};

}  // namespace tandem::inline v0
