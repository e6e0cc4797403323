// strand.hpp: tasks that never run at the same time.
// SPDX-License-Identifier: MIT
//
// A strand is an executor over another one. It runs the segments of its tasks (what lies between
// two suspensions) one at a time, in the order in which they became ready, on whatever thread the
// executor below has for it.
//
//   holds     Between two co_awaits nobody else runs on the strand: data that only its tasks touch
//             needs no lock. What one segment wrote the next one sees, on whatever thread.
//   does not  A co_await releases the strand, so other tasks may have run when it returns: what was
//             looked at before has to be looked at again. An await that is ready does not release
//             it, so "it suspends here" is no order to rely on either. The thread may be another
//             one.
//
// A strand or a mutex? The strand for state that many short steps touch, none of which has to wait
// in between: no task ever waits for a lock, and nothing can deadlock. A mutex where one holder has
// to keep everybody out across its awaits. Protocol strand: runtime/src/executors/README.md.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <tandem/executor.hpp>

namespace tandem::inline v0 {

/// A handle of a strand; copies are handles of the same one. It is used wherever an executor is.
///
///     tandem::strand accounts(runtime.workers());
///     runtime.spawn(accounts, transfer(from, to));
///     ...
///     co_await tandem::resume_on(accounts);            // inside a task, which holds a copy
///
/// The strand lives as long as its handles, the tasks that were spawned on it, and what is queued.
/// A task that moves there by resume_on() has to hold a handle itself: take one by value. Once the
/// executor below is closed (a fair_queue, a single_thread_executor), spawning on the strand is
/// refused by executor_closed, too; its tasks go on to their end.
///
/// @thread_safety  as a value: one handle by one thread at a time; what it names may be used from
///                 any thread
/// @cost           post: one CAS, and one post below when the strand was idle; nothing is allocated
class TANDEM_API strand {
 public:
  /// @param below  runs the turns of the strand. It outlives the strand, unless it counts its tasks
  ///               (fair_queue, priority level, another strand): then it is kept alive
  /// @throws       executor_closed, forked_runtime, std::bad_alloc
  explicit strand(tandem::executor& below, std::string name = "strand");

  /// The home of the tasks. pre: not moved from
  ///
  /// @thread_safety  any thread, as long as nobody changes this handle
  tandem::executor& executor() const noexcept;
  operator tandem::executor&() const noexcept { return executor(); }  // NOLINT: that is its use

  /// Whether the calling thread runs a segment of this strand.
  bool is_current() const noexcept { return executor().is_current(); }
  /// @thread_safety  as executor()
  std::string_view name() const noexcept { return executor().name(); }

  friend bool operator==(const strand& a, const strand& b) noexcept = default;

  // Implementation
  class impl;

 private:
  std::shared_ptr<impl> impl_;  // its deleter gives back one hold for all handles (strand/hold)
};

}  // namespace tandem::inline v0
