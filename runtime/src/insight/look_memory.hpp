// look_memory.hpp: what earlier looks at a runtime have seen: since when a wait or a segment lasts.
// SPDX-License-Identifier: MIT
//
// A wait carries no time, since reading the clock would cost each of them. But it carries a mark
// that a look has seen it (stopping/put_back), so whoever looks twice knows what has not moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <tandem/detail/listed_thread.hpp>

namespace tandem::inline v0::detail {

/// Under the lock of the looks of one runtime.
class look_memory {
 public:
  void begin(std::int64_t now_ns) noexcept { now_ns_ = now_ns; }
  /// @param known  by its mark. @returns since when it has been seen; -1: never before
  std::int64_t wait(const void* leaf, bool known);
  /// Since when the thread has been seen in this segment; -1: never before.
  std::int64_t segment(const thread_note& of);
  struct restless {
    std::int64_t since_ns = -1;  ///< since when no look has seen that it rested; -1: it has
    std::uint64_t segments = 0;  ///< begun since the look before
  };
  /// What is known of the rests of a thread that counts them. After segment(), if it runs one.
  restless rests(const thread_note& of);
  /// Since when the task has been seen to be asked to stop; -1: never before.
  std::int64_t stopped(std::uint64_t task);
  /// What was not seen this time is forgotten.
  void end();

 private:
  struct segment_seen {
    const environment* env;
    std::uint64_t segments;
    std::int64_t since_ns;
  };
  // Of more waits than that it is only known that the look before has seen them.
  static constexpr std::size_t most_waits = 50'000;

  std::int64_t now_ns_ = 0;
  std::int64_t last_ns_ = -1;
  std::unordered_map<const void*, std::int64_t> waits_;
  std::unordered_map<const void*, std::int64_t> new_waits_;
  std::unordered_map<std::uint64_t, std::int64_t> stops_;
  std::unordered_map<std::uint64_t, std::int64_t> new_stops_;
  struct rests_seen {
    std::uint64_t rests;
    std::uint64_t segments;
    std::int64_t since_ns;
  };
  std::unordered_map<std::uint64_t, rests_seen> rests_;
  std::unordered_map<std::uint64_t, rests_seen> new_rests_;
  std::unordered_map<std::uint64_t, segment_seen> segments_;
  std::unordered_map<std::uint64_t, segment_seen> new_segments_;
};

}  // namespace tandem::inline v0::detail
