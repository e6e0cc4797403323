// child_group.cpp: how a group of children begins and ends, and what stops it.
// SPDX-License-Identifier: MIT
#include <tandem/detail/child_group.hpp>

#include <exception>
#include <memory>
#include <utility>

#include <tandem/errors.hpp>
#include <tandem/stop.hpp>

namespace tandem::inline v0::detail {

constinit const environment_kind child_group::surrounds_children(
    "when_all", false,
    [](const environment& of, wait_note& note) noexcept {
      const auto& self = *static_cast<const child_group*>(of.part());
      switch (self.kind_) {
        case group_kind::all: break;
        case group_kind::any: note.word = "when_any"; break;
        case group_kind::race: note.word = "race"; break;
        case group_kind::success: note.word = "first_success"; break;
      }
      const std::uint32_t left = self.remaining_.load(std::memory_order_relaxed);  // about now
      note.say("with %u %s", left,
               left == 1 ? "child that has not ended" : "children that have not ended");
    },
    nullptr, &child_group::child_failed);

namespace {
constexpr std::size_t siblings_in_a_row = 8;  // after which the attention flag is honoured
}

void child_group::open(thread_context& context, promise_base& parent, std::size_t count) noexcept {
  remaining_.store(static_cast<std::uint32_t>(count), std::memory_order_relaxed);  // groups/publish
  std::construct_at(&env_, *parent.env, parent.home, surrounds_children, this);
  context.env = &env_;
}

bool child_group::call_rest(thread_context& context, promise_base& parent, std::size_t count,
                            std::int64_t end, std::size_t at, std::size_t ended,
                            promise_base* taken) noexcept {
  bool has_suspended = taken == nullptr;  // the one before
  for (; at < count; ++at) {
    promise_base* child = std::exchange(taken, nullptr);
    if (child == nullptr) {
      // groups/in_place, calls/limit. What has suspended may have left a frame in the next slot: it goes
      // on in this thread, in the environment that it has left, when the stack has unwound.
      if (context.next) break;
      // groups/in_place: what a child that waits has left in the lane comes first, by the loop.
      if (context.lane->position() != end - static_cast<std::int64_t>(at) + 1) break;
      // joins/next. What waits in other lanes gets its turn after some siblings, not after each: a
      // child that yields asks for that turn itself.
      if (has_suspended && at % siblings_in_a_row != 0) {
        if (context.lane->attention.load(std::memory_order_relaxed) && context.lane->empty()) {
          (void)look_after_lane(context, lane_look::siblings);  // thieves find nothing
        }
        child = static_cast<promise_base*>(context.lane->pop());
      } else {
        child = take_sibling(context);
      }
      if (child == nullptr) break;
      context.env = &env_;
    }
    const bool is_noted = !child->fails_into_environment();
    const auto* const slot = static_cast<const child_slot*>(child->link);
    has_suspended = !call(context, *child);
    if (has_suspended) continue;
    if (is_noted) note_end(*slot->place);
    ++ended;
  }
  if (ended == 0) return true;  // groups/in_place: nothing holds the group for us
  if (ended < count) return settle(context, parent, ended);
  close(context, parent);  // joins/all_here
  return false;
}

void child_group::note_end(outcome_base& room) noexcept {
  // groups/note. This child has not been settled yet, so the group outlives what follows, even if
  // the stop lets all others end at once.
  outcome_base* none = nullptr;
  // Relaxed, both: it decides between siblings; what it points to is read after the join
  // (groups/settle).
  if (kind_ == group_kind::success && room.error != nullptr && first() == nullptr) return;
  if (kind_ == group_kind::success && room.error != nullptr) {
    report_suppressed(env_, std::exchange(room.error, nullptr));
  } else if (first_.compare_exchange_strong(none, &room, std::memory_order_relaxed)) {
    env_.stop().request_stop(stop_reason::race_lost);
  } else if (room.error != nullptr && kind_ == group_kind::race) {
    report_suppressed(env_, room.error);
    room.error = nullptr;
  }
}

void child_group::child_failed(const environment& of, outcome_base& room) noexcept {
  const_cast<child_group*>(static_cast<const child_group*>(of.part()))
      ->note_failure(room);  // NOLINT
}

void child_group::note_failure(outcome_base& room) noexcept {
  // groups/note, by the child itself, before its end. Relaxed, both: as in note_end().
  outcome_base* none = nullptr;
  if (env_.stop().stop_requested() && is_cancellation(room.error)) {
    if (cut_short_.compare_exchange_strong(none, &room, std::memory_order_relaxed)) return;
  } else if (first_.compare_exchange_strong(none, &room, std::memory_order_relaxed)) {
    env_.stop().request_stop(stop_reason::sibling_failed);
    return;
  } else {
    report_suppressed(env_, room.error);
  }
  std::destroy_at(&room.error);
}

std::exception_ptr child_group::take_failure() noexcept {
  std::exception_ptr failure;
  // A failure counts more than that a child was cut short.
  for (std::atomic<outcome_base*>* each : {&cut_short_, &first_}) {
    outcome_base* const room = each->exchange(nullptr, std::memory_order_relaxed);
    if (room == nullptr) continue;
    failure = std::move(room->error);
    std::destroy_at(&room->error);  // a room as of a fork
  }
  return failure;
}

bool child_group::settle(thread_context& context, promise_base& parent,
                         std::size_t count) noexcept {
  const auto n = static_cast<std::uint32_t>(count);
  // groups/settle. acq_rel: the last one sees what every child has written.
  if (remaining_.fetch_sub(n, std::memory_order_acq_rel) != n) return true;
  close(context, parent);
  return false;
}

void child_group::close(thread_context& context, promise_base& parent) noexcept {
  env_.end();  // groups/leave
  std::destroy_at(&env_);
  context.env = parent.env;
}

std::coroutine_handle<> child_group::settle_one(const ended_frame& child) noexcept {
  promise_base& parent = *child.continuation;
  if (settle(this_thread(), parent, 1)) return std::noop_coroutine();
  return continue_with(parent, child.home);
}

std::coroutine_handle<> child_group::child_ended(const ended_frame& child) noexcept {
  return static_cast<child_group*>(promise_base::without_bits(child.link))->settle_one(child);
}

std::coroutine_handle<> child_group::noted_child_ended(const ended_frame& child) noexcept {
  const auto& slot = *static_cast<child_slot*>(child.link);
  child_group& self = *slot.group;
  self.note_end(*slot.place);
  return self.settle_one(child);
}

}  // namespace tandem::inline v0::detail
