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
#include <map>
#include <source_location>
#include <string>
#include <unordered_map>
#include <vector>

#include <tandem/detail/listed_thread.hpp>
#include <tandem/detail/wait_kind.hpp>
#include <tandem/stop.hpp>

namespace tandem::inline v0::detail {

/// A segment that takes so long keeps others waiting.
inline constexpr std::int64_t long_run_ns = 100'000'000;

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
  bool is_known = false;            ///< by an earlier look
  std::int64_t seen_since_ns = -1;  ///< by the steady clock; -1: by nobody before
  std::array<char, 32> home{};      ///< name of the executor where it goes on
  bool has_more_frames = false;     ///< further out
  std::vector<seen_frame> frames;   ///< the one that waits first
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
  std::array<char, 32> home{};      ///< of a task: name of the executor where it began
  thread_note thread;               ///< that runs it
  std::int64_t runs_since_ns = -1;  ///< as seen_wait::seen_since_ns
  std::vector<seen_wait> waits;
  std::vector<seen_frame> joins;  ///< what awaits the end of all children, the innermost first
  std::vector<seen_node> children;
  std::size_t count = 1;              ///< how many are like this, itself included
  std::vector<std::uint64_t> others;  ///< ids of some of them
  std::size_t hash = 0;               ///< equal for those that are alike
};

/// A task that only another one can let go on.
struct seen_edge {
  std::uint64_t waiting = 0;     ///< id of the task
  std::uint64_t awaited = 0;     ///< id of the task; 0: unknown
  const void* leaf = nullptr;    ///< null: a parent that waits for a child
  const void* object = nullptr;  ///< the lock; null: for the end of the task
  std::uint64_t joiner = 0;      ///< of a parent: id of the part that waits for all its children
  bool is_known = false;         ///< an earlier look has seen it
  bool is_certain = false;       ///< nothing else ends it: neither a time limit nor a sibling
};

/// Something that tasks wait for.
struct seen_object {
  const char* verb = "waits for";
  const char* word = "";
  std::string more;  ///< as it was told last
  std::size_t waiting = 0;
  std::int64_t oldest_ns = -1;  ///< the longest known wait began then; -1: none is known
  std::uint64_t owner = 0;      ///< of a lock: id of the task; of others: see wait_note::task_role
  std::uint64_t first = 0;      ///< one of those that wait
};

/// A task in a few words: what is told of it is told where it is not at hand any more.
struct seen_task {
  const char* name = "";
  std::source_location spawned_at;
};

/// A task that runs.
struct seen_run {
  std::uint64_t task = 0;
  thread_note thread;
  std::int64_t since_ns = -1;
  std::string home;
};

/// A thread that counts its rests, and has had none between two looks.
struct seen_restless {
  thread_note thread;
  std::int64_t since_ns = -1;
  std::uint64_t segments = 0;  ///< that it has begun since the look before
};

/// A task that was asked to stop.
struct seen_stop {
  std::uint64_t task = 0;
  stop_reason reason = stop_reason::none;
  std::int64_t since_ns = -1;
  std::string doing;  ///< "runs", or the innermost part and its wait
};

struct snapshot {
  std::string runtime_name;
  std::chrono::system_clock::time_point at;
  std::int64_t now_ns = 0;           ///< of the clock by which waits were seen
  std::int64_t deadline_now_ns = 0;  ///< of the clock of the runtime
  std::int64_t took_ns = 0;
  std::vector<seen_node> roots;
  std::vector<thread_note> threads;
  std::size_t live = 0;   ///< tasks that the runtime counts
  std::size_t tasks = 0;  ///< of these that were looked at
  std::size_t waiting = 0;
  std::size_t running = 0;
  std::vector<seen_edge> edges;
  std::unordered_map<std::uint64_t, std::uint64_t> parts;  ///< by id: the task that it is a part of
  /// Tasks by id, where a wait names any; of alike ones the one that stands for them.
  std::unordered_map<std::uint64_t, const seen_node*> by_id;
  std::unordered_map<std::uint64_t, std::uint64_t> likes;  ///< by id: of the one that stands for it
  /// circles/branches. By id of the task: how much in it may go on.
  std::unordered_map<std::uint64_t, std::size_t> free_branches;
  std::size_t deeper = 0;  ///< tasks that lie so deep that they are left out

  /// @param id  of an environment. @returns id of its task
  std::uint64_t task_of(std::uint64_t id) const {
    const auto found = parts.find(id);
    return found != parts.end() ? found->second : id;
  }
  /// @param id  of an environment. @returns its task; null: it was not seen
  const seen_node* find(std::uint64_t id) const {
    const std::uint64_t task = task_of(id);
    const auto like = likes.find(task);
    const auto found = by_id.find(like != likes.end() ? like->second : task);
    return found != by_id.end() ? found->second : nullptr;
  }

  std::unordered_map<const void*, seen_object> objects;
  std::unordered_map<std::uint64_t, seen_task> named;  ///< by id: whoever is told of
  std::vector<seen_run> runs;
  /// Threads that run a part of a task in which nobody has waited yet (stopping/late): whose is not
  /// known.
  std::size_t unseen_runs = 0;
  std::vector<seen_restless> restless;
  std::size_t busy_executors = 0;  ///< threads of executors that run something, a task or not
  std::map<int, std::size_t> waits_by_thread;  ///< for I/O, by the number of the completion thread
  std::vector<seen_stop> stops;                ///< the first of them
  std::map<std::string, std::size_t> ready;    ///< by home: how many wait for their turn
  std::size_t waits = 0;                       ///< in all
  std::size_t known_waits = 0;                 ///< of them, by an earlier look
  std::size_t outside_waits = 0;  ///< waits that time, I/O, a call or foreign code ends
  std::size_t timers = 0;         ///< that are armed
  std::string blocking;  ///< a sentence about the threads of blocking(); "": there are none
  unsigned blocking_busy = 0;
  std::size_t blocking_queued = 0;
  unsigned blocking_most = 0;
};

}  // namespace tandem::inline v0::detail
