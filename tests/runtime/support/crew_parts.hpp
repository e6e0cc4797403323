// crew_parts.hpp: the parts of a pool without the pool: a crew whose owner is the test.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include <tandem/runtime.hpp>

#include "crew/waker.hpp"
#include "platform/futex.hpp"
#include "pool/worker_pool_impl.hpp"

namespace crew_parts {

/// Threads of it run until they are dismissed, or until the door is closed, unless a test says
/// otherwise.
class crew_of_one_test final : public tandem::detail::crew_owner {
 public:
  explicit crew_of_one_test(const tandem::pool_options& chosen, bool has_threads = true)
      : options(std::make_shared<const tandem::pool_options>(chosen)),
        limits(chosen),
        word(chosen.max_threads, has_threads ? chosen.max_threads : 0),
        workers(identity.workers().implementation(), identity, chosen.most_threads(),
                tandem::pool_options::most_possible),
        threads(*this, identity.workers(), name, has_threads, limits, word, idle, workers),
        waking(limits, word, idle, workers, threads, control) {
    idle.make_room(chosen.most_threads());
  }
  crew_of_one_test(const crew_of_one_test&) = delete;
  crew_of_one_test& operator=(const crew_of_one_test&) = delete;
  ~crew_of_one_test() { close(); }

  /// As the end of a pool does it.
  void close() {
    bool nobody_left = false;
    {
      const std::lock_guard lock(idle.lock());
      if (!threads.close_door()) return;
      nobody_left = threads.is_empty();
      word.wake_to_search(idle.count());
      idle.wake_all();
    }
    if (nobody_left) last_one_left();
    threads.join_all();
  }
  bool start_one(unsigned limit, tandem::job* first = nullptr) {
    const std::lock_guard lock(idle.lock());
    return threads.start_one(limit, first);
  }

  // What a crew asks.
  void run(tandem::detail::worker& self) noexcept override {
    ++runs;
    if (while_it_runs) while_it_runs(self);
    while (park(self)) {}
  }
  bool anything_queued() const noexcept override { return work_waits; }
  std::size_t queued() const noexcept override { return work_waits ? 1 : 0; }
  void wake_one() noexcept override { waking.wake_one(); }
  tandem::decision_reason thread_started(bool for_full_queue) noexcept override {
    return for_full_queue ? tandem::decision_reason::queue_full : tandem::decision_reason::work;
  }
  void thread_retired(tandem::decision_reason why) noexcept override { retired_for = why; }
  void last_one_left() noexcept override { ++ends; }
  void suppressed(const std::exception_ptr& /*failure*/) noexcept override { ++failures; }
  std::shared_ptr<const tandem::pool_options> settings() const noexcept override { return options; }
  void workers_are_idle() noexcept override { ++idle_told; }
  int idle_told = 0;

  static tandem::runtime_options without_threads() {
    tandem::runtime_options chosen;
    chosen.min_threads = 0;
    return chosen;
  }

  // Workers know which pool they are of: a runtime's that has no threads of its own.
  tandem::runtime identity{without_threads()};
  const std::string name = "crew";
  std::shared_ptr<const tandem::pool_options> options;
  tandem::detail::pool_limits limits;
  tandem::detail::busy_word word;
  tandem::detail::idle_workers idle;
  tandem::detail::worker_set workers;
  tandem::detail::control_slot control;
  tandem::detail::crew threads;
  tandem::detail::waker waking;

  std::function<void(tandem::detail::worker&)> while_it_runs;
  std::atomic<bool> work_waits{false};
  std::atomic<int> runs{0};
  std::atomic<int> ends{0};
  std::atomic<int> failures{0};
  std::atomic<tandem::decision_reason> retired_for{tandem::decision_reason::work};

 private:
  /// @returns  false if the thread is to end
  bool park(tandem::detail::worker& self) noexcept {
    using tandem::detail::worker;
    self.signal.store(worker::parked);
    {
      std::unique_lock lock(idle.lock());
      if (threads.is_closed()) {
        if (threads.has_to_stay(self)) return true;
        lock.unlock();
        threads.leave(self);
        return false;
      }
      idle.push(self);
      word.lie_down(self.searching);
    }
    self.searching = false;
    while (self.signal.load() == worker::parked) {
      tandem::platform::wait_on(self.signal, worker::parked);
    }
    if (self.signal.load() == worker::dismissed) {
      threads.leave(self);
      return false;
    }
    self.signal.store(worker::running);
    self.searching = self.handed == nullptr;
    return true;
  }
};

}  // namespace crew_parts
