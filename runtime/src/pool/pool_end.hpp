// pool_end.hpp: how a pool ends: shutdown, stop, tidying, terminated. Protocol submissions/end: runtime/src/submit/README.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include <tandem/pool_state.hpp>
#include <tandem/unstarted_task.hpp>
#include <tandem/worker_pool.hpp>

namespace tandem::inline v0::detail {

class pool_end {
 public:
  explicit pool_end(worker_pool::impl& pool) noexcept : pool_(pool) {}
  pool_end(const pool_end&) = delete;
  pool_end& operator=(const pool_end&) = delete;

  void shutdown() noexcept;
  std::vector<unstarted_task> shutdown_now();
  bool await_termination(std::chrono::steady_clock::duration timeout);
  /// submissions/end. After a task's end, once the pool is shut down.
  void end_if_drained() noexcept;

  // The runtime ends, in this order.

  /// As shutdown_now(), but the workers stay until stop().
  void close_for_runtime() noexcept;
  /// submissions/reopen. No task lives; before the services stop.
  void reopen() noexcept;
  void stop() noexcept;

  /// submissions/terminate. Once: by whoever was the last worker, or has found none when it closed
  /// the door.
  void terminate() noexcept;

 private:
  enum class door : std::uint8_t { of_the_pool, for_good };

  void close(pool_state to) noexcept;
  void drop_unstarted() noexcept;
  /// Nobody starts any more, and whoever finds nothing leaves.
  void begin_stop(door closed) noexcept;

  worker_pool::impl& pool_;
  std::atomic<bool> runtime_ends_{false};  // then stop() ends the workers, and nobody else
};

}  // namespace tandem::inline v0::detail
