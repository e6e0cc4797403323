// root_state.hpp: the word of a spawned task: who starts it or removes it, and where its result is.
// SPDX-License-Identifier: MIT
//
// One word holds phase and pointer. Its lowest two bits are the phase, the third a note of whoever
// made it; the rest is the unstarted frame (queued, removed), or the room of the result (running,
// done). A removed one whose frame was handed out has no pointer.
//   queued -> running   by the start job, or by a joiner (joining/run_queued)
//   queued -> removed   by a cancel, or by whoever empties a queue
//   running -> done     by the task itself
// The first two are one CAS each, so a task is started or removed, never both. Whoever loses finds
// the phase that has won.
#pragma once

#include <atomic>
#include <cstdint>

#include <tandem/detail/promise_base.hpp>

namespace tandem::inline v0::detail {

class root_state {
 public:
  enum class phase : std::uint8_t { queued, removed, running, done };

  /// Queued.
  root_state(promise_base& body, bool note) noexcept
      : word_(reinterpret_cast<word>(&body) | (note ? note_bit : 0)) {  // NOLINT
    static_assert(alignof(promise_base) >= 8 && alignof(outcome_base) >= 8);
  }

  // Any thread.
  phase now() const noexcept { return phase_of(word_.load(std::memory_order_acquire)); }
  /// A hint.
  bool looks_queued() const noexcept {
    return phase_of(word_.load(std::memory_order_relaxed)) == phase::queued;
  }
  bool note() const noexcept {
    return (word_.load(std::memory_order_relaxed) & note_bit) != 0;  // constant
  }
  /// Null if it never started. Its result is there once it is done.
  outcome_base* result_room() const noexcept {
    const word seen = word_.load(std::memory_order_acquire);  // pairs with end()
    if (phase_of(seen) < phase::running) return nullptr;
    return reinterpret_cast<outcome_base*>(seen & pointer_mask);  // NOLINT
  }
  /// queued -> running.
  ///
  /// @param found  set to the phase that it had
  /// @returns      the frame, for the caller to start; null if it was not queued
  promise_base* begin(phase& found) noexcept {
    word seen = word_.load(std::memory_order_acquire);
    while ((found = phase_of(seen)) == phase::queued) {
      if (!change(seen, seen | bits_of(phase::running))) continue;
      // Only now is the frame ours: another starter may have run it to its end meanwhile.
      promise_base& body = body_of(seen);
      // Relaxed: nobody asks for the room before the task has ended.
      word_.store(reinterpret_cast<word>(body.room) | (seen & note_bit) |  // NOLINT
                      bits_of(phase::running),
                  std::memory_order_relaxed);
      return &body;
    }
    return nullptr;
  }
  /// queued -> removed; the frame stays.
  /// @returns  the phase that it had: queued if it was removed now
  phase remove() noexcept {
    word seen = word_.load(std::memory_order_acquire);
    while (phase_of(seen) == phase::queued) {
      if (change(seen, seen | bits_of(phase::removed))) return phase::queued;
    }
    return phase_of(seen);
  }
  /// queued -> removed; the frame is the caller's. @returns null if it was not queued
  promise_base* take_frame() noexcept {
    word seen = word_.load(std::memory_order_acquire);
    while (phase_of(seen) == phase::queued) {
      if (change(seen, bits_of(phase::removed) | (seen & note_bit))) return &body_of(seen);
    }
    return nullptr;
  }

  /// running -> done. The task: nobody else changes the word then. Release: pairs with
  /// result_room().
  void end() noexcept {
    word_.store(word_.load(std::memory_order_relaxed) | bits_of(phase::done),
                std::memory_order_release);
  }
  /// Whoever has removed it, or is the last one to know it. @returns a frame that never started, if
  /// it is still there: the caller's now
  promise_base* give_up_frame() noexcept {
    // Relaxed: nobody else changes the word any more, nor looks at the frame.
    const word seen = word_.load(std::memory_order_relaxed);
    if (phase_of(seen) >= phase::running || (seen & pointer_mask) == 0) return nullptr;
    word_.store(seen & ~pointer_mask, std::memory_order_relaxed);
    return &body_of(seen);
  }

 private:
  using word = std::uintptr_t;
  static constexpr word note_bit = 4;
  static constexpr word pointer_mask = ~word{7};
  static constexpr phase phase_of(word of) noexcept { return static_cast<phase>(of & 3); }
  static constexpr word bits_of(phase of) noexcept { return static_cast<word>(of); }
  static promise_base& body_of(word of) noexcept {
    return *reinterpret_cast<promise_base*>(of & pointer_mask);  // NOLINT
  }
  bool change(word& seen, word to) noexcept {
    return word_.compare_exchange_weak(seen, to, std::memory_order_acq_rel,
                                       std::memory_order_acquire);
  }

  std::atomic<word> word_;
};

}  // namespace tandem::inline v0::detail
