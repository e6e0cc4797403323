// guests.hpp: the completion threads that an engine hosts, and those that come and go.
// SPDX-License-Identifier: MIT
//
// Protocol moving: README.md beside this. All of it is the engine's thread's, unless said otherwise.
#pragma once

#include <atomic>
#include <vector>

#include "engine/completion_thread.hpp"

namespace tandem::inline v0::io {

class completion_engine;
class moves;

class guests {
 public:
  using host = completion_thread::impl;

  /// @param most  how many it may have to host
  guests(completion_engine& engine, moves& moved, unsigned most);

  /// Before its thread starts: it is to stay.
  void open() noexcept;

  std::vector<host*>::const_iterator begin() const noexcept { return hosted_.begin(); }
  std::vector<host*>::const_iterator end() const noexcept { return hosted_.end(); }
  bool empty() const noexcept { return hosted_.empty(); }
  std::size_t size() const noexcept { return hosted_.size(); }
  host& operator[](std::size_t index) const noexcept { return *hosted_[index]; }

  /// moving/ask. Whether there is something for look().
  bool is_asked() const noexcept { return requested_.load(std::memory_order_seq_cst); }
  /// moving/ask. Those that were sent here come in; those that are to go begin to.
  void look() noexcept;
  /// lending/keep. By its engine: the guest may move now.
  void ask_again(host& guest) noexcept;
  /// moving/drain. Those that are on their way out go, if nothing of them is left with the ring.
  void go_on() noexcept {
    if (any_moving_) [[unlikely]]
      let_go();
  }
  /// moving/leave. Whether the engine is to end, and nobody will ask it for anything.
  bool may_leave() const noexcept;

 private:
  friend class moves;
  void begin_move(host& guest) noexcept;
  void let_go() noexcept;
  /// moving/drain. Whether the ring still has something of it.
  static bool is_with_ring(const host& guest) noexcept;
  /// moving/exchange. @returns  whom to wake, if it goes
  completion_engine* hand_on(std::size_t index) noexcept;

  completion_engine& engine_;
  moves& moves_;
  std::vector<host*> hosted_;
  bool any_moving_ = false;
  std::atomic<bool> requested_{false};  // moving/ask: there are requests
  host* requests_ = nullptr;            // guarded by moves_
  bool leaving_ = false;                // guarded by moves_
};

}  // namespace tandem::inline v0::io
