// frame_idle.hpp: when a thread that has nothing to do gives back the memory of frames.
// SPDX-License-Identifier: MIT
//
// A thread that lies down while it, or the process, keeps free frames wakes once, after half a
// second, gives them back, and lies down for good. Whoever was awake last finds everybody else's
// there, so the process keeps nothing then. Protocol trim: runtime/src/frames/README.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tandem/config.hpp>
#include <tandem/detail/frame_memory.hpp>
#include <tandem/export.hpp>

namespace tandem::inline v0::detail {

/// How long a thread lies before it gives back. Tests set it.
TANDEM_API extern std::atomic<std::int64_t> frame_idle_ns;
TANDEM_API void note_idle_wake() noexcept;

/// What the store has done, for tests.
struct frame_store_counts {
  std::size_t mapped_bytes = 0;
  std::uint64_t system_calls = 0;  ///< to get memory, and to give it back
  std::uint64_t trims = 0;         ///< of the whole store
  std::uint64_t idle_wakes = 0;    ///< of threads that lay down with something to give back
};
TANDEM_API frame_store_counts count_frame_store() noexcept;

/// A spell of idleness of one thread, by the times that it is told.
class frame_idle {
 public:
  static constexpr std::int64_t never = INT64_MAX;

  /// trim/lie_down
  ///
  /// @param anyway  it wakes once though there is nothing to give back: for deadlocks/idle
  void begin(std::int64_t now_ns, bool anyway = false) noexcept {
    gives_back_ = has_frames_to_trim();
    // Relaxed: a number.
    deadline_ns_ =
        gives_back_ || anyway ? now_ns + frame_idle_ns.load(std::memory_order_relaxed) : never;
  }
  /// Until when it may lie before it gives back; never once it has.
  std::int64_t deadline_ns() const noexcept { return deadline_ns_; }
  bool is_due(std::int64_t now_ns) const noexcept { return deadline_ns_ <= now_ns; }

  /// trim/give_back: the deadline has passed. Gives back what the thread keeps, or a part of
  /// `all_of_it`, what the process keeps: while the deadline stays as it is there is more, after a
  /// look for work.
  void give_back(bool all_of_it) noexcept {
    if (!all_of_it) {
      trim_frame_cache();
    } else if (trim_frame_store()) {
      return;
    }
    deadline_ns_ = never;
    if (gives_back_) note_idle_wake();
  }

 private:
  std::int64_t deadline_ns_ = never;
  bool gives_back_ = false;
};

}  // namespace tandem::inline v0::detail
