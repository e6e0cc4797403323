// live_tasks.cpp: which tasks a runtime waits for, by the lines that have spawned them.
// SPDX-License-Identifier: MIT
#include "runtime/live_tasks.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

#include <tandem/detail/environment_kind.hpp>
#include <tandem/detail/place_text.hpp>
#include <tandem/environment.hpp>
#include <tandem/stop.hpp>

#include "recorder/trace_story.hpp"

namespace tandem::inline v0::detail {

namespace {

/// How many scopes within each other are looked at.
constexpr int deepest = 16;

void add_names(const stop_state& of, task_names& out, int depth) {
  // What is locked for a moment may be locked for ever: three looks.
  for (int attempt = 0; attempt < 3; ++attempt) {
    const bool seen = of.try_for_each_child([&out, depth](const stop_state& each) {
      out.add(environment::of(each));
      if (depth < deepest) add_names(each, out, depth + 1);
    });
    if (seen) return;
    std::this_thread::yield();
  }
}

bool same_line(const std::source_location& a, const std::source_location& b) noexcept {
  return a.line() == b.line() && a.column() == b.column() &&
         std::strcmp(a.file_name(), b.file_name()) == 0;
}

}  // namespace

void add_names_below(const stop_state& roots, task_names& out) { add_names(roots, out, 0); }

void live_tasks::add_below(const stop_state& roots) {
  // Spawns and ends take this lock for a moment each. It may also be held for ever, by what makes
  // us look.
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (roots.try_for_each_child([this](const stop_state& each) { add(environment::of(each)); })) {
      return;
    }
    std::this_thread::yield();
  }
  all_seen_ = false;
}

void live_tasks::add(const environment& task) {
  if (&task.kind() == &kind_of_mark) return;
  ++seen_;
  for (place& known : places_) {
    if (!same_line(known.where, task.spawned_at())) continue;
    ++known.count;
    return;
  }
  if (places_.size() < most_places) places_.push_back(place{task.spawned_at(), 1});
}

std::string live_tasks::text(std::size_t live) const {
  std::string out = "  " + std::to_string(live) + (live == 1 ? " task lives" : " tasks live") +
                    ": queued, running or suspended\n";
  std::vector<place> sorted = places_;
  std::sort(sorted.begin(), sorted.end(), [](const place& a, const place& b) {
    return a.count != b.count ? a.count > b.count : a.where.line() < b.where.line();
  });
  std::size_t named = 0;
  for (const place& each : sorted) {
    out += "    " + std::to_string(each.count) + " spawned at " + place_text(each.where) + "\n";
    named += each.count;
  }
  if (seen_ > named) out += "    " + std::to_string(seen_ - named) + " spawned elsewhere\n";
  // Two counts at about one moment.
  if (live > seen_) {
    out += "    " + std::to_string(live - seen_) +
           (all_seen_ ? " not begun, or in scopes of these\n" : " that could not be looked at\n");
  }
  return out;
}

}  // namespace tandem::inline v0::detail
