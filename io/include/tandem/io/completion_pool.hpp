// completion_pool.hpp: the threads that wait for I/O, each with a ring of its own.
// SPDX-License-Identifier: MIT
//
// A service of a runtime: made by install(), or with defaults by the first I/O call. Tasks may live
// on it: on one thread (confined, never moved) or on any of them. Protocols: README.md in the rooms
// ready, engine, ring and operation of io/src.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <tandem/executor.hpp>
#include <tandem/io/completion_options.hpp>
#include <tandem/io/completion_thread.hpp>
#include <tandem/io/export.hpp>
#include <tandem/pool_decision.hpp>
#include <tandem/runtime.hpp>
#include <vector>

namespace tandem::inline v0::io {

/// Counts at about one moment.
class completion_pool_stats {
 public:
  completion_pool_stats() noexcept = default;

  unsigned min_threads = 0;
  unsigned max_threads = 0;
  /// How many there are to be, by the last decision or resize(): completion_pool::size().
  unsigned goal = 0;
  unsigned threads = 0;  ///< that run; those that retire count until they are gone, after resize()
  /// Threads that an adaptive pool has added, and let go, since the start, by decision_reason. What
  /// resize() did is in neither.
  std::array<std::uint64_t, decision_reason_count> injections{};
  std::array<std::uint64_t, decision_reason_count> retirements{};
  std::string_view backend;     ///< as completion_pool::backend_name()
  std::uint64_t submitted = 0;  ///< operations handed to a ring
  std::uint64_t completed = 0;
  std::uint64_t batches = 0;  ///< reaps that brought at least one completion
  std::uint64_t reaped = 0;   ///< completions that came in batches; others ended when submitted
  /// Batches of up to 1, 2, 4, ... 512 completions, and of more; each counted once.
  std::array<std::uint64_t, 11> batch_sizes{};
  std::uint64_t handed_over = 0;  ///< posts of whole batches to other executors
  std::uint64_t wakes = 0;        ///< wakes of a sleeping completion thread
  std::uint64_t items = 0;        ///< jobs run
  /// Operations that workers have waited for themselves, without a completion thread, and that have
  /// become ready; in none of the numbers above.
  std::uint64_t by_workers = 0;
  std::uint64_t in_flight = 0;  ///< operations that wait, wherever
  std::uint64_t backlog = 0;    ///< tasks of the pool's executor that are ready, and may be stolen
  std::uint64_t stolen = 0;     ///< taken over by another thread, since the start
  std::uint64_t stalls = 0;     ///< times that a task ran for longer than stall_threshold
};

/// @thread_safety  all members from any thread
class TANDEM_IO_API completion_pool final : public service {
 public:
  /// Use install(). @throws std::system_error naming cause and cure if no backend can be set up
  completion_pool(runtime& owner, const completion_options& options = completion_options());
  ~completion_pool() override;

  /// Runs jobs on any completion thread. A task that lives here goes on where its I/O has ended,
  /// unless another thread has nothing to do and takes it over; so two segments of one task may run
  /// on different threads, one after the other.
  tandem::executor& executor() noexcept;
  unsigned size() const noexcept;
  /// @param index  below size(); in an adaptive pool below max_threads: one that has no thread of
  ///               the system of its own yet is served by another one's meanwhile. It stays valid
  ///               until the pool's end, whatever resize() does
  completion_thread& thread(unsigned index) noexcept;
  /// From now on there are so many threads. New ones run when it returns; what is bound to one of
  /// those that retire (the last ones) goes on by another thread: addresses, executors and open
  /// operations stay good, and what was confined to one thread still runs one after the other.
  ///
  /// May block: it waits for a thread of that number that is still retiring. Does not wait for
  /// those that it lets retire: stats().threads counts them until they are gone. One retires when
  /// the system has given back all that was submitted by it: at once, but for files.
  ///
  /// An adaptive pool goes on from there: threads may come, or retire, at any time later.
  ///
  /// @throws  std::invalid_argument if `threads` is not in min_threads..max_threads;
  ///          std::logic_error on a completion thread (use blocking()); std::system_error if a
  ///          thread cannot be set up: then there are as many as could be
  void resize(unsigned threads);
  completion_pool_stats stats() const noexcept;
  /// Why threads came and went lately, oldest first: up to 200 decisions. What resize() did is
  /// there as one change of the goal. Times are real ones, since the pool was made.
  std::vector<pool_decision> decisions() const;
  /// Which backend runs: "io_uring", "asio" or "iocp".
  std::string_view backend_name() const noexcept;

  std::string_view service_name() const noexcept override;
  void stop() noexcept override;
  void append_metrics(std::vector<metric_family>& out) const override;
  bool awaits_anything() const noexcept override;
  void for_each_decision(const std::function<void(std::chrono::steady_clock::time_point,
                                                  const pool_decision&)>& add) const override;

  // Implementation
  class impl;
  /// Where the next connection is bound: the thread with the fewest sockets.
  completion_thread& next_thread() noexcept;
  /// The thread on which tasks of that home live, if it is one of these; else next_thread().
  completion_thread& thread_for(const tandem::executor& home) noexcept;
  /// For what is bound to none.
  completion_thread& thread_in_turn() noexcept;
  /// To how many threads connections may be bound.
  unsigned most_places() const noexcept;

 private:
  std::unique_ptr<impl> impl_;
};

/// The pool of the current task's runtime, made with defaults if there is none.
///
/// @throws  std::logic_error naming `what` outside any task, and what to do there;
///          std::system_error if no backend can be set up
TANDEM_IO_API completion_pool& current_completion_pool(const char* what);
/// As above, for a call that may be given a pool as its first argument, which the text says.
TANDEM_IO_API completion_pool& default_completion_pool(const char* what);

/// Index of the calling completion thread within its pool; -1 on any other thread.
TANDEM_IO_API int current_completion_index() noexcept;

}  // namespace tandem::inline v0::io
