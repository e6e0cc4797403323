// snapshot.hpp: what a look has found: the tree of tasks, each with what it waits for.
// SPDX-License-Identifier: MIT
//
// Plain values: nothing in it is a pointer into a task any more, but for addresses that are only
// compared, and texts that live as long as the program. Siblings that are alike are one node with
// a count, where the look was asked for that.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

#include <tandem/detail/listed_thread.hpp>
#include <tandem/detail/wait_kind.hpp>
#include <tandem/stop.hpp>

namespace tandem::inline v0::detail {

/// A coroutine that waits, or awaits one that does.
struct seen_frame {
  const void* code = nullptr;  ///< its resume function, by which its name is found
  const void* address = nullptr;
  std::source_location awaits_at;  ///< line 0: not kept in this build

  friend bool alike(const seen_frame& a, const seen_frame& b) noexcept;
};

struct seen_wait {
  wait_note note;
  const void* leaf = nullptr;
  bool is_known = false;              ///< by an earlier look
  std::int64_t seen_since_ns = -1;    ///< by the steady clock; -1: by nobody before
  std::array<char, 32> home{};        ///< name of the executor where it goes on
  bool has_more_frames = false;       ///< further out
  std::vector<seen_frame> frames;     ///< the one that waits first
};

enum class task_state : std::uint8_t { ready, waits, runs };

struct seen_node {
  std::uint64_t id = 0;
  const char* name = "";
  std::source_location spawned_at;
  const char* kind = "";
  bool is_task = false;
  wait_note note;  ///< of the kind: what more is known of it
  stop_reason stop = stop_reason::none;
  task_state state = task_state::ready;
  thread_note thread;                 ///< that runs it
  std::int64_t runs_since_ns = -1;    ///< as seen_wait::seen_since_ns
  std::vector<seen_wait> waits;
  std::vector<seen_frame> joins;      ///< what awaits the end of all children, the innermost first
  std::vector<seen_node> children;
  std::size_t count = 1;              ///< how many are like this, itself included
  std::vector<std::uint64_t> others;  ///< ids of some of them
  std::size_t hash = 0;               ///< equal for those that are alike
};

/// A task that only another one can let go on.
struct seen_edge {
  std::uint64_t waiting = 0;  ///< id of the task
  std::uint64_t awaited = 0;  ///< id of the task; 0: unknown
  const void* leaf = nullptr;
  bool is_known = false;
};

struct snapshot {
  std::string runtime_name;
  std::chrono::system_clock::time_point at;
  std::int64_t now_ns = 0;          ///< of the clock by which waits were seen
  std::int64_t deadline_now_ns = 0; ///< of the clock of the runtime
  std::int64_t took_ns = 0;
  std::vector<seen_node> roots;
  std::vector<thread_note> threads;
  std::size_t live = 0;   ///< tasks that the runtime counts
  std::size_t tasks = 0;  ///< of these that were looked at
  std::size_t waiting = 0;
  std::size_t running = 0;
  std::vector<seen_edge> edges;
};

}  // namespace tandem::inline v0::detail
