// task_observer.cpp: which tasks are observed, and who hears of them. Protocol M1-M6: runtime/README.md.
// SPDX-License-Identifier: MIT
#include "task_observer.hpp"

#include <exception>
#include <new>
#include <thread>

#include <tandem/detail/observed_segment.hpp>

#include "runtime_impl.hpp"
#include "worker_pool_impl.hpp"

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

namespace {

/// As many numbers as the workers of the largest pool may have (J7).
constexpr std::size_t most_numbers = 2048;

/// Neighbours in id are neighbours in time: the choice must not beat with a rhythm of theirs.
std::uint64_t mixed(std::uint64_t id) noexcept {  // the finaliser of SplitMix64
  id = (id ^ (id >> 30)) * 0xBF58476D1CE4E5B9U;
  id = (id ^ (id >> 27)) * 0x94D049BB133111EBU;
  return id ^ (id >> 31);
}

bool is_chosen(std::uint64_t number, std::uint32_t one_in) noexcept {
  return one_in == 1 || (one_in != 0 && number % one_in == 0);
}

}  // namespace

std::unique_ptr<task_observer> task_observer::make(runtime::impl& owner,
                                                   const pool_options& options) {
  if (!options.hooks.any() && options.timed_tasks_one_in == 0) return nullptr;
  return std::make_unique<task_observer>(owner, options);
}

task_observer::task_observer(runtime::impl& owner, const pool_options& options)
    : owner_(owner),
      hooks_(options.hooks),
      times_one_in_(options.timed_tasks_one_in),
      has_timed_(options.timed_tasks_one_in != 0),
      by_worker_(most_numbers) {
  observing_runtimes.fetch_add(1, std::memory_order_relaxed);
}

task_observer::~task_observer() {
  observing_runtimes.fetch_sub(1, std::memory_order_relaxed);
  for (const std::atomic<worker_times*>& each : by_worker_) {
    delete each.load(std::memory_order_relaxed);  // the workers have been joined
  }
}

std::int64_t task_observer::now_ns() const noexcept {
  return owner_.timers.now().time_since_epoch().count();
}

task_record* task_observer::task_spawned(const environment& task) noexcept {
  const std::uint64_t number = mixed(task.id());
  const bool told = hooks_.any() && is_chosen(number, hooks_.one_in);
  const bool timed = is_chosen(number, times_one_in_.load(std::memory_order_relaxed));
  if (!told && !timed) return nullptr;
  try {
    return new task_record(*this, task, now_ns(), told, timed);
  } catch (const std::bad_alloc&) {
    return nullptr;  // a task is more than what is told of it
  }
}

task_event task_observer::event_of(const task_record& of, std::int64_t now_ns) noexcept {
  task_event event;
  event.id = of.id;
  event.name = of.name;
  event.spawned_at = of.spawned_at;
  event.worker = current_worker_index();
  event.when = clock::time_point(std::chrono::nanoseconds(now_ns));
  return event;
}

void task_observer::tell(const task_hooks::hook& hook, const task_event& event) noexcept {
  try {
    hook(event);
  } catch (...) {
    owner_.suppressed(std::current_exception());
  }
}

void task_observer::task_began(const task_record& of, std::int64_t now_ns) noexcept {
  if (!of.told || !hooks_.on_task_begin) return;
  task_event event = event_of(of, now_ns);
  event.queue_wait = std::chrono::nanoseconds(now_ns - of.spawned_ns());
  event.segments = 1;
  tell(hooks_.on_task_begin, event);
}

void task_observer::segment_began(const task_record& of, std::int64_t now_ns, std::int64_t wait_ns,
                                  std::uint64_t number) noexcept {
  if (of.timed && wait_ns >= 0) count(part::queue_wait, wait_ns);
  if (!of.told || !hooks_.before_segment) return;
  task_event event = event_of(of, now_ns);
  event.queue_wait = std::chrono::nanoseconds(std::max<std::int64_t>(0, wait_ns));
  event.segments = number;
  tell(hooks_.before_segment, event);
}

void task_observer::segment_ended(task_record& of, std::int64_t began_ns,
                                  std::uint64_t number) noexcept {
  const std::int64_t now = now_ns();
  if (of.timed) count(part::run, now - began_ns);
  const bool told = of.told && hooks_.after_segment;
  task_event event;
  if (told) {
    event = event_of(of, now);
    event.run = std::chrono::nanoseconds(now - began_ns);
    event.segments = number;
  }
  // M5. Unless we are told to delete it, the record may be gone from here on.
  if (of.segment_ends(now)) delete &of;
  if (told) tell(hooks_.after_segment, event);
}

void task_observer::task_ended(task_record& of, task_outcome outcome) noexcept {
  observed_segment* here = this_thread().observed;
  if (here != nullptr && here->of() != &of)
    here = nullptr;  // it is dropped by somebody, or ends late
  const std::int64_t now = now_ns();
  task_event event;
  if (of.told) event = event_of(of, now);
  const bool told = of.told;
  const bool with_segment = here != nullptr;
  if (with_segment && of.timed) count(part::run, now - here->began_ns());
  if (of.task_ends(now, with_segment, event)) delete &of;
  if (with_segment) here->leave();
  if (told && with_segment && hooks_.after_segment) {
    task_event segment = event;
    segment.queue_wait = task_event::duration::zero();
    segment.run = std::chrono::nanoseconds(now - here->began_ns());
    segment.suspended = task_event::duration::zero();
    segment.segments = here->number();
    tell(hooks_.after_segment, segment);
  }
  if (told && hooks_.on_task_end) {
    event.outcome = outcome;
    tell(hooks_.on_task_end, event);
  }
  if (with_segment && here->is_visitor()) visitor_leaves();
}

bool task_observer::is_visitor() const noexcept { return !owner_.pool.is_current(); }

void task_observer::wait_for_visitors() const noexcept {
  while (visitors_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

task_observer::worker_times* task_observer::own_times() noexcept {
  if (is_visitor()) return nullptr;
  const auto number = static_cast<std::size_t>(current_worker_index());
  if (number >= by_worker_.size()) return nullptr;
  std::atomic<worker_times*>& slot = by_worker_[number];
  worker_times* there = slot.load(std::memory_order_acquire);  // of the thread that had the number
  if (there == nullptr) {
    there = new (std::nothrow) worker_times();
    slot.store(there, std::memory_order_release);  // pairs with add_times()
  }
  return there;
}

void task_observer::count(part which, std::int64_t time_ns) noexcept {
  const std::chrono::nanoseconds time(time_ns);
  if (worker_times* const own = own_times()) {
    (which == part::run ? own->run : own->queue_wait).add(time);
  } else {
    (which == part::run ? by_others_.run : by_others_.queue_wait).add(time);
  }
}

void task_observer::add_times(duration_histogram& queue_wait,
                              duration_histogram& run) const noexcept {
  for (const std::atomic<worker_times*>& each : by_worker_) {
    const worker_times* const there =
        each.load(std::memory_order_acquire);  // pairs with own_times()
    if (there == nullptr) continue;
    there->queue_wait.add_to(queue_wait);
    there->run.add_to(run);
  }
  by_others_.queue_wait.add_to(queue_wait);
  by_others_.run.add_to(run);
}

}  // namespace detail
}  // namespace tandem::inline v0
