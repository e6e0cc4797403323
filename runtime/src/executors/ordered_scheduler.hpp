// ordered_scheduler.hpp: queues over one executor, of which a rule says whose turn it is.
// SPDX-License-Identifier: MIT
//
// For each item one token goes to the executor below. A token that runs takes the item that the
// rule chooses then, which need not be the one that it was posted for. So the executor below sees
// as many jobs as there are items, spreads them over its threads and counts them, and the order is
// decided as late as possible. Protocol queues: runtime/src/executors/README.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tandem/detail/futex_mutex.hpp>
#include <tandem/executor.hpp>

#include "executors/layer.hpp"
#include "process/fork_guard.hpp"

namespace tandem::inline v0::detail {

class ordered_queue;

class ordered_scheduler : public left_to_parent {
 public:
  /// @param what  as what forked_runtime names it
  /// @throws      executor_closed, if `below` counts its tasks and is closed; forked_runtime;
  ///              std::bad_alloc
  ordered_scheduler(executor& below, const char* what);
  ordered_scheduler(const ordered_scheduler&) = delete;
  ordered_scheduler& operator=(const ordered_scheduler&) = delete;

  executor& below() const noexcept { return below_; }
  /// Items that wait; a hint.
  std::size_t waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }

  /// queues/post. Items for `target`, and a token for each.
  void enqueue(ordered_queue& target, job_list& items, post_kind kind) noexcept;

  /// queues/closed_below. Whether its queues may take new tasks, as far as the executor below goes.
  bool admits() const noexcept {
    return counted_below_ == nullptr || still_admits(*counted_below_);
  }
  /// In a child of fork(): locks may be held for ever, and what they guard may be half changed.
  bool is_parents() const noexcept { return owner_ != nullptr && is_forked(*owner_); }

  // queues/end. The scheduler goes with its last hold.
  void retain() noexcept { holds_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (holds_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (is_parents()) {
      keep_forked(*this);
    } else {
      delete this;
    }
  }

 protected:
  virtual ~ordered_scheduler();

  // The rule; all under lock().
  /// `queue` has got its first item.
  virtual void filled(ordered_queue& queue) noexcept = 0;
  /// Whose item goes next; some queue has one. What it takes out is up to the caller.
  virtual ordered_queue& choose() noexcept = 0;
  /// One item of `queue` was taken out.
  virtual void taken(ordered_queue& queue) noexcept = 0;

  futex_mutex& lock() noexcept { return lock_; }

 private:
  friend class token;
  class token : public job {
   public:
    token() noexcept : job(&token::run_one) {}
    ordered_scheduler* scheduler = nullptr;

   private:
    static void run_one(job* self) noexcept;
  };

  /// queues/run_token. @param again  the token has to be posted once more: one is owed
  job* take(token& spent, ordered_queue*& from, bool& again) noexcept;
  /// Null: there is no memory, and one is owed.
  job* take_token() noexcept;
  /// @throws  std::bad_alloc
  void make_tokens(std::size_t more);

  executor& below_;
  executor* const counted_below_;
  runtime* const owner_;
  std::atomic<std::size_t> holds_{1};
  std::atomic<std::size_t> waiting_{0};  // written under the lock
  futex_mutex lock_;
  job_list idle_tokens_;                          // guarded by lock_
  std::vector<std::unique_ptr<token[]>> tokens_;  // guarded by lock_
  std::size_t token_count_ = 0;                   // guarded by lock_
  std::size_t owed_ = 0;                          // guarded by lock_; items without a token
};

/// One of the queues: the home of tasks.
class ordered_queue : public executor {
 public:
  ordered_queue(ordered_scheduler& scheduler, std::string name)
      : executor(counting_tasks()), scheduler_(scheduler), name_(std::move(name)) {}

  void post(job* item, post_kind kind) noexcept override;
  void post_batch(job_list items, post_kind kind) noexcept override;
  bool is_current() const noexcept override;
  runtime* owner() const noexcept override { return scheduler_.below().owner(); }
  std::string_view name() const noexcept override { return name_; }

  /// queues/hold. As a task that is never refused: an item that waits or runs. end_task() ends it.
  virtual void begin_item() noexcept = 0;

  /// A hint from outside the lock.
  std::size_t waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }

 protected:
  ordered_scheduler& scheduler() const noexcept { return scheduler_; }

 private:
  friend class ordered_scheduler;

  ordered_scheduler& scheduler_;
  const std::string name_;
  job_list items_;                       // guarded by the scheduler's lock
  std::atomic<std::size_t> waiting_{0};  // written under that lock
};

}  // namespace tandem::inline v0::detail
