// select_turn.hpp: one turn of a select: a look at its branches, and the wait for the first of them.
// SPDX-License-Identifier: MIT
//
// Protocol selecting, runtime/src/select/README.md.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>

#include <tandem/detail/select_branches.hpp>
#include <tandem/detail/selection.hpp>
#include <tandem/detail/wait_list.hpp>

namespace tandem::inline v0::detail {

/// @tparam Branches    branch_tuple, or the like
/// @tparam StaysArmed  between two turns: a selector's
template <class Branches, bool StaysArmed>
class select_turn {
 public:
  /// @returns  what await_ready returns
  TANDEM_ALWAYS_INLINE bool look(Branches& branches, selection& of, std::uint32_t first) noexcept {
    if constexpr (StaysArmed) {
      if (of.turn()) [[unlikely]]
        branches.see_set_aside();
    }
    thread_context& context = this_thread();
    if (!Branches::has_stop && must_stop(context)) [[unlikely]]
      return false;
    first_ = first;
    winner_ = branches.try_from(first);
    if (winner_ == no_branch) return false;
    if (charge_ready_await(context)) [[likely]]
      return true;
    gives_way_ = true;
    return false;
  }

  /// @returns  what await_suspend returns
  bool wait(Branches& branches, selection& of, promise_base& waiting) noexcept {
    if (gives_way_) {
      yield_for_budget(waiting);
      return true;
    }
    has_waited_ = true;
    if (!of.begin(waiting, branches.size())) {
      // A stop came before: of stopped() it is what it waits for.
      const std::uint32_t taken = Branches::has_stop ? branches.stop_branch() : no_branch;
      of.close_unpublished(taken != no_branch ? taken : selection::stopped);
      return false;
    }
    for (std::uint32_t round = 0;; ++round) {
      const std::uint32_t taken = branches.arm(of, first_);
      if (taken != no_branch) return of.close(taken);
      switch (of.open()) {
        case selection::opening::waits: return true;  // we may be gone
        case selection::opening::noticed:
          of.fall_out_of_step(round);
          branches.see_set_aside();
          break;
        case selection::opening::stopped: return of.close_stopped();
      }
    }
  }

  /// selecting/go_on. First thing after the wait, as often as asked.
  void settle(Branches& branches, selection& of) noexcept {
    if (!has_waited_) return;
    has_waited_ = false;
    winner_ = of.winner();
    branches.disarm_others(winner_, !StaysArmed || winner_ == selection::stopped);
    of.end_turn();
  }
  bool was_stopped() const noexcept { return winner_ == selection::stopped; }
  /// After settle().
  std::uint32_t winner() const noexcept { return winner_; }

 private:
  std::uint32_t winner_ = no_branch;
  std::uint32_t first_ = 0;
  bool gives_way_ = false;
  bool has_waited_ = false;
};

}  // namespace tandem::inline v0::detail
