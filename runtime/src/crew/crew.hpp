// crew.hpp: which threads a pool has: how they come, and how they go. Protocols crew, changes.
// SPDX-License-Identifier: MIT
//
// What it counts is written under the idle lock. It knows nothing of queues: what its threads run,
// and whether anything waits, it asks its owner; none of that often.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>

#include <tandem/pool_decision.hpp>
#include <tandem/pool_options.hpp>
#include <tandem/worker_pool.hpp>

#include "crew/busy_word.hpp"
#include "crew/idle_workers.hpp"
#include "crew/pool_limits.hpp"
#include "crew/short_text.hpp"
#include "crew/worker_set.hpp"

namespace tandem::inline v0::detail {

/// What a crew asks of the pool that it works for.
class crew_owner {
 public:
  /// A thread has come, and is named and placed: it is the worker until this returns.
  virtual void run(worker& self) noexcept = 0;
  virtual bool anything_queued() const noexcept = 0;
  virtual std::size_t queued() const noexcept = 0;
  virtual void wake_one() noexcept = 0;
  /// Under the idle lock. @returns what the thread came for
  virtual decision_reason thread_started(bool for_full_queue) noexcept = 0;
  virtual void thread_retired(decision_reason why) noexcept = 0;
  /// submissions/terminate. The door is closed, and the last thread is on its way out.
  virtual void last_one_left() noexcept = 0;
  /// What a hook has thrown, or what failed at the placement.
  virtual void suppressed(const std::exception_ptr& failure) noexcept = 0;
  /// What a thread is started with.
  virtual std::shared_ptr<const pool_options> settings() const noexcept = 0;
  /// deadlocks/idle. For half a second no worker has had anything to do. On a worker's thread.
  virtual void workers_are_idle() noexcept = 0;

 protected:
  ~crew_owner() = default;
};

class crew {
 public:
  /// @param has_threads  false: nobody is ever started
  crew(crew_owner& owner, executor& home, const std::string& name, bool has_threads,
       const pool_limits& limits, busy_word& word, idle_workers& idle, worker_set& workers) noexcept
      : owner_(owner),
        home_(home),
        name_(name),
        has_threads_(has_threads),
        limits_(limits),
        word_(word),
        idle_(idle),
        workers_(workers) {}
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  bool has_threads() const noexcept { return has_threads_; }
  /// Threads that run, sleep or are blocked. Under the idle lock it counts; else a look.
  unsigned threads() const noexcept { return threads_.load(std::memory_order_relaxed); }
  /// How many a post may start by itself; the others are a submission's (submissions/own_room).
  unsigned threads_without_asking() const noexcept {
    return limits_.growth() == growth_order::queue_first ? limits_.core() : workers_.most();
  }

  // Under the idle lock.

  /// changes/make_thread. @param first what it begins with, or null: it searches
  /// @returns  false if there are `limit`, or no thread is to be had
  bool start_one(unsigned limit, job* first) noexcept;
  /// Whoever asks for a thread wants it now, also soon after a failure.
  void try_at_once() noexcept { next_attempt_ = {}; }
  /// changes/limits. @returns how much more (or less) room threads above the core bring now
  int count_brought_anew(const pool_options& options) noexcept;
  /// submissions/end. Nobody starts any more. @returns false if that was so
  bool close_door() noexcept;
  bool is_closed() const noexcept { return closed_; }
  bool is_empty() const noexcept { return present_ == 0; }
  /// submissions/reopen. @returns whether it was closed
  bool open_door() noexcept;
  /// submissions/end, the door being closed. @returns false: the worker has been counted out, and
  /// leaves
  bool has_to_stay(worker& self) noexcept;

  // Without the lock.

  /// crew/retire. Dismisses who has been idle longest. @returns false if there are no more threads
  /// than stay
  bool retire_one() noexcept;
  /// The thread's last doings; it may be the pool's last one (submissions/terminate).
  void leave(worker& self) noexcept;
  /// The door is closed for good: waits for all threads.
  void join_all();

  std::uint64_t started_for(std::size_t reason) const noexcept {
    return started_for_[reason].load(std::memory_order_relaxed);
  }
  std::uint64_t retirements() const noexcept {
    return retirements_.load(std::memory_order_relaxed);
  }

  /// deadlocks/idle. The last one that lies down, a while later.
  void workers_are_idle() noexcept { owner_.workers_are_idle(); }

 private:
  bool start(worker& fresh, bool for_full_queue, short_text& reason) noexcept;
  void start_thread_of(worker& fresh, bool& by_factory);
  void report_no_thread(const char* reason, bool at_once) noexcept;
  /// The life of a worker's thread.
  void live(worker& self) noexcept;
  /// parking/start_hook. The worker is about to run its start hook.
  void begin_hook(worker& self) noexcept;
  void say_goodbye(worker& self) noexcept;
  template <class Step>
  void suppress(const Step& step) noexcept;
  void join_if_there(std::thread& thread);

  crew_owner& owner_;
  executor& home_;
  const std::string& name_;
  const bool has_threads_;
  const pool_limits& limits_;
  busy_word& word_;
  idle_workers& idle_;
  worker_set& workers_;
  std::atomic<unsigned> threads_{0};   // written under the idle lock
  std::atomic<unsigned> starting_{0};  // threads in start hooks that came for what is queued
  std::array<std::atomic<std::uint64_t>, decision_reason_count> started_for_{};
  std::atomic<std::uint64_t> retirements_{0};

  // Guarded by the idle lock from here.
  unsigned brought_ = 0;   // room that threads above the core bring (submissions/own_room)
  unsigned present_ = 0;   // threads, also those on their way out
  std::thread last_left_;  // joined by the next one that leaves
  bool closed_ = false;
  std::chrono::steady_clock::time_point next_report_{};
  std::chrono::steady_clock::time_point next_attempt_{};  // after a failure: changes/make_thread
};

}  // namespace tandem::inline v0::detail
