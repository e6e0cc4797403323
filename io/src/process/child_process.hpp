// child_process.hpp: a child from its start until it has been reaped.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <system_error>
#include <tandem/io/detail/operation.hpp>
#include <tandem/io/detail/socket_record.hpp>
#include <tandem/io/process_exit.hpp>
#include <tandem/io/process_options.hpp>
#include <tandem/result.hpp>

#include "platform/processes.hpp"

namespace tandem::inline v0::io::detail {

/// Protocol processes (README.md beside this). A `process` owns it, then maybe the reaper.
class child_process {
 public:
  child_process(process_end how, bool leads_group) noexcept
      : on_scope_end_(how), leads_group_(leads_group) {}
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;
  ~child_process();

  platform::start_failure start(const platform::child_plan& plan) noexcept;

  // Constants once it has started.
  int id() const noexcept { return system_.id; }
  /// Readable once it has ended.
  native_descriptor end_event() const noexcept { return system_.end; }
  process_end on_scope_end() const noexcept { return on_scope_end_; }
  bool leads_group() const noexcept { return leads_group_; }
  /// Another process is running this: a child of fork(), to which ours is no child.
  bool is_others() const noexcept { return parent_ != platform::own_id(); }

  // Any thread.
  /// processes/look. How it has ended; it is taken with that unless it leads a group. Never waits.
  ///
  /// @returns  resource_unavailable_try_again: it runs; no_child_process: somebody else has
  ///           taken it
  result<process_exit> look() noexcept;
  /// processes/take. As above, and it is taken in any case if it has ended.
  ///
  /// @param ends_group  what is left of the group that it leads is killed before its number is free
  result<process_exit> take(bool ends_group) noexcept;
  /// It runs no more, as somebody has heard.
  bool has_ended() const noexcept;
  bool is_taken() const noexcept;
  /// processes/signal. @returns no_such_process if it has been taken; where it is not for its
  ///                            group, also if it has ended, as somebody has heard
  std::error_code signal(int number, bool to_group) noexcept;
  /// To all of its group if it leads one.
  void send(platform::ending how) noexcept { (void)signal(platform::signal_of(how), leads_group_); }

  /// processes/first_waiter. The first task that waits may do so in the workers' port: a descriptor
  /// has one place there. Others wait by completion threads. Any thread.
  ///
  /// @param thread  by which it would wait otherwise: its workers' port is meant
  void enter(operation& waiting, completion_thread& thread) noexcept;
  void leave(const operation& waiting) noexcept {
    if (first_.load(std::memory_order_relaxed) == &waiting) {  // only it has written its address
      first_.store(nullptr, std::memory_order_release);
    }
  }
  /// direct/forget. Nobody waits for it in the workers' port any more. By its owner.
  void leave_port() noexcept;

  // The reaper's.
  child_process* next = nullptr;
  std::optional<std::chrono::steady_clock::time_point> kill_at;

 private:
  /// pre: alone_ is held. As look().
  result<process_exit> look_alone() noexcept;
  /// pre: alone_ is held. As signal().
  std::error_code signal_group_alone(int number) noexcept;
  /// pre: alone_ is held
  void note(const result<std::optional<process_exit>>& seen, platform::taking what) noexcept;

  platform::started_child system_;
  const process_end on_scope_end_;
  const bool leads_group_;
  int parent_ = 0;
  std::atomic<const operation*> first_{nullptr};
  socket_record record_;  // of whoever is first
  mutable std::mutex alone_;
  std::optional<result<process_exit>> ended_;  // guarded by alone_: what has been heard of its end
  bool is_taken_ = false;                      // likewise: its number may be another one's
};

}  // namespace tandem::inline v0::io::detail
