// trace_story.hpp: what the rings say, in the order in which it happened.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tandem/environment.hpp>
#include <tandem/pool_decision.hpp>
#include <tandem/task_hooks.hpp>

#include "recorder/trace_ring.hpp"

namespace tandem::inline v0::detail {

/// recording/clock. From the first words of events to nanoseconds.
class trace_clock {
 public:
  trace_clock(std::uint64_t first_ticks, std::int64_t first_ns) noexcept
      : first_ticks_(first_ticks), first_ns_(first_ns), now_ns_(first_ns) {}
  /// The counter is so far now, and the clock.
  void look(std::uint64_t ticks, std::int64_t ns) noexcept {
    now_ns_ = ns;
    const auto passed = static_cast<double>(ticks - first_ticks_);
    if (passed > 0) pace_ = static_cast<double>(ns - first_ns_) / passed;
  }
  /// Events have nanoseconds.
  void is_in_ns(std::int64_t ns) noexcept {
    now_ns_ = ns;
    pace_ = 0;
  }
  std::int64_t ns_of(std::uint64_t word) const noexcept {
    if (pace_ == 0) return static_cast<std::int64_t>(word);
    const auto passed = static_cast<std::int64_t>(word - first_ticks_);
    return first_ns_ + static_cast<std::int64_t>(static_cast<double>(passed) * pace_);
  }
  std::int64_t first_ns() const noexcept { return first_ns_; }
  std::int64_t now_ns() const noexcept { return now_ns_; }

 private:
  const std::uint64_t first_ticks_;
  const std::int64_t first_ns_;
  std::int64_t now_ns_;
  double pace_ = 0;
};

/// What a task is called, and what it is a part of.
class task_names {
 public:
  struct known {
    const char* name = "";       // static: environment::set_name
    bool is_newest = false;      // of a task that lives, or as it was at its end
    const char* file = nullptr;  // likewise; null: not known
    std::uint32_t line = 0;
    std::uint64_t whole = 0;  // of a part: what it is part of
  };

  /// @throws  std::bad_alloc
  void add(const environment& task);
  known& of(std::uint64_t id) { return all_[id]; }
  const known* find(std::uint64_t id) const noexcept {
    const auto found = all_.find(id);
    return found != all_.end() ? &found->second : nullptr;
  }
  /// The task that this is part of, or itself.
  std::uint64_t task_of(std::uint64_t id) const noexcept;

 private:
  std::unordered_map<std::uint64_t, known> all_;
};

/// A track of the picture: a worker, a completion thread, a thread from outside.
struct trace_track {
  recorded_thread::role is = recorded_thread::role::outside;
  std::uint64_t number = 0;  // of a thread from outside: the how many-th
};

/// An event with its time and its track.
struct trace_entry {
  std::int64_t ns = 0;
  std::uint32_t track = 0;
  trace_kind kind = trace_kind::none;
  task_outcome outcome = task_outcome::running;  // of a task_end
  std::uint64_t value = 0;                       // as in the ring; of a task its id
  std::uint64_t place = 0;                       // among those that were added
};

struct timed_decision {
  std::int64_t ns = 0;
  std::string pool;
  pool_decision what;
};

/// All of it @throws std::bad_alloc.
class trace_story {
 public:
  explicit trace_story(const trace_clock& time) noexcept : time_(time) {}

  task_names& names() noexcept { return names_; }
  const task_names& names() const noexcept { return names_; }
  void add(const ring_copy& ring);
  void add(std::vector<timed_decision> decisions);
  /// After all were added.
  void put_in_order();

  const std::vector<trace_entry>& entries() const noexcept { return entries_; }
  const std::vector<trace_track>& tracks() const noexcept { return tracks_; }
  const std::vector<timed_decision>& decisions() const noexcept { return decisions_; }
  /// When it begins, and when it was copied.
  std::int64_t begin_ns() const noexcept { return begin_ns_; }
  std::int64_t end_ns() const noexcept { return time_.now_ns(); }

 private:
  std::uint32_t track_of(const ring_copy& ring, std::uint64_t role);
  /// @returns  how many words belong to the event at `first`
  std::size_t add_event(const std::vector<trace_event>& events, std::size_t first,
                        std::uint32_t track);

  const trace_clock time_;
  task_names names_;
  std::vector<trace_entry> entries_;
  std::vector<trace_track> tracks_;
  std::vector<timed_decision> decisions_;
  std::int64_t begin_ns_ = 0;
};

}  // namespace tandem::inline v0::detail
