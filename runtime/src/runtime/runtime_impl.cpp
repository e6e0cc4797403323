// runtime_impl.cpp: set-up, and the end in order.
// SPDX-License-Identifier: MIT
#include "runtime/runtime_impl.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>

#include <tandem/detail/forked.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/errors.hpp>

#include "observe/task_observer.hpp"
#include "platform/futex.hpp"
#include "pool/worker_pool_impl.hpp"
#include "runtime/live_tasks.hpp"

namespace tandem::inline v0 {

namespace {

runtime_options checked(runtime_options options) {
  options.validate();
  if (options.clock && (options.clock->workers() == 0 || options.clock->workers() > 1024)) {
    throw std::invalid_argument("runtime_options::clock asks for " +
                                std::to_string(options.clock->workers()) +
                                " logical workers: it has to be between 1 and 1024");
  }
  if (options.clock && options.submissions.queue == queue_kind::rendezvous) {
    throw std::invalid_argument(
        "runtime_options::submissions.queue is a rendezvous, which needs threads that wait: with a "
        "virtual clock there are none");
  }
  return options;
}

std::unique_ptr<detail::driven_loop> make_loop(runtime& self, const runtime_options& options) {
  if (options.min_threads != 0 && !options.clock) return nullptr;
  return std::make_unique<detail::driven_loop>(self, options.clock);
}

/// With a virtual clock it says how many logical workers there are.
pool_options of_the_pool(const runtime_options& options) {
  pool_options chosen = options;
  if (options.clock) chosen.min_threads = options.clock->workers();
  if (options.clock || options.min_threads == 0) {
    chosen.adaptive.enabled = false;
    chosen.growth = growth_order::demand;
  }
  return chosen;
}

unsigned worker_count(const runtime_options& options) {
  return options.clock ? options.clock->workers() : std::max(1U, options.min_threads);
}

}  // namespace

runtime::impl::impl(runtime& self, runtime_options given)
    : options(checked(std::move(given))),
      observer(detail::task_observer::make(self, pool, options, !options.clock.has_value())),
      loop(make_loop(self, options)),
      pool(self, *this, of_the_pool(options), loop.get()),
      timers(options.clock ? 1U : std::min(16U, worker_count(options)), options.clock.has_value()),
      insight(detail::make_insight(self)) {
  if (loop != nullptr) timers.drive_by(loop.get());
}

runtime::impl::~impl() = default;

void runtime::impl::task_started() noexcept { tasks_.start(); }

bool runtime::impl::admit_task() noexcept {
  tasks_.start();
  if (!closing.load(std::memory_order_seq_cst)) return true;  // draining/admit
  task_ended();
  return false;
}

void runtime::impl::task_ended() noexcept {
  if (pool.is_current() || detail::this_thread().current_executor == &pool) {
    // Our workers are joined before anything goes away, and whoever runs its own submission
    // (submissions/caller_runs) has counted itself in (parking/visit).
    if (tasks_.end()) tell_of_end();
    return;
  }
  const detail::task_count::outside_end here(tasks_);  // draining/last_access
  if (tasks_.end()) tell_of_end();
}

void runtime::impl::tell_of_end() noexcept {
  if (loop != nullptr) loop->notify();
  pool.implementation().end.end_if_drained();
}

bool runtime::impl::drain(std::int64_t deadline_ns) noexcept {
  if (loop == nullptr) return tasks_.wait_for_none(deadline_ns);
  const detail::task_count::watch announced(tasks_);
  const detail::driven_loop::condition drained(
      [](const void* tasks) noexcept {
        return static_cast<const detail::task_count*>(tasks)->live() == 0;
      },
      &tasks_);
  return loop->run_until(drained, deadline_ns) == detail::driven_loop::ending::done;
}

void runtime::impl::shutdown() noexcept {
  // The numbers are those in runtime/src/runtime/README.md, "Shutting down".
  std::call_once(shut_down_, [this] {
    pool.implementation().end.close_for_runtime();                 // 1, 2
    stop_all_roots();                                              // 3
    if (!drain(platform::no_deadline)) report_stalled_shutdown();  // 4
    tasks_.wait_for_outside_ends();                                // 5
    pool.implementation().end.reopen();                            // 6: submissions/reopen
    services.stop();                                               // 7
    if (loop != nullptr) (void)loop->run_until_idle();             // 8: late start jobs
    pool.stop();                                                   // 9
    if (observer != nullptr) observer->wait_for_visitors();        // 10
  });
}

void runtime::impl::report_stalled_shutdown() const noexcept {
  std::fprintf(
      stderr,
      "tandem: a runtime with a virtual clock cannot end: %zu tasks were asked to stop and "
      "wait all the same, and nothing is left that could wake them (seed %llu)\n%s",
      live(), static_cast<unsigned long long>(loop->seed()),
      detail::describe_waits(*insight).c_str());
  std::terminate();
}

void runtime::impl::workers_are_idle() noexcept {
  if (tasks_.live() != 0 && insight != nullptr) detail::workers_are_idle(*insight);
}

stop_state& runtime::impl::root_stop() noexcept { return roots_.of_this_thread(); }

void runtime::impl::close() noexcept {
  // draining/close, in this order.
  tasks_.watch_for_good();
  closing.store(true, std::memory_order_seq_cst);
}

std::string runtime::impl::describe_tasks() const {
  const std::size_t count = live();
  if (count == 0) return "";
  detail::live_tasks tasks;
  // stopping/late_root. Whoever has not begun is not there.
  roots_.for_each([&tasks](const stop_state& each) { tasks.add_below(each); });
  return tasks.text(count);
}

void runtime::impl::start_recording(std::string path, const trace_options& wanted) {
  pool.implementation().changes.make_observer();  // so that roots ask whether they are recorded
  recording.start(std::move(path), wanted);
}

void runtime::impl::add_live_tasks(detail::task_names& out) const {
  roots_.for_each([&out](const stop_state& each) { detail::add_names_below(each, out); });
}

std::vector<detail::timed_decision> runtime::impl::timed_decisions() {
  std::vector<detail::timed_decision> out;
  const std::int64_t born = pool.implementation().born.time_since_epoch().count();
  for (const pool_decision& each : pool.decisions()) {
    out.push_back(detail::timed_decision{born + each.when.count(), "workers", each});
  }
  services.append_decisions(out);
  return out;
}

detail::driven_loop& runtime::impl::driven(const char* what) {
  detail::refuse_blocking(what);
  detail::refuse_if_forked(*pool.owner(), what);
  if (loop != nullptr) return *loop;
  throw std::logic_error(std::string(what) +
                         ": this runtime has threads that run its tasks. Set "
                         "runtime_options::min_threads to 0, or ::clock to a virtual_time, for one "
                         "that its owner runs.");
}

namespace detail {

timer_service& timers_of(tandem::runtime& owner) noexcept { return owner.implementation().timers; }
recorder& recorder_of(tandem::runtime& owner) noexcept { return owner.implementation().recording; }

}  // namespace detail

}  // namespace tandem::inline v0
