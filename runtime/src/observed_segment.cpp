// observed_segment.cpp: where the segments of an observed task begin and end. Protocol M1-M6: runtime/README.md.
// SPDX-License-Identifier: MIT
#include <tandem/detail/observed_segment.hpp>

#include <utility>

#include <tandem/detail/promise_base.hpp>
#include <tandem/environment.hpp>

#include "task_observer.hpp"
#include "task_record.hpp"

namespace tandem::inline v0::detail {

constinit std::atomic<std::uint32_t> observing_runtimes{0};

namespace {
// M2. Segments are numbered from 1, so none has this bit.
constexpr std::uint64_t queued_mark = std::uint64_t{1} << 63;
}  // namespace

void mark_queued(promise_base& frame) noexcept {
  task_record* const record = frame.env != nullptr ? frame.env->record() : nullptr;
  if (record == nullptr) return;
  const std::int64_t now = record->observer.now_ns();
  frame.segment = queued_mark | static_cast<std::uint64_t>(now);
  record->queued(now);
}

std::int64_t queued_at(const promise_base& frame) noexcept {
  const bool is_marked = (frame.segment & queued_mark) != 0;
  return is_marked ? static_cast<std::int64_t>(frame.segment & ~queued_mark) : -1;
}

observed_segment::observed_segment(thread_context& context, task_record* of,
                                   std::int64_t queued_at_ns) noexcept
    : context_(context), outer_(std::exchange(context.observed, this)) {
  if (of != nullptr) begin(*of, queued_at_ns, false);
}

observed_segment::~observed_segment() {
  end();
  context_.observed = outer_;
}

void observed_segment::begin(task_record& of, std::int64_t queued_at_ns, bool is_first) noexcept {
  task_observer& observer = of.observer;
  of_ = &of;
  is_visitor_ = observer.is_visitor();
  if (is_visitor_) observer.visitor_came();
  began_ns_ = observer.now_ns();
  number_ = of.segment_begins(began_ns_, queued_at_ns >= 0);
  if (is_first) observer.task_began(of, began_ns_);
  observer.segment_began(of, began_ns_, queued_at_ns >= 0 ? began_ns_ - queued_at_ns : -1, number_);
}

void observed_segment::end() noexcept {
  task_record* const of = std::exchange(of_, nullptr);
  if (of == nullptr) return;
  task_observer& observer = of->observer;
  observer.segment_ended(*of, began_ns_, number_);
  if (is_visitor_) observer.visitor_leaves();
}

task_record* observed_segment::enter(task_record* first) noexcept {
  task_record* const interrupted = of_;
  end();
  if (first != nullptr) begin(*first, first->spawned_ns(), true);
  return interrupted;
}

void observed_segment::go_on_with(task_record* interrupted) noexcept {
  if (interrupted != nullptr) begin(*interrupted, -1, false);
}

}  // namespace tandem::inline v0::detail
