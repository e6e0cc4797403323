// dump_json.cpp: a snapshot for programs.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <string_view>

#include <tandem/detail/place_text.hpp>

#include "insight/code_names.hpp"
#include "insight/dump_text.hpp"
#include "insight/snapshot.hpp"
#include "platform/process.hpp"
#include "recorder/trace_page.hpp"

namespace tandem::inline v0::detail {

namespace {

class json_writer {
 public:
  json_writer(const snapshot& of, code_names& names) : of_(of), names_(names) {}

  std::string write() {
    out_ = "{";
    text("runtime", of_.runtime_name);
    number("process", platform::process_id());
    number(
        "unix_ms",
        std::chrono::duration_cast<std::chrono::milliseconds>(of_.at.time_since_epoch()).count());
    number("took_ns", of_.took_ns);
    number("live", static_cast<long long>(of_.live));
    number("seen", static_cast<long long>(of_.tasks));
    number("waiting", static_cast<long long>(of_.waiting));
    number("running", static_cast<long long>(of_.running));
    key("threads");
    out_ += '[';
    for (const thread_note& each : of_.threads) {
      separate();
      thread(each);
      run_of(each);
    }
    out_ += ']';
    nodes("tasks", of_.roots);
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  void separate() {
    const char last = out_.back();
    if (last != '{' && last != '[' && last != ':') out_ += ',';
  }
  void key(const char* name) {
    separate();
    out_ += '"';
    out_ += name;
    out_ += "\":";
  }
  void string(std::string_view value) { append_json_text(out_, value); }
  void text(const char* name, std::string_view value) {
    key(name);
    string(value);
  }
  void number(const char* name, long long value) {
    key(name);
    out_ += std::to_string(value);
  }
  void id(const char* name, std::uint64_t value) { number(name, static_cast<long long>(value)); }
  void address(const char* name, const void* value) {
    if (value == nullptr) return;
    char number[32];
    std::snprintf(number, sizeof number, "%p", value);
    text(name, number);
  }
  void place(const std::source_location& where) {
    if (where.line() == 0) return;
    text("file", where.file_name());
    number("line", where.line());
    if (where.function_name()[0] != 0) text("function", function_text(where.function_name()));
  }

  void thread(const thread_note& of) {
    out_ += '{';
    text("role", of.role);
    if (of.number >= 0) number("number", of.number);
    id("thread", of.thread_id);
    text("state", of.env != nullptr ? "runs" : "idle");
    out_ += '}';
  }

  /// Into the object that thread() has just closed: which task it runs. Several threads may run
  /// forked parts of one, and the task itself names one of them only.
  void run_of(const thread_note& of) {
    for (const seen_run& each : of_.runs) {
      if (each.thread.thread_id != of.thread_id) continue;
      out_.pop_back();
      id("task", each.task);
      if (each.since_ns >= 0) number("runs_for_at_least_ns", of_.now_ns - each.since_ns);
      out_ += '}';
      return;
    }
  }

  void frames(const std::vector<seen_frame>& of, bool has_more) {
    key("frames");
    out_ += '[';
    for (const seen_frame& each : of) {
      separate();
      const code_name& name = names_.find(each.code);
      out_ += '{';
      text("function", name.function);
      if (!name.file.empty()) {
        text("begins_in", name.file);
        number("begins_at", name.line);
      }
      if (each.awaits_at.line() != 0) {
        text("file", each.awaits_at.file_name());
        number("line", each.awaits_at.line());
      }
      out_ += '}';
    }
    out_ += ']';
    if (has_more) number("has_more_frames", 1);
  }

  void wait(const seen_wait& of) {
    out_ += '{';
    text("text", wait_text(of_, of));
    text("for", of.note.word[0] != 0 ? of.note.word : of.note.verb);
    address("object", of.note.object);
    if (of.note.more[0] != 0) text("details", of.note.more.data());
    if (of.note.until_ns != wait_note::no_time) {
      number("left_ns", of.note.until_ns - of_.deadline_now_ns);
    }
    if (of.note.end == wait_end::task) {
      id("task", of_.task_of(of.note.task));
    }
    if (of.seen_since_ns >= 0) number("for_at_least_ns", of_.now_ns - of.seen_since_ns);
    text("home", of.home.data());
    frames(of.frames, of.has_more_frames);
    out_ += '}';
  }

  void node(const seen_node& of) {
    out_ += '{';
    id("id", of.id);
    text("kind", of.is_task ? of.kind : of.note.word);
    if (of.name[0] != 0) text("name", of.name);
    if (of.is_task) {
      key("spawned_at");
      out_ += '{';
      place(of.spawned_at);
      out_ += '}';
    }
    if (of.count > 1) {
      number("count", static_cast<long long>(of.count));
      key("others");
      out_ += '[';
      for (const std::uint64_t each : of.others) {
        separate();
        out_ += std::to_string(each);
      }
      out_ += ']';
    }
    text("state", of.state == task_state::runs
                      ? "runs"
                      : (of.state == task_state::waits ? "waits" : "ready"));
    if (of.state == task_state::runs) {
      key("thread");
      thread(of.thread);
      if (of.runs_since_ns >= 0) number("runs_for_at_least_ns", of_.now_ns - of.runs_since_ns);
    }
    if (of.stop != stop_reason::none) text("stop", to_string(of.stop));
    if (!of.is_task && of.note.more[0] != 0) text("details", of.note.more.data());
    if (of.note.until_ns != wait_note::no_time) {
      number("left_ns", of.note.until_ns - of_.deadline_now_ns);
    }
    if (!of.waits.empty()) {
      key("waits");
      out_ += '[';
      for (const seen_wait& each : of.waits) {
        separate();
        wait(each);
      }
      out_ += ']';
    }
    if (!of.joins.empty()) {
      key("joins");
      out_ += '{';
      frames(of.joins, false);
      out_ += '}';
    }
    if (!of.children.empty()) nodes("children", of.children);
    out_ += '}';
  }

  void nodes(const char* name, const std::vector<seen_node>& of) {
    key(name);
    out_ += '[';
    for (const seen_node& each : of) {
      separate();
      node(each);
    }
    out_ += ']';
  }

  const snapshot& of_;
  code_names& names_;
  std::string out_;
};

}  // namespace

std::string dump_as_json(const snapshot& of, code_names& names) {
  return json_writer(of, names).write();
}

void add_advice(std::string& dump, const std::vector<std::string>& advice) {
  dump.resize(dump.rfind('}'));
  dump += ",\"advice\":[";
  for (const std::string& each : advice) {
    if (dump.back() != '[') dump += ',';
    append_json_text(dump, each);
  }
  dump += "]}\n";
}

}  // namespace tandem::inline v0::detail
