// trace_json.cpp: events become slices of threads, spans of tasks, and flows from who wakes to who is woken.
// SPDX-License-Identifier: MIT
#include "recorder/trace_json.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "recorder/trace_page.hpp"

namespace tandem::inline v0::detail {

namespace {

using arguments = trace_page::arguments;

/// Draws a story, event by event.
class drawing {
 public:
  drawing(const trace_story& story, trace_page& page)
      : story_(story), page_(page), threads_(story.tracks().size()) {}

  void draw() {
    name_tracks();
    for (const trace_entry& each : story_.entries()) add(each);
    end_all();
    add_decisions();
  }

 private:
  /// A segment that a thread has begun and not ended.
  struct segment {
    std::uint64_t task;
    std::int64_t since;
    bool is_job;  // else it was called by the one below it
  };
  struct flow {
    std::uint64_t number;
    const char* name;
  };
  struct thread {
    std::vector<segment> open;  // the innermost last
    std::int64_t parked = -1;   // since; -1: it is up
    std::int64_t looks = -1;    // a completion thread, since: it has come back from its ring
    std::vector<flow> wakes;    // that it has not heard yet
  };
  enum class state : std::uint8_t { none, queued, running, suspended };
  struct task {
    bool has_span = false;
    bool has_ended = false;
    state now = state::none;
    std::uint32_t running = 0;
    std::uint32_t queued = 0;
    std::deque<flow> wakes;  // of its frames, the oldest first
  };

  static const char* name_of(state what) noexcept {
    switch (what) {
      case state::queued: return "queued";
      case state::running: return "running";
      default: return "suspended";
    }
  }

  std::string label_of(std::uint64_t id) const {
    const task_names::known* const known = story_.names().find(id);
    if (known != nullptr && *known->name != '\0') return known->name;
    return "task " + std::to_string(id);
  }
  arguments about(std::uint64_t id) const {
    arguments out;
    out.add("task", id);
    const task_names::known* const known = story_.names().find(id);
    if (known != nullptr && known->file != nullptr && known->line != 0) {
      out.add("spawned_at", std::string(known->file) + ":" + std::to_string(known->line));
    }
    return out;
  }
  std::uint32_t decisions_track() const noexcept {
    return static_cast<std::uint32_t>(threads_.size()) + 1;
  }
  // Tracks are numbered from 1: 0 is the process itself.
  static std::uint32_t number_of(std::uint32_t track) noexcept { return track + 1; }

  void name_tracks() {
    for (std::uint32_t i = 0; i < threads_.size(); ++i) {
      const trace_track& each = story_.tracks()[i];
      const std::string number = std::to_string(each.number);
      const auto order = static_cast<std::uint32_t>(each.number % 10'000);
      switch (each.is) {
        case recorded_thread::role::worker:
          page_.track(number_of(i), "worker " + number, 10'000 + order);
          break;
        case recorded_thread::role::completion:
          page_.track(number_of(i), "completion thread " + number, 20'000 + order);
          break;
        case recorded_thread::role::timers: page_.track(number_of(i), "timers", 25'000); break;
        case recorded_thread::role::outside:
          page_.track(number_of(i), "thread " + number + " from outside", 30'000 + order);
          break;
      }
    }
    if (!story_.decisions().empty()) page_.track(decisions_track(), "pool decisions", 1);
  }

  void add(const trace_entry& event) {
    thread& here = threads_[event.track];
    switch (event.kind) {
      case trace_kind::spawn: spawned(event, here); break;
      case trace_kind::queued: queued(event, here); break;
      case trace_kind::begin: begins(event, here, true); break;
      case trace_kind::call: begins(event, here, false); break;
      case trace_kind::back: back(event, here); break;
      case trace_kind::end: ends(event, here); break;
      case trace_kind::task_end: task_ends(event); break;
      case trace_kind::park:
        here.parked = event.ns;
        here.looks = -1;
        break;
      case trace_kind::wake: wakes(event, here); break;
      case trace_kind::rouse: rouses(event, here); break;
      case trace_kind::steal: steals(event); break;
      case trace_kind::look: looks(event, here); break;
      default: break;
    }
  }

  task& task_of(const trace_entry& event) {
    task& found = tasks_[event.value];
    if (found.has_span || found.has_ended) return found;
    found.has_span = true;
    page_.span_begin(event.value, number_of(event.track), event.ns, label_of(event.value),
                     about(event.value));
    return found;
  }

  /// The span of what it is now ends if that has changed, and another one begins.
  void change(task& of, const trace_entry& event, std::uint64_t id) {
    if (of.has_ended) return;
    const state next = of.running != 0  ? state::running
                       : of.queued != 0 ? state::queued
                                        : state::suspended;
    if (next == of.now) return;
    const std::uint32_t track = number_of(event.track);
    if (of.now != state::none) page_.span_end(id, track, event.ns, name_of(of.now), arguments());
    of.now = next;
    page_.span_begin(id, track, event.ns, name_of(next), arguments());
  }

  /// A flow begins at what the thread does just now.
  flow begin_flow(const trace_entry& event, const thread& here, const char* name) {
    const flow made{++flows_, name};
    const std::uint32_t track = number_of(event.track);
    if (here.open.empty() && here.looks < 0) {
      page_.slice(track, event.ns, event.ns, name, arguments());
    }
    page_.flow_begin(made.number, track, event.ns, name);
    return made;
  }

  void spawned(const trace_entry& event, const thread& here) {
    task& of = task_of(event);
    ++of.queued;
    change(of, event, event.value);
    of.wakes.push_back(begin_flow(event, here, "spawns"));
  }

  void queued(const trace_entry& event, const thread& here) {
    task& of = task_of(event);
    ++of.queued;
    change(of, event, event.value);
    // A task that gives way has woken itself.
    const bool is_itself = !here.open.empty() && here.open.back().task == event.value;
    of.wakes.push_back(is_itself ? flow{0, ""} : begin_flow(event, here, "wakes"));
  }

  void begins(const trace_entry& event, thread& here, bool is_job) {
    task& of = task_of(event);
    if (!of.wakes.empty()) {
      const flow woken = of.wakes.front();
      of.wakes.pop_front();
      if (woken.number != 0) {
        page_.flow_end(woken.number, number_of(event.track), event.ns, woken.name, false);
      }
    }
    if (of.queued != 0) --of.queued;
    ++of.running;
    change(of, event, event.value);
    here.open.push_back(segment{event.value, event.ns, is_job});
  }

  void close_innermost(const trace_entry& event, thread& here) {
    const segment closed = here.open.back();
    here.open.pop_back();
    page_.slice(number_of(event.track), closed.since, event.ns, label_of(closed.task),
                about(closed.task));
    task& of = tasks_[closed.task];
    if (of.running != 0) --of.running;
    change(of, event, closed.task);
  }

  void back(const trace_entry& event, thread& here) {
    if (!here.open.empty() && !here.open.back().is_job) close_innermost(event, here);
  }

  void ends(const trace_entry& event, thread& here) {
    while (!here.open.empty()) {
      const bool was_job = here.open.back().is_job;
      close_innermost(event, here);
      if (was_job) return;
    }
  }

  void task_ends(const trace_entry& event) {
    task& of = task_of(event);
    if (of.has_ended) return;
    const std::uint32_t track = number_of(event.track);
    if (of.now != state::none)
      page_.span_end(event.value, track, event.ns, name_of(of.now), arguments());
    arguments how;
    how.add("outcome", to_string(event.outcome));
    page_.span_end(event.value, track, event.ns, label_of(event.value), how);
    of.has_ended = true;
    of.wakes.clear();
  }

  void wakes(const trace_entry& event, thread& here) {
    const std::uint32_t track = number_of(event.track);
    if (here.parked >= 0) {
      const bool is_worker = story_.tracks()[event.track].is == recorded_thread::role::worker;
      page_.slice(track, here.parked, event.ns, is_worker ? "parked" : "waits for its ring",
                  arguments());
      here.parked = -1;
    }
    if (story_.tracks()[event.track].is == recorded_thread::role::completion) here.looks = event.ns;
    for (const flow& each : here.wakes) {
      page_.flow_end(each.number, track, event.ns, each.name, true);
    }
    here.wakes.clear();
  }

  void rouses(const trace_entry& event, const thread& here) {
    for (std::uint32_t i = 0; i < threads_.size(); ++i) {
      const trace_track& each = story_.tracks()[i];
      if (each.is != recorded_thread::role::worker || each.number != event.value) continue;
      threads_[i].wakes.push_back(begin_flow(event, here, "wakes a worker"));
    }
  }

  void steals(const trace_entry& event) {
    constexpr std::uint64_t low = (std::uint64_t{1} << trace_half_bits) - 1;
    arguments what;
    what.add("jobs", event.value >> trace_half_bits).add("of worker", event.value & low);
    page_.instant(number_of(event.track), event.ns, "steals", what);
  }

  void looks(const trace_entry& event, thread& here) {
    constexpr std::uint64_t low = (std::uint64_t{1} << trace_half_bits) - 1;
    const std::int64_t since = here.looks >= 0 ? here.looks : event.ns;
    here.looks = -1;
    arguments what;
    what.add("reaped", event.value & low).add("submitted", event.value >> trace_half_bits);
    page_.slice(number_of(event.track), since, event.ns, "looks at its ring", what);
  }

  /// What goes on still goes on to the right edge.
  void end_all() {
    trace_entry edge;
    edge.ns = story_.end_ns();
    for (std::uint32_t i = 0; i < threads_.size(); ++i) {
      edge.track = i;
      thread& each = threads_[i];
      for (; !each.open.empty(); each.open.pop_back()) {
        const segment& still = each.open.back();
        arguments what = about(still.task);
        what.add("goes on", std::string_view("yes"));
        page_.slice(number_of(i), still.since, edge.ns, label_of(still.task), what);
      }
      const std::int64_t parked = each.parked;
      if (parked < 0) continue;
      const bool is_worker = story_.tracks()[i].is == recorded_thread::role::worker;
      page_.slice(number_of(i), parked, edge.ns, is_worker ? "parked" : "waits for its ring",
                  arguments());
    }
    std::vector<std::uint64_t> alive;
    for (const auto& [id, each] : tasks_) {
      if (each.has_span && !each.has_ended) alive.push_back(id);
    }
    std::sort(alive.begin(), alive.end());
    for (const std::uint64_t id : alive) {
      const task& each = tasks_[id];
      if (each.now != state::none) page_.span_end(id, 1, edge.ns, name_of(each.now), arguments());
      page_.span_end(id, 1, edge.ns, label_of(id), arguments().add("outcome", "not ended"));
    }
  }

  void add_decisions() {
    for (const timed_decision& each : story_.decisions()) {
      arguments what;
      what.add("pool", each.pool)
          .add("reason", to_string(each.what.reason))
          .add("old goal", each.what.old_goal)
          .add("new goal", each.what.new_goal)
          .add("threads", each.what.threads);
      page_.instant(decisions_track(), each.ns, to_string(each.what.action), what);
    }
  }

  const trace_story& story_;
  trace_page& page_;
  std::vector<thread> threads_;
  std::unordered_map<std::uint64_t, task> tasks_;
  std::uint64_t flows_ = 0;
};

}  // namespace

void write_trace_json(const trace_story& story, std::string_view process, trace_sink& into) {
  trace_page page(into, story.begin_ns());
  page.open();
  page.process(process);
  drawing(story, page).draw();
  page.close();
}

}  // namespace tandem::inline v0::detail
