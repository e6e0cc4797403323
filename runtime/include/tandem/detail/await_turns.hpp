// await_turns.hpp: functions of one await, run one at a time, whatever threads they come from.
// SPDX-License-Identifier: MIT
//
// Protocol turns: runtime/src/foreign/README.md. The word is one of
//   null         nobody has the turn
//   busy_mark    somebody has it, and nobody waits
//   an item      somebody has it; the newest of those that wait, linked to the older ones
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

class await_turns {
 public:
  class item {
   public:
    /// turns/go. The caller has the turn, and gives it to this: in the end somebody calls leave().
    using go_function = void (*)(item&) noexcept;
    explicit item(go_function go) noexcept : go_(go) {}

   private:
    friend class await_turns;
    go_function go_;
    item* next_ = nullptr;
  };

  await_turns() noexcept = default;
  await_turns(const await_turns&) = delete;
  await_turns& operator=(const await_turns&) = delete;

  /// turns/enter. @returns whether the caller has the turn now
  bool try_enter() noexcept {
    void* nobody = nullptr;
    // acquire: pairs with leave().
    return word_.compare_exchange_strong(nobody, busy_mark(), std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  /// turns/enter. @returns as above; if not, `waiting` is in the queue
  TANDEM_API bool enter(item& waiting) noexcept;
  /// turns/leave. By whoever has the turn.
  void leave() noexcept {
    void* seen = busy_mark();
    // release: pairs with the next one's enter.
    if (oldest_ == nullptr &&
        word_.compare_exchange_strong(seen, nullptr, std::memory_order_release,
                                      std::memory_order_relaxed)) [[likely]] {
      return;
    }
    pass_on();
  }

 private:
  static void* busy_mark() noexcept {
    return reinterpret_cast<void*>(std::uintptr_t{1});
  }  // NOLINT
  TANDEM_API void pass_on() noexcept;

  std::atomic<void*> word_{nullptr};
  item* oldest_ = nullptr;  // of whoever has the turn: taken from the word, the oldest first
};

/// Has the turn, until it goes.
class held_turn {
 public:
  explicit held_turn(await_turns& turns) noexcept : turns_(turns) {}
  held_turn(const held_turn&) = delete;
  held_turn& operator=(const held_turn&) = delete;
  ~held_turn() { turns_.leave(); }

 private:
  await_turns& turns_;
};

}  // namespace tandem::inline v0::detail
