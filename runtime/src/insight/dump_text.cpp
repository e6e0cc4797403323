// dump_text.cpp: a snapshot for people: the tree of tasks, what each waits for, and who is to end that.
// SPDX-License-Identifier: MIT
#include "insight/dump_text.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string_view>

#include <tandem/detail/place_text.hpp>

#include "insight/code_names.hpp"
#include "insight/snapshot.hpp"
#include "platform/process.hpp"

namespace tandem::inline v0::detail {

namespace {

std::string number_text(std::size_t n) {
  std::string out = std::to_string(n);
  for (std::size_t at = out.size(); at > 3; at -= 3) out.insert(at - 3, ",");
  return out;
}

std::string address_text(const void* address) {
  char out[32];
  std::snprintf(out, sizeof out, "%p", address);
  return out;
}

std::string time_text(std::chrono::system_clock::time_point at) {
  // Not by gmtime(): its result is shared by all threads.
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(at - day));
  char out[64];
  std::snprintf(out, sizeof out, "%04d-%02u-%02u %02d:%02d:%02d UTC", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()));
  return out;
}

class text_writer {
 public:
  text_writer(const snapshot& of, code_names& names) : of_(of), names_(names) {}

  std::string write() {
    head();
    threads();
    for (const seen_node* each : in_order(of_.roots)) node(*each, 0);
    return std::move(out_);
  }

 private:
  void line(std::size_t depth, const std::string& text) {
    constexpr std::size_t deepest = 40;  // then the number says it
    out_.append(2 * std::min(depth, deepest), ' ');
    if (depth > deepest) out_ += "(" + std::to_string(depth) + ") ";
    out_ += text;
    out_ += '\n';
  }

  void head() {
    line(0, "tandem: dump of runtime \"" + of_.runtime_name + "\" of process " +
                std::to_string(platform::process_id()) + ", " + time_text(of_.at) + ", in " +
                span_text(of_.took_ns));
    const std::size_t ready = of_.tasks - of_.waiting - of_.running;
    line(0, number_text(of_.live) + (of_.live == 1 ? " task lives: " : " tasks live: ") +
                number_text(of_.waiting) + " wait, " + number_text(of_.running) + " run, " +
                number_text(ready) + " are ready to run or between two waits");
    if (of_.live > of_.tasks + of_.deeper) {
      line(0, number_text(of_.live - of_.tasks - of_.deeper) +
                  " more have not begun: they are queued behind others, and not listed");
    }
    if (of_.deeper != 0) {
      line(0, number_text(of_.deeper) + " more lie over 1,000 levels deep, and are not listed");
    }
    line(0, of_.timers == 0 ? "no timer is armed"
                            : number_text(of_.timers) +
                                  (of_.timers == 1 ? " timer is armed" : " timers are armed"));
    if (!of_.blocking.empty()) line(0, of_.blocking);
    for (const auto& [home, count] : of_.ready) {
      line(0, number_text(count) + (count == 1 ? " task is" : " tasks are") +
                  " ready to run at home \"" + home + "\"");
    }
    out_ += '\n';
  }

  void threads() {
    std::vector<const thread_note*> sorted;
    for (const thread_note& each : of_.threads) sorted.push_back(&each);
    std::sort(sorted.begin(), sorted.end(), [](const thread_note* a, const thread_note* b) {
      const std::string_view x = a->role;
      const std::string_view y = b->role;
      return x != y                   ? x < y
             : a->number != b->number ? a->number < b->number
                                      : a->thread_id < b->thread_id;
    });
    for (const thread_note* each : sorted) thread(*each);
    out_ += '\n';
  }

  void thread(const thread_note& of) {
    std::string text = thread_text(of);
    const auto run = std::find_if(of_.runs.begin(), of_.runs.end(), [&of](const seen_run& each) {
      return each.thread.thread_id == of.thread_id;
    });
    if (run != of_.runs.end()) {
      text += ": runs task " + std::to_string(run->task);
      if (run->since_ns >= 0) {
        text += ", without a pause for at least " + span_text(of_.now_ns - run->since_ns);
      }
    } else {
      text += of.env != nullptr
                  ? ": begins or ends a task, or runs a part of one in which nobody has waited yet"
                  : ": has nothing to do";
    }
    line(0, text);
  }

  static std::vector<const seen_node*> in_order(const std::vector<seen_node>& nodes) {
    std::vector<const seen_node*> sorted;
    sorted.reserve(nodes.size());
    for (const seen_node& each : nodes) sorted.push_back(&each);
    std::sort(sorted.begin(), sorted.end(), [](const seen_node* a, const seen_node* b) {
      return a->count != b->count ? a->count > b->count : a->id < b->id;
    });
    return sorted;
  }

  void node(const seen_node& of, std::size_t depth) {
    if (!of.is_task) {
      part(of, depth);
      return;
    }
    std::string text;
    if (of.count > 1) text = number_text(of.count) + " tasks like this: ";
    text += task_text(of);
    if (of.count > 1) {
      text += " (also";
      for (const std::uint64_t id : of.others) text += " " + std::to_string(id);
      text += of.count > of.others.size() + 1 ? " ...)" : ")";
    }
    line(depth, text);
    if (of.stop != stop_reason::none) {
      line(depth + 1,
           std::string("was asked to stop (") + to_string(of.stop) + ") and has not ended");
    }
    state(of, depth + 1);
    inside(of, depth + 1);
    if (depth == 0) out_ += '\n';
  }

  void state(const seen_node& of, std::size_t depth) {
    if (of.state == task_state::runs) {
      const bool is_call = std::string_view(of.thread.role) == "blocking thread";
      std::string text = (is_call ? "its call runs on " : "runs on ") + thread_text(of.thread);
      if (of.runs_since_ns >= 0) {
        text += ", without a pause for at least " + span_text(of_.now_ns - of.runs_since_ns);
      }
      line(depth, is_call ? text : text + at_home(of));
    } else if (of.state == task_state::ready) {
      const bool has_begun = of.note.more[0] == 0;
      line(depth, has_begun ? "is ready to run, or waits for something that tandem does not know" +
                                  at_home(of)
                            : std::string(of.note.more.data()) + at_home(of));
    }
  }

  static std::string at_home(const seen_node& of) {
    return of.home[0] == 0 ? "" : std::string(", at home \"") + of.home.data() + "\"";
  }

  void inside(const seen_node& of, std::size_t depth) {
    for (const seen_wait& each : of.waits) wait(each, depth);
    if (!of.joins.empty()) {
      line(depth, "waits for the end of all children");
      frames(of.joins, false, depth + 1);
    }
    for (const seen_node* each : in_order(of.children)) node(*each, depth);
  }

  void part(const seen_node& of, std::size_t depth) {
    std::string text;
    if (of.count > 1) text = number_text(of.count) + " like this: ";
    text += of.note.word;
    if (of.note.more[0] != 0) text += std::string(" ") + of.note.more.data();
    if (of.note.until_ns != wait_note::no_time) text += ", " + until(of.note.until_ns);
    if (of.stop != stop_reason::none) {
      text += std::string(", was asked to stop (") + to_string(of.stop) + ")";
    }
    line(depth, text + ":");
    inside(of, depth + 1);
  }

  std::string until(std::int64_t deadline_ns) const {
    const std::int64_t left = deadline_ns - of_.deadline_now_ns;
    return left > 0 ? "until in " + span_text(left) : "over for " + span_text(-left);
  }

  void wait(const seen_wait& of, std::size_t depth) {
    line(depth, wait_text(of_, of));
    frames(of.frames, of.has_more_frames, depth + 1);
  }

  void frames(const std::vector<seen_frame>& of, bool has_more, std::size_t depth) {
    std::size_t number = 0;
    for (const seen_frame& each : of) {
      line(depth, "#" + std::to_string(number++) + " " + frame_text(each, names_));
    }
    if (has_more) line(depth, "... and further out");
  }

 private:
  const snapshot& of_;
  code_names& names_;
  std::string out_;
};

}  // namespace

std::string span_text(std::int64_t ns) {
  char out[64];
  const double s = static_cast<double>(ns) / 1e9;
  if (ns < 1'000'000) {
    std::snprintf(out, sizeof out, "%lld us", static_cast<long long>(ns / 1000));
  } else if (ns < 1'000'000'000) {
    std::snprintf(out, sizeof out, "%lld ms", static_cast<long long>(ns / 1'000'000));
  } else if (s < 120) {
    std::snprintf(out, sizeof out, "%.1f s", s);
  } else if (s < 7200) {
    std::snprintf(out, sizeof out, "%.0f min", s / 60);
  } else {
    std::snprintf(out, sizeof out, "%.1f h", s / 3600);
  }
  return out;
}

std::string task_text(const seen_node& task) { return task_text(task.id, task); }

std::string task_text(std::uint64_t id, const char* name) {
  std::string out = "task " + std::to_string(id);
  if (name[0] != 0) out += std::string(" \"") + name + "\"";
  return out;
}

std::string task_text(std::uint64_t id, const seen_node& task) {
  return task_text(id, task.name) + ", spawned at " + place_text(task.spawned_at);
}

namespace {

/// What keeps the completion thread of a wait from looking whether that is over; null: nothing.
const seen_run* busy_thread_of(const snapshot& in, const wait_note& note) {
  if (note.thread < 0) return nullptr;
  const auto found = std::find_if(in.runs.begin(), in.runs.end(), [&](const seen_run& each) {
    return each.thread.number == note.thread && each.since_ns >= 0 &&
           in.now_ns - each.since_ns >= long_run_ns &&
           std::string_view(each.thread.role) == "completion thread";
  });
  return found != in.runs.end() ? &*found : nullptr;
}

}  // namespace

std::string wait_text(const snapshot& in, const seen_wait& wait) {
  const wait_note& note = wait.note;
  std::string out = note.verb;
  if (note.word[0] != 0) out += std::string(" ") + note.word;
  if (note.object != nullptr) out += " " + address_text(note.object);
  if (note.more[0] != 0) out += std::string(" ") + note.more.data();
  if (note.until_ns != wait_note::no_time) {
    const std::int64_t left = note.until_ns - in.deadline_now_ns;
    out += left > 0 ? ", " + span_text(left) + " more" : ", which is over";
  }
  if (const seen_run* const run = busy_thread_of(in, note)) {
    out += ", whose completion thread " + std::to_string(note.thread) + " has run task " +
           std::to_string(run->task) + " without a pause for at least " +
           span_text(in.now_ns - run->since_ns);
  }
  if (note.end == wait_end::task) {
    const bool is_lock = note.object != nullptr;
    const std::uint64_t id = in.task_of(note.task);
    const seen_node* const task = in.find(note.task);
    if (is_lock) out += " held by";
    if (is_lock && id == 0) {
      out += " somebody outside of any task";
    } else if (task != nullptr) {
      out += is_lock ? " " : ": ";
      out += task_text(id, *task);
    } else {
      out += (is_lock ? " task " : ": task ") + std::to_string(id);
      if (note.more[0] == 0) {
        out +=
            is_lock ? ", which has ended or has not begun" : ", which has not begun, or is ending";
      }
    }
  }
  if (note.task_role[0] != 0 && note.task != 0) {
    const seen_node* const task = in.find(note.task);
    out +=
        std::string(", ") + note.task_role + " " +
        (task != nullptr ? task_text(in.task_of(note.task), *task)
                         : "task " + std::to_string(in.task_of(note.task)) + ", which has ended");
  }
  if (wait.seen_since_ns >= 0) out += "; for at least " + span_text(in.now_ns - wait.seen_since_ns);
  return out;
}

std::string frame_text(const seen_frame& frame, code_names& names) {
  const code_name& name = names.find(frame.code);
  if (frame.awaits_at.line() != 0) {
    return name.function + " at " + frame.awaits_at.file_name() + ":" +
           std::to_string(frame.awaits_at.line());
  }
  if (name.file.empty()) return name.function;
  return name.function + ", which begins at " + name.file + ":" + std::to_string(name.line);
}

std::string thread_text(const thread_note& of) {
  std::string out = of.role;
  if (of.number >= 0) out += " " + std::to_string(of.number);
  return out + " (thread " + std::to_string(of.thread_id) + ")";
}

std::string dump_as_text(const snapshot& of, code_names& names) {
  return text_writer(of, names).write();
}

}  // namespace tandem::inline v0::detail
