// observed_segment.cpp: where the segments of an observed task begin and end. Protocol records: runtime/src/observe/README.md.
// SPDX-License-Identifier: MIT
#include "observe/observed_segment.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <tandem/detail/promise_base.hpp>
#include <tandem/environment.hpp>

#include "crew/worker.hpp"
#include "observe/task_observer.hpp"
#include "observe/task_record.hpp"
#include "recorder/trace_point.hpp"

namespace tandem::inline v0::detail {

namespace {
// records/queued. Segments are numbered from 1, so none has this bit.
constexpr std::uint64_t queued_mark = std::uint64_t{1} << 63;
}  // namespace

namespace {

/// Apart, so that whoever only records does not pay for it.
TANDEM_NOINLINE void mark_observed(promise_base& frame) noexcept {
  const environment& task = *frame.env;
  if (is_recorded()) record_event(this_thread(), trace_kind::queued, task);
  task_record* const record = task.record();
  const thread_context& context = this_thread();
  const task_record* const waker = context.observed != nullptr ? context.observed->of() : nullptr;
  if (waker != nullptr && waker != record && waker->counted) {
    task_observer& observer = waker->observer;
    observer.count(observer.worker_of(context), *waker, name_counts::what::wakes);
  }
  if (record == nullptr) return;
  task_observer& observer = record->observer;
  if (record->counted) {
    observer.count(observer.worker_of(context), *record, name_counts::what::waits);
  }
  const std::int64_t now = observer.now_ns();
  frame.segment = queued_mark | static_cast<std::uint64_t>(now);
  record->queued(now);
}

}  // namespace

void mark_queued(promise_base& frame) noexcept {
  if (frame.env == nullptr) return;
  if (any_records()) {
    mark_observed(frame);
  } else {
    record_event(this_thread(), trace_kind::queued, *frame.env);
  }
}

std::int64_t queued_at(const promise_base& frame) noexcept {
  const bool is_marked = (frame.segment & queued_mark) != 0;
  return is_marked ? static_cast<std::int64_t>(frame.segment & ~queued_mark) : -1;
}

observed_segment::observed_segment(thread_context& context, task_record* of,
                                   std::int64_t queued_at_ns) noexcept
    : observed_segment(context) {
  if (of != nullptr) {
    begin(*of, queued_at_ns, false, not_read);
  } else {
    forget_turn();
  }
}

void observed_segment::forget_turn() noexcept {
  if (worker* const here = context_.current_worker) here->turn_item = 0;
}

void observed_segment::note_turn(std::int64_t now_ns) noexcept {
  ended_ns_ = now_ns;
  ended_in_ = context_.next_segment;
  if (worker_ == nullptr) return;
  worker_->turn_ns = now_ns;
  worker_->turn_item = worker_->progress() + 1;
}

void observed_segment::begin(task_record& of, std::int64_t queued_at_ns, bool is_first,
                             std::int64_t now_ns) noexcept {
  task_observer& observer = of.observer;
  of_ = &of;
  worker_ = observer.worker_of(context_);
  if (worker_ == nullptr) [[unlikely]]
    observer.visitor_came();
  if (now_ns == not_read) {
    const bool at_once =
        worker_ != nullptr && worker_->turn_item == worker_->progress() && observer.is_real_time();
    now_ns = at_once ? worker_->turn_ns : observer.now_ns();
    if (at_once) worker_->turn_item = 0;  // it is good for one begin
  }
  // It may have been queued after the worker turned to its queues; and the clocks of two threads
  // are a little apart.
  began_ns_ = std::max(now_ns, queued_at_ns);
  const bool was_queued = queued_at_ns >= 0;
  const std::uint64_t number =
      is_first ? of.starts(began_ns_) : of.segment_begins(began_ns_, was_queued);
  const std::int64_t wait = was_queued ? began_ns_ - queued_at_ns : 0;
  if (of.timed && was_queued) observer.count_wait(worker_, wait);
  if (of.counted && was_queued) {
    observer.count(worker_, of, name_counts::what::queue_wait_ns, static_cast<std::uint64_t>(wait));
  }
  if (worker_ != nullptr && worker_->stolen_item != 0 &&
      worker_->stolen_item == worker_->progress()) [[unlikely]] {
    worker_->stolen_item = 0;  // what it runs on the same stack afterwards was not stolen
    if (of.counted) observer.count(worker_, of, name_counts::what::steals);
  }
  if (!of.told) return;
  task_event& event = *std::construct_at(&event_);
  event.id = of.id;
  event.name = of.name();
  event.spawned_at = of.spawned_at;
  event.worker =
      context_.current_worker != nullptr ? static_cast<int>(context_.current_worker->number) : -1;
  event.when = clock::time_point(std::chrono::nanoseconds(began_ns_));
  event.queue_wait = std::chrono::nanoseconds(wait);
  event.segments = number;
  if (is_first) observer.tell_task_begin(event);
  observer.tell_segment_begin(event);
}

std::int64_t observed_segment::end() noexcept {
  task_record* const of = std::exchange(of_, nullptr);
  task_observer& observer = of->observer;
  const std::int64_t now = observer.now_ns();
  const std::int64_t ran = std::max<std::int64_t>(0, now - began_ns_);
  if (of->timed) observer.count_run(worker_, ran);
  if (of->counted) observer.count_segment(worker_, *of, ran);
  const bool told = of->told;
  // records/end. Unless we are told to delete it, the record may be gone from here on.
  if (of->segment_ends(now)) delete of;
  if (told) tell_end(observer, now, ran);
  note_turn(now);
  if (worker_ == nullptr) [[unlikely]]
    observer.visitor_leaves();
  return now;
}

void observed_segment::tell_end(task_observer& observer, std::int64_t now_ns,
                                std::int64_t ran_ns) noexcept {
  event_.when = clock::time_point(std::chrono::nanoseconds(now_ns));
  event_.queue_wait = task_event::duration::zero();
  event_.run = std::chrono::nanoseconds(ran_ns);
  observer.tell_segment_end(event_);
}

void observed_segment::task_ends(task_outcome outcome) noexcept {
  task_record& of = *std::exchange(of_, nullptr);
  task_observer& observer = of.observer;
  const std::int64_t now = observer.now_ns();
  const std::int64_t ran = std::max<std::int64_t>(0, now - began_ns_);
  if (of.timed) observer.count_run(worker_, ran);
  if (of.counted) {
    observer.count_segment(worker_, of, ran);
    observer.count(worker_, of, name_counts::what::ended);
  }
  const bool told = of.told;
  if (told) tell_end(observer, now, ran);
  if (of.task_ends(now, true, told ? &event_ : nullptr)) delete &of;
  if (told) {
    event_.outcome = outcome;
    observer.tell_task_end(event_);
  }
  note_turn(now);
  if (worker_ == nullptr) [[unlikely]]
    observer.visitor_leaves();
}

task_record* observed_segment::enter(task_record* first) noexcept {
  task_record* const interrupted = of_;
  const std::int64_t now = of_ != nullptr ? end() : not_read;
  if (first != nullptr) {
    begin(*first, first->spawned_ns(), true, now);
  } else {
    ended_in_ = 0;  // what runs now is observed by nobody
    forget_turn();
  }
  return interrupted;
}

void observed_segment::go_on_with(task_record* interrupted) noexcept {
  if (interrupted != nullptr) {
    const bool at_once = ended_in_ == context_.next_segment && interrupted->observer.is_real_time();
    begin(*interrupted, -1, false, at_once ? ended_ns_ : not_read);
  } else {
    ended_in_ = 0;
    forget_turn();
  }
}

void note_stolen(worker& self) noexcept { self.stolen_item = self.progress() + 1; }

}  // namespace tandem::inline v0::detail
