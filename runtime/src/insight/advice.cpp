// advice.cpp: sentences about what lasts too long, and what to do about it.
// SPDX-License-Identifier: MIT
#include "insight/advice.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include <tandem/detail/place_text.hpp>

#include "insight/circles.hpp"
#include "insight/code_names.hpp"
#include "insight/dump_text.hpp"
#include "insight/snapshot.hpp"

namespace tandem::inline v0::detail {

namespace {

constexpr std::int64_t long_wait_ns = 100'000'000;  // for what should be had at once
constexpr std::size_t most_told = 8;                // of one kind

std::string counted(std::size_t n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

std::string task_of(const snapshot& in, std::uint64_t id) {
  const auto found = in.named.find(id);
  if (found == in.named.end()) return task_text(id, "");
  return task_text(id, found->second.name) + " (spawned at " +
         place_text(found->second.spawned_at.file_name(), found->second.spawned_at.line(), "") +
         ")";
}

std::string age(const snapshot& in, std::int64_t since_ns) {
  return "for at least " + span_text(in.now_ns - since_ns);
}

/// "waits to send" of one, "wait to send" of many.
std::string verb_text(std::string_view verb, bool is_one) {
  if (is_one || !verb.starts_with("waits")) return std::string(verb);
  return "wait" + std::string(verb.substr(5));
}

/// For I/O, of a completion thread.
std::size_t waits_there(const snapshot& in, const thread_note& of) {
  const auto found = in.waits_by_thread.find(of.number);
  return found != in.waits_by_thread.end() ? found->second : 0;
}

void about_runs(const snapshot& in, std::vector<std::string>& out) {
  std::size_t ready = 0;
  for (const auto& [home, count] : in.ready) ready += count;
  std::size_t told = 0;
  for (const seen_run& each : in.runs) {
    if (each.since_ns < 0 || in.now_ns - each.since_ns < long_run_ns) continue;
    if (std::string_view(each.thread.role) == "blocking thread")
      continue;  // that is what it is for
    if (++told > most_told) break;
    std::string text = thread_text(each.thread) + " has run " + task_of(in, each.task) +
                       " without a pause " + age(in, each.since_ns);
    if (!each.home.empty()) text += ", at home \"" + each.home + "\"";
    text += ": it computes, or is in a call that blocks. ";
    const auto same = in.ready.find(each.home);
    if (same != in.ready.end()) {
      text += counted(same->second, "task is", "tasks are") + " ready and " +
              (same->second == 1 ? "waits" : "wait") + " for a turn at home \"" + each.home +
              "\". ";
    } else if (ready != 0) {
      text += counted(ready, "task is", "tasks are") + " ready to run. ";
    }
    if (std::string_view(each.thread.role) == "completion thread") {
      if (const std::size_t waits = waits_there(in, each.thread); waits != 0) {
        text += counted(waits, "wait for I/O lives", "waits for I/O live") +
                " there, and nobody looks meanwhile whether it is over. ";
      }
      text +=
          "Let it compute on the workers (co_await tandem::resume_on(tandem::workers())), and put "
          "calls that block into tandem::blocking().";
    } else {
      text +=
          "Let a long computation co_await tandem::yield() now and then, and put calls that block "
          "into tandem::blocking() or a tandem::blocking_region.";
    }
    out.push_back(std::move(text));
  }
}

/// The innermost part of a task that waits, or itself; null: it does not wait.
const seen_node* waiting_part(const seen_node& of) {
  if (!of.waits.empty()) return &of;
  for (const seen_node& each : of.children) {
    if (each.is_task) continue;
    if (const seen_node* const found = waiting_part(each)) return found;
  }
  return nullptr;
}

/// "load(int) at load.cpp:12": the innermost coroutine that is not of tandem itself, else the
/// innermost; "" without any.
std::string coroutine_text(const seen_wait& wait, code_names& names) {
  if (wait.frames.empty()) return "";
  const auto is_theirs = [&names](const seen_frame& each) {
    return !names.find(each.code).function.starts_with("tandem::");
  };
  auto at = std::find_if(wait.frames.begin(), wait.frames.end(), is_theirs);
  if (at == wait.frames.end()) at = wait.frames.begin();
  return frame_text(*at, names);
}

/// ", which waits for I/O read on descriptor 7, 3 awaits deep in load(int)"; "": it was not seen.
std::string doing_text(const snapshot& in, std::uint64_t id, code_names& names) {
  const seen_node* const task = in.find(id);
  if (task == nullptr) return ", which has ended, or has not begun";
  if (task->state == task_state::runs) {
    return std::string(", which runs on ") + task->thread.role +
           (task->thread.number >= 0 ? " " + std::to_string(task->thread.number) : "");
  }
  if (const seen_node* const part = waiting_part(*task)) {
    const seen_wait& wait = part->waits.front();
    std::string out = ", which " + wait_text(in, wait);
    if (wait.frames.empty()) return out;
    return out + ", " + counted(wait.frames.size(), "await", "awaits") + " deep" +
           (wait.has_more_frames ? " or more" : "") + " in " + coroutine_text(wait, names);
  }
  return task->joins.empty() ? ", which is ready to run, or waits for something that tandem does "
                               "not know"
                             : ", which waits for its children";
}

/// @param circles  what they are about is told of already
void about_objects(const snapshot& in, const std::vector<std::vector<seen_edge>>& circles,
                   code_names& names, std::vector<std::string>& out) {
  std::vector<const void*> in_circles;
  for (const std::vector<seen_edge>& circle : circles) {
    for (const seen_edge& each : circle) in_circles.push_back(each.object);
  }
  std::vector<std::pair<const void*, const seen_object*>> worst;
  for (const auto& [address, object] : in.objects) {
    if (std::find(in_circles.begin(), in_circles.end(), address) != in_circles.end()) continue;
    if (object.oldest_ns >= 0 && in.now_ns - object.oldest_ns >= long_wait_ns) {
      worst.emplace_back(address, &object);
    }
  }
  std::sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) {
    return a.second->waiting != b.second->waiting ? a.second->waiting > b.second->waiting
                                                  : a.first < b.first;
  });
  std::size_t told = 0;
  for (const auto& [address, object] : worst) {
    const std::string_view word = object->word;
    char number[32];
    std::snprintf(number, sizeof number, "%p", address);
    std::string text =
        std::to_string(object->waiting) + " " + (object->waiting == 1 ? "task " : "tasks ") +
        verb_text(object->verb, object->waiting == 1) + " " + object->word + " " + number;
    if (!object->more.empty()) text += " " + object->more;
    text += object->waiting == 1 ? ", " : "; one of them ";
    text += age(in, object->oldest_ns) + ": " + task_of(in, object->first) + ". ";
    if (word == "a mutex" || (word == "a shared_mutex" && object->owner != 0)) {
      text += object->owner == 0
                  ? "It was locked outside of any task."
                  : "It is held by " + task_of(in, object->owner) +
                        doing_text(in, object->owner, names) + ". Hold no lock across long waits.";
    } else if (word == "a channel") {
      if (object->more.find("is full") == std::string::npos)
        continue;  // empty: mostly as it should
      text += object->owner == 0
                  ? "Nobody takes anything out of it: look for the task that is to receive from it."
                  : "It was last received from by " + task_of(in, object->owner) +
                        doing_text(in, object->owner, names) + ".";
    } else if (word == "a semaphore") {
      text +=
          "Who has its permits a semaphore does not know: look at the tasks that do not wait for "
          "it.";
    } else {
      continue;  // events, counts and values that are waited for: that may be as it should be
    }
    if (++told > most_told) break;
    out.push_back(text);
  }
}

void about_completion_threads(const snapshot& in, std::vector<std::string>& out) {
  for (const seen_restless& each : in.restless) {
    if (in.now_ns - each.since_ns < long_run_ns) continue;
    out.push_back(thread_text(each.thread) + " is saturated: it has had no rest " +
                  age(in, each.since_ns) + ", has begun " +
                  counted(each.segments, "segment", "segments") + " since the look before, and " +
                  counted(waits_there(in, each.thread), "wait", "waits") +
                  " for I/O live there. Let tasks that compute live on the workers "
                  "(tandem::resume_on(rt.workers())), or give the pool more threads "
                  "(completion_options::max_threads).");
  }
}

void about_blocking(const snapshot& in, std::vector<std::string>& out) {
  if (in.blocking_queued == 0 || in.blocking_busy < in.blocking_most) return;
  out.push_back(
      "All " + std::to_string(in.blocking_most) + " threads for blocking calls are busy, and " +
      counted(in.blocking_queued, "call waits", "calls wait") +
      " in the queue. If the calls are short enough, raise "
      "runtime_options::blocking.max_threads; if they never end, see the tasks whose \"call "
      "runs on blocking thread\".");
}

void about_stops(const snapshot& in, std::vector<std::string>& out) {
  std::size_t told = 0;
  for (const seen_stop& each : in.stops) {
    if (each.since_ns < 0 || in.now_ns - each.since_ns < long_wait_ns) continue;
    if (++told > most_told) break;
    out.push_back(
        task_of(in, each.task) + " was asked to stop (" + to_string(each.reason) + ") " +
        span_text(in.now_ns - each.since_ns) + " ago or more, and has not ended: it " + each.doing +
        ". A stop ends waits: a long computation asks tandem::stop_requested(), and what is "
        "shielded, or blocks, ends late.");
  }
}

/// Of the wait of that edge, in the task, or in a part of it; null: it is none.
const seen_wait* wait_of(const seen_node& in, const void* leaf) {
  for (const seen_wait& each : in.waits) {
    if (each.leaf == leaf) return &each;
  }
  for (const seen_node& each : in.children) {
    if (each.is_task) continue;
    if (const seen_wait* const found = wait_of(each, leaf)) return found;
  }
  return nullptr;
}

std::string circle_text(const snapshot& in, code_names& names,
                        const std::vector<seen_edge>& circle) {
  std::string out;
  if (circle.size() == 1) {
    out = "deadlock: a task waits for itself, and can never go on:\n";
  } else {
    out = "deadlock: " + std::to_string(circle.size()) +
          " tasks wait for each other in a circle, and none of them can go on:\n";
  }
  for (const seen_edge& each : circle) {
    out += "  " + task_of(in, each.waiting) + " waits for ";
    const seen_node* const task = each.leaf != nullptr ? in.find(each.waiting) : nullptr;
    const seen_wait* const wait = task != nullptr ? wait_of(*task, each.leaf) : nullptr;
    if (each.object != nullptr) {
      char number[32];
      std::snprintf(number, sizeof number, "%p", each.object);
      out += wait != nullptr ? wait->note.word : "a lock";
      out += std::string(" ") + number + ", which is held by ";
    } else {
      out += "the end of ";
    }
    out += each.awaited == each.waiting ? "itself" : task_of(in, each.awaited);
    if (wait != nullptr) out += ", in " + coroutine_text(*wait, names);
    out += "\n";
  }
  if (circle.size() == 1 && circle.front().object != nullptr) {
    out += "  It locks what it has already: hand the guard on, or split the function.\n";
  }
  return out;
}

/// What they all wait for, alike ones together.
void add_waits(const snapshot& in, code_names& names, const std::vector<seen_node>& nodes,
               std::size_t times, const seen_node* task, std::string& out, std::size_t& told) {
  constexpr std::size_t most_lines = 32;
  for (const seen_node& each : nodes) {
    const std::size_t count = times * each.count;
    if (each.is_task) task = &each;
    for (const seen_wait& wait : each.waits) {
      if (++told > most_lines) continue;
      out += "  " + (count > 1 ? std::to_string(count) + " like " : std::string());
      if (!each.is_task) out += std::string("in ") + each.note.word + " of ";
      out += task != nullptr ? task_text(*task) : "a task";
      out += ": " + wait_text(in, wait);
      if (!wait.frames.empty()) out += ", in " + coroutine_text(wait, names);
      out += "\n";
    }
    add_waits(in, names, each.children, count, task, out, told);
  }
}

bool waits_for_anybody(const std::vector<seen_node>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const seen_node& each) {
    return waits_for_anybody(each.children) ||
           std::any_of(each.waits.begin(), each.waits.end(),
                       [](const seen_wait& wait) { return wait.note.end == wait_end::anybody; });
  });
}

}  // namespace

std::string advice_as_text(const std::vector<std::string>& advice) {
  if (advice.empty()) return "";
  std::string out;
  for (const std::string& each : advice) {
    out += "- ";
    for (std::size_t i = 0; i < each.size(); ++i) {
      out += each[i];
      if (each[i] == '\n' && i + 1 != each.size()) out += "  ";
    }
    if (each.back() != '\n') out += '\n';
  }
  return out + "\n";
}

std::string waits_of(const snapshot& in, code_names& names) {
  std::string out;
  std::size_t told = 0;
  add_waits(in, names, in.roots, 1, nullptr, out, told);
  return out;
}

bool stands_still(const snapshot& in) {
  // What the runtime counts and no look finds has not begun, or is work of other libraries.
  return in.live != 0 && in.live == in.tasks && in.running == 0 && in.waiting == in.tasks &&
         in.outside_waits == 0 && in.timers == 0 && in.runs.empty() && in.unseen_runs == 0 &&
         in.blocking_busy == 0 && in.busy_executors == 0;
}

namespace {

std::vector<deadlock_report> reports_of(const snapshot& in,
                                        const std::vector<std::vector<seen_edge>>& circles,
                                        code_names& names) {
  std::vector<deadlock_report> out;
  for (const std::vector<seen_edge>& circle : circles) {
    deadlock_report report;
    report.kind = deadlock_kind::circle;
    for (const seen_edge& each : circle) report.tasks.push_back(each.waiting);
    report.text = circle_text(in, names, circle);
    out.push_back(std::move(report));
  }
  if (!stands_still(in)) return out;
  deadlock_report report;
  report.kind = deadlock_kind::standstill;
  report.text =
      "standstill: " +
      (in.tasks == 1 ? std::string("the only task waits")
                     : "all " + std::to_string(in.tasks) + " tasks wait, none is ready to run") +
      ", no timer is armed, and no I/O, blocking call or callback is out.\n";
  if (waits_for_anybody(in.roots)) {
    report.text +=
        "  For events, channels, semaphores and latches: only a thread outside the runtime can "
        "wake these. If one of yours will, runtime_options::deadlock_after = 0ms turns this "
        "report off.\n";
  }
  report.text += waits_of(in, names);
  for (const seen_node& each : in.roots) report.tasks.push_back(each.id);
  out.push_back(std::move(report));
  return out;
}

}  // namespace

std::vector<deadlock_report> deadlocks_of(const snapshot& in, code_names& names) {
  return reports_of(in, circles_of(in), names);
}

std::vector<std::string> advice_of(const snapshot& in, code_names& names) {
  std::vector<std::string> out;
  const std::vector<std::vector<seen_edge>> circles = circles_of(in);
  for (const deadlock_report& each : reports_of(in, circles, names)) out.push_back(each.text);
  about_runs(in, out);
  about_completion_threads(in, out);
  about_blocking(in, out);
  about_stops(in, out);
  about_objects(in, circles, names, out);
  return out;
}

}  // namespace tandem::inline v0::detail
