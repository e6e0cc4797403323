// foreign_home.hpp: an executor over the loop of another library, in which tasks live.
// SPDX-License-Identifier: MIT
//
// Protocol foreign_homes: runtime/src/executors/README.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <tandem/config.hpp>
#include <tandem/detail/futex_mutex.hpp>
#include <tandem/executor.hpp>
#include <tandem/job.hpp>

namespace tandem::inline v0::detail {

class TANDEM_API foreign_home : public executor {
 public:
  void post(job* item, post_kind kind = post_kind::resume) noexcept final;             // NOLINT
  void post_batch(job_list items, post_kind kind = post_kind::resume) noexcept final;  // NOLINT
  bool is_current() const noexcept final;
  runtime* owner() const noexcept final { return &owner_; }
  std::string_view name() const noexcept final { return name_; }
  bool begin_task() noexcept final;
  void end_task() noexcept final;

  /// foreign_homes/in_place. Runs it at once if this thread is in the loop, and runs no job.
  bool try_run(job* item) noexcept;

  void hold() noexcept { holds_.fetch_add(1, std::memory_order_relaxed); }  // by a holder
  /// By anybody, while it is there. @returns false if it has none any more: it is about to go
  bool try_hold() noexcept;
  /// The last one destroys it.
  void release() noexcept;

  /// foreign_homes/end. The loop ends: it is not called any more, and its tasks are stopped.
  void end_loop() noexcept;
  /// foreign_homes/run. By the loop; after its end by whoever ends it.
  void run_some() noexcept;
  /// Calls `use` unless the loop is gone, which then does not go meanwhile. @returns whether
  template <class Use>
  bool with_loop(Use use) {
    const std::lock_guard guard(lock_);  // what is used may throw
    if (has_ended_) return false;
    use();
    return true;
  }

 protected:
  /// @param owner  outlives it
  foreign_home(runtime& owner, std::string name);
  ~foreign_home() override;

  /// Has the loop call run_some() once, later. Does not throw.
  virtual void call_loop() noexcept = 0;
  /// Whether the calling thread is in the loop.
  virtual bool is_in_loop() const noexcept = 0;
  /// The loop goes, and is still there: what keeps it at work is to be given back.
  virtual void let_loop_go() noexcept = 0;
  /// After that: its tasks are to end.
  virtual void stop_tasks() noexcept = 0;

  /// After the end: has whoever ends the loop call run_some() once, later.
  virtual void call_end() noexcept = 0;
  /// Instead of run_some(), when the loop has dropped the call, since it ends.
  void call_dropped() noexcept;

 private:
  class inbox;
  void call() noexcept;
  void run_one(job* item) noexcept;

  runtime& owner_;
  const std::string name_;
  std::atomic<std::uint32_t> holds_{1};
  futex_mutex lock_;        // between whoever calls the loop and its end
  bool has_ended_ = false;  // under it
  const std::unique_ptr<inbox> inbox_;
};

}  // namespace tandem::inline v0::detail
