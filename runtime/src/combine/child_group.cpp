// child_group.cpp: how a group of children begins and ends, and what stops it.
// SPDX-License-Identifier: MIT
#include <tandem/detail/child_group.hpp>

#include <exception>

#include <tandem/errors.hpp>
#include <tandem/stop.hpp>

namespace tandem::inline v0::detail {

constinit const environment_kind child_group::surrounds_children(
    "when_all", false, [](const environment& of, wait_note& note) noexcept {
      const auto& self = *static_cast<const child_group*>(of.part());
      switch (self.kind_) {
        case group_kind::all: break;
        case group_kind::any: note.word = "when_any"; break;
        case group_kind::race: note.word = "race"; break;
      }
      const std::uint32_t left = self.remaining_.load(std::memory_order_relaxed);  // about now
      note.say("with %u %s", left,
               left == 1 ? "child that has not ended" : "children that have not ended");
    });

void child_group::open(thread_context& context, promise_base& parent, std::size_t count) noexcept {
  remaining_.store(static_cast<std::uint32_t>(count), std::memory_order_relaxed);  // groups/publish
  env_.set_kind(surrounds_children, this);
  env_.start_below(*parent.env);
  env_.set_home(parent.home);
  context.env = &env_;
}

void child_group::note_end(child_slot& slot) noexcept {
  // groups/note. This child has not been settled yet, so the group outlives what follows, even if
  // the stop lets all others end at once.
  outcome_base& room = *slot.place;
  const bool failed = room.error != nullptr;
  child_slot* none = nullptr;
  if (kind_ == group_kind::all) {
    if (!failed) return;
    if (env_.stop().stop_requested() && is_cancellation(room.error)) {
      // Relaxed: read after the join (groups/settle).
      cut_short_.compare_exchange_strong(none, &slot, std::memory_order_relaxed);
      return;
    }
  }
  // Relaxed: it decides between siblings; what it points to is read after the join (groups/settle).
  if (first_.compare_exchange_strong(none, &slot, std::memory_order_relaxed)) {
    env_.stop().request_stop(kind_ == group_kind::all ? stop_reason::sibling_failed
                                                      : stop_reason::race_lost);
  } else if (failed && kind_ != group_kind::any) {
    report_suppressed(env_, room.error);
    room.error = nullptr;
  }
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
  context.env = parent.env;
}

std::coroutine_handle<> child_group::child_ended(const ended_frame& child) noexcept {
  auto& slot = *static_cast<child_slot*>(child.link);
  child_group& self = *slot.group;
  self.note_end(slot);
  promise_base& parent = *child.continuation;
  if (self.settle(this_thread(), parent, 1)) return std::noop_coroutine();
  return continue_with(parent, child.home);
}

}  // namespace tandem::inline v0::detail
