// trace_story.cpp: the words of the rings become events with a time and a track.
// SPDX-License-Identifier: MIT
#include "recorder/trace_story.hpp"

#include <algorithm>

namespace tandem::inline v0::detail {

namespace {

/// What belongs to the event before.
bool follows(trace_kind kind) noexcept {
  return kind == trace_kind::name || kind == trace_kind::place;
}

bool has_no_time(trace_kind kind) noexcept { return kind == trace_kind::part || follows(kind); }

const char* text_at(std::uint64_t address) noexcept {
  return reinterpret_cast<const char*>(static_cast<std::uintptr_t>(address));  // NOLINT
}

bool is_of_task(trace_kind kind) noexcept {
  return kind == trace_kind::spawn || kind == trace_kind::queued || kind == trace_kind::begin ||
         kind == trace_kind::call || kind == trace_kind::task_end;
}

}  // namespace

void task_names::add(const environment& task) {
  known& entry = all_[task.id()];
  entry.name = task.name();
  entry.is_newest = true;
  entry.file = task.spawned_at().file_name();
  entry.line = task.spawned_at().line();
  if (task.is_part() && task.parent() != nullptr) entry.whole = task.parent()->id();
}

std::uint64_t task_names::task_of(std::uint64_t id) const noexcept {
  constexpr int deepest = 64;
  for (int i = 0; i < deepest; ++i) {
    const known* const there = find(id);
    if (there == nullptr || there->whole == 0) break;
    id = there->whole;
  }
  return id;
}

void trace_story::add(const ring_copy& ring) {
  const auto is_role = [](const trace_event& each) { return each.kind() == trace_kind::role; };
  // If nothing says who it was, it was the same all the time. Else what was before the first word
  // about that is not known, and left out.
  bool is_known = std::none_of(ring.events.begin(), ring.events.end(), is_role);
  std::uint32_t track = is_known ? track_of(ring, ring.role) : 0;
  for (std::size_t i = 0; i < ring.events.size();) {
    const trace_event& event = ring.events[i];
    if (is_role(event)) {
      is_known = true;
      track = track_of(ring, event.value());
    }
    if (event.kind() == trace_kind::part) names_.of(event.value()).whole = event.first;
    if (is_role(event) || has_no_time(event.kind()) || !is_known) {
      ++i;
      continue;
    }
    i += add_event(ring.events, i, track);
  }
}

std::size_t trace_story::add_event(const std::vector<trace_event>& events, std::size_t first,
                                   std::uint32_t track) {
  const trace_event& event = events[first];
  trace_entry made;
  made.ns = time_.ns_of(event.first);
  made.place = entries_.size();
  made.track = track;
  made.kind = event.kind();
  made.value = event.value();
  std::size_t next = first + 1;
  for (; next < events.size() && follows(events[next].kind()); ++next) {
    const trace_event& more = events[next];
    task_names::known& known = names_.of(made.value);
    if (more.kind() == trace_kind::name) {
      // Rings are read one after the other: the one with the end may have come first.
      const bool is_end = made.kind == trace_kind::task_end;
      if (is_end || !known.is_newest) known.name = text_at(more.first);
      known.is_newest = known.is_newest || is_end;
      made.outcome = static_cast<task_outcome>(more.value());
    } else {
      known.file = text_at(more.first);
      known.line = static_cast<std::uint32_t>(more.value());
    }
  }
  // What was in the ring before the last trace_to().
  if (made.ns >= time_.first_ns() && made.ns <= time_.now_ns()) entries_.push_back(made);
  return next - first;
}

void trace_story::add(std::vector<timed_decision> decisions) {
  for (timed_decision& each : decisions) {
    if (each.ns <= time_.now_ns()) decisions_.push_back(std::move(each));
  }
}

void trace_story::put_in_order() {
  // What one thread has done stays in its order.
  std::sort(entries_.begin(), entries_.end(), [](const trace_entry& a, const trace_entry& b) {
    return a.ns != b.ns ? a.ns < b.ns : a.place < b.place;
  });
  for (trace_entry& each : entries_) {
    if (is_of_task(each.kind)) each.value = names_.task_of(each.value);
  }
  begin_ns_ = entries_.empty() ? time_.now_ns() : entries_.front().ns;
  std::erase_if(decisions_, [this](const timed_decision& each) { return each.ns < begin_ns_; });
}

std::uint32_t trace_story::track_of(const ring_copy& ring, std::uint64_t role) {
  const auto is = static_cast<recorded_thread::role>(role & 0xFF);
  const std::uint64_t number = is == recorded_thread::role::outside ? ring.thread : role >> 8;
  const auto found = std::find_if(tracks_.begin(), tracks_.end(), [&](const trace_track& each) {
    return each.is == is && each.number == number;
  });
  if (found != tracks_.end()) return static_cast<std::uint32_t>(found - tracks_.begin());
  tracks_.push_back(trace_track{is, number});
  return static_cast<std::uint32_t>(tracks_.size() - 1);
}

}  // namespace tandem::inline v0::detail
