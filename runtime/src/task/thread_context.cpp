// thread_context.cpp: the thread-locals of the runtime, and the loop that resumes coroutines.
// SPDX-License-Identifier: MIT
#include <tandem/detail/thread_context.hpp>

#include <atomic>
#include <utility>

#include <tandem/detail/promise_base.hpp>
#include <tandem/environment.hpp>

#include "observe/observed_segment.hpp"
#include "recorder/trace_point.hpp"

namespace tandem::inline v0 {

namespace detail {

namespace {

/// calls/limit: how much of its stack a segment uses for nested calls; the rest is left to user
/// functions.
constexpr std::ptrdiff_t nested_call_bytes = 64 * 1024;

// Numbers are handed out to threads in blocks, so that taking one touches no shared line.
constexpr std::uint64_t segment_block = std::uint64_t{1} << 32;
constinit std::atomic<std::uint64_t> next_segment_block{1};

std::uint64_t take_segment_number(thread_context& context) noexcept {
  if (context.next_segment == context.segment_end) [[unlikely]] {
    // Relaxed: uniqueness is enough.
    context.next_segment = next_segment_block.fetch_add(segment_block, std::memory_order_relaxed);
    context.segment_end = context.next_segment + segment_block;
  }
  const std::uint64_t number = context.next_segment;
  context.next_segment = number + 1;
  return number;
}

}  // namespace

void run_chain(thread_context& context, std::coroutine_handle<> first) noexcept {
  TANDEM_ASSERT(context.segment == 0,
                "a job was run from inside a task: an executor runs jobs from a loop of its own");
  context.stack_limit = static_cast<const char*>(TANDEM_FRAME_ADDRESS()) - nested_call_bytes;
  std::coroutine_handle<> current = first;
  // Without symmetric transfer "nobody" comes here, too: that is no segment. Another copy of it is
  // only resumed in vain.
  const void* const nobody = std::noop_coroutine().address();
  do {
    context.segment = take_segment_number(context);
    current.resume();
    current = std::exchange(context.next, nullptr);
  } while (current && current.address() != nobody);
  context.segment = 0;
}

namespace {

// Apart, so that whoever is not observed, or is only recorded, does not pay for the rest.

TANDEM_NOINLINE void resume_observed(thread_context& context, promise_base& frame) noexcept {
  const environment* const task = frame.env;
  task_record* const record = task != nullptr ? task->record() : nullptr;
  const std::int64_t since = queued_at(frame);
  frame.segment = 0;  // records/queued: it says nothing until the frame is queued again
  const recorded_job recorded(context, task);
  const observed_segment here(context, record, since);
  run_chain(context, frame.handle());
}

TANDEM_NOINLINE void resume_recorded_anywhere(thread_context& context,
                                              promise_base& frame) noexcept {
  const recorded_job recorded(context, frame.env);
  run_chain(context, frame.handle());
}

TANDEM_NOINLINE void resume_recorded(thread_context& context, promise_base& frame) noexcept {
  if (context.ring == nullptr || frame.env == nullptr) [[unlikely]]
    return resume_recorded_anywhere(context, frame);
  record_event(context, trace_kind::begin, *frame.env);
  run_chain(context, frame.handle());
  record_end(context);
}

}  // namespace

void promise_base::resume_job(job* self) noexcept {
  auto& frame = *static_cast<promise_base*>(self);
  thread_context& context = this_thread();
  if (tasks_are_observed()) [[unlikely]] {
    any_records() ? resume_observed(context, frame) : resume_recorded(context, frame);
    return;
  }
  run_chain(context, frame.handle());
}

}  // namespace detail

}  // namespace tandem::inline v0
