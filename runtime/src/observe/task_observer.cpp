// task_observer.cpp: which tasks are observed, and who hears of them. Protocol records: runtime/src/observe/README.md.
// SPDX-License-Identifier: MIT
#include "observe/task_observer.hpp"

#include <exception>
#include <new>
#include <thread>

#include <tandem/detail/observing.hpp>
#include <tandem/detail/split_mix.hpp>

#include "crew/worker.hpp"
#include "observe/observed_segment.hpp"
#include "process/suppressed.hpp"

namespace tandem::inline v0 {

const char* to_string(task_outcome outcome) noexcept {
  switch (outcome) {
    case task_outcome::running: return "running";
    case task_outcome::completed: return "completed";
    case task_outcome::failed: return "failed";
    case task_outcome::cancelled: return "cancelled";
    case task_outcome::removed: return "removed";
  }
  return "unknown";
}

namespace detail {

void rename_task(task_record& of, const char* name) noexcept { of.observer.rename(of, name); }

namespace {

bool is_chosen(std::uint64_t number, std::uint32_t one_in) noexcept {
  return one_in == 1 || (one_in != 0 && number % one_in == 0);
}

}  // namespace

std::unique_ptr<task_observer> task_observer::make(tandem::runtime& owner, worker_pool& pool,
                                                   const pool_options& options, bool is_real_time) {
  if (!options.hooks.any() && options.timed_tasks_one_in == 0 && !options.count_tasks_by_name) {
    return nullptr;
  }
  return std::make_unique<task_observer>(owner, pool, options, is_real_time);
}

task_observer::task_observer(tandem::runtime& owner, worker_pool& pool, const pool_options& options,
                             bool is_real_time)
    : owner_(owner),
      pool_(pool),
      is_real_time_(is_real_time),
      ticks_(is_real_time_ && platform::has_ticks()),
      hooks_(options.hooks),
      tells_(hooks_.any()),
      times_one_in_(options.timed_tasks_one_in),
      has_timed_(options.timed_tasks_one_in != 0) {
  if (options.count_tasks_by_name) {
    make_names();
    count_by_name(true);
  }
  if (tells_ || options.timed_tasks_one_in != 0) watch();
}

void task_observer::make_names() {
  if (own_names_ != nullptr) return;
  own_names_ = std::make_unique<name_counts>();
  names_.store(own_names_.get(), std::memory_order_release);  // pairs with count()
}

void task_observer::count_by_name(bool on) noexcept {
  if (on) watch();
  counts_.store(on, std::memory_order_release);  // pairs with task_spawned()
}

std::vector<task_counts> task_observer::counts() const {
  const name_counts* const names = names_.load(std::memory_order_acquire);
  return names != nullptr ? names->read() : std::vector<task_counts>();
}

void task_observer::count_segment(const worker* on, const task_record& of,
                                  std::int64_t ran_ns) noexcept {
  constexpr std::int64_t stall_ns = std::chrono::nanoseconds(task_counts::stalled_after).count();
  count(on, of, name_counts::what::run_ns, static_cast<std::uint64_t>(ran_ns));
  if (ran_ns >= stall_ns) count(on, of, name_counts::what::stalls);
}

void task_observer::rename(task_record& of, const char* name) noexcept {
  name_counts* const names = names_.load(std::memory_order_acquire);
  of.rename(name, of.counted ? names->index_of(name) : name_counts::index{0});
}

void task_observer::watch() noexcept {
  if (!watches_.exchange(true, std::memory_order_relaxed)) {
    task_watchers.fetch_add(1, std::memory_order_relaxed);
  }
}

task_observer::~task_observer() {
  if (watches_.load(std::memory_order_relaxed)) {
    task_watchers.fetch_sub(1, std::memory_order_relaxed);
  }
}

task_record* task_observer::task_spawned(const environment& task) noexcept {
  const std::uint32_t times_one_in = times_one_in_.load(std::memory_order_relaxed);
  // Neighbours in id are neighbours in time: the choice must not beat with a rhythm of theirs. All
  // or none need none.
  const bool chooses = (tells_ && hooks_.one_in != 1) || times_one_in > 1;
  const std::uint64_t number = chooses ? mixed(task.id()) : 0;
  const bool told = tells_ && is_chosen(number, hooks_.one_in);
  const task_record::wishes wanted{told, is_chosen(number, times_one_in),
                                   counts_.load(std::memory_order_acquire)};
  if (!wanted.told && !wanted.timed && !wanted.counted) return nullptr;
  try {
    name_counts* const names = names_.load(std::memory_order_relaxed);  // counts_ was acquired
    const name_counts::index of = wanted.counted ? names->index_of(task.name()) : 0;
    return new task_record(*this, task, now_ns(), wanted, of);
  } catch (const std::bad_alloc&) {
    return nullptr;  // a task is more than what is told of it
  }
}

void task_observer::report_failure() noexcept {
  suppressed(owner_.options(), std::current_exception());
}

void task_observer::task_ended(task_record& of, task_outcome outcome) noexcept {
  observed_segment* const here = this_thread().observed;
  if (here != nullptr && here->of() == &of) [[likely]] {
    here->task_ends(outcome);
    return;
  }
  // It is dropped by somebody, or ends late.
  task_observer& observer = of.observer;
  task_event event;
  event.id = of.id;
  event.name = of.name();
  event.spawned_at = of.spawned_at;
  event.worker = current_worker_index();
  event.outcome = outcome;
  const bool told = of.told;
  if (of.counted) {
    observer.count(observer.worker_of(this_thread()), of, name_counts::what::ended);
  }
  if (of.task_ends(observer.now_ns(), false, &event)) delete &of;
  if (told) observer.tell_task_end(event);
}

worker* task_observer::worker_of(const thread_context& context) const noexcept {
  worker* const self = context.current_worker;
  return self != nullptr && &self->owner == &pool_.implementation() ? self : nullptr;
}

void task_observer::wait_for_visitors() const noexcept {
  while (visitors_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

void task_observer::count(const worker* on, bool is_wait, std::int64_t time_ns) noexcept {
  const std::chrono::nanoseconds time(time_ns);
  if (worker_times* const own = on != nullptr ? by_worker_.of(*on) : nullptr) {
    (is_wait ? own->queue_wait : own->run).add(time);
  } else {
    (is_wait ? by_others_.queue_wait : by_others_.run).add(time);
  }
}

void task_observer::add_times(duration_histogram& queue_wait,
                              duration_histogram& run) const noexcept {
  by_worker_.for_each([&](const worker_times& of) {
    of.queue_wait.add_to(queue_wait);
    of.run.add_to(run);
  });
  by_others_.queue_wait.add_to(queue_wait);
  by_others_.run.add_to(run);
}

}  // namespace detail
}  // namespace tandem::inline v0
