// selection.hpp: what the branches of one select share: who of them has ended it.
// SPDX-License-Identifier: MIT
//
// Protocol selecting, runtime/src/select/README.md. The word:
//
//   away     the task is not waiting (it arms its branches, or does something else): no claim
//            succeeds
//   open     the task waits: the first claim decides
//   ended    which branch was claimed, or that the wait was stopped; until the next wait is opened it
//            counts as away
//
// With `noticed` beside away or ended: a claim has failed, and has left word in the branch's place.
// With `stop_came` likewise: a stop was requested meanwhile.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <tandem/config.hpp>
#include <tandem/detail/leaf.hpp>

namespace tandem::inline v0::detail {

class selection;

/// A branch, as its source sees it. It stays where it is while the branch is armed.
struct select_place {
  /// Takes the wait out of a source that ends waits one by one. Any thread, also under the stop
  /// locks. @returns false if the source has taken it out already, or will: then it calls end()
  using let_go_function = bool (*)(leaf&) noexcept;

  selection* of = nullptr;
  std::uint32_t index = 0;
  bool is_armed = false;   // its source may know it; the strand's; constant while the select waits
  bool ask_again = false;  // the strand's: armed, and somebody has come to it
  bool is_over = false;    // likewise: it can be taken no more
  /// selecting/claim. Somebody has failed to claim it, or was about to: so it may have left its list.
  /// Relaxed: written before the word says `noticed`, and read after that.
  std::atomic<bool> set_aside{false};
  /// selecting/end. Of one that ends later, and has not been claimed: its source is done with it.
  std::atomic<bool> has_ended{false};
  // The following are the selection's.
  bool has_joined = false;
  bool is_out = false;  // one that ends later has been armed
  wait_end by = wait_end::anybody;
  leaf* what = nullptr;
  let_go_function let_go = nullptr;  // of one that ends later
  select_place* next = nullptr;
};

/// The one leaf of a select.
class TANDEM_API select_leaf final : public leaf {
 public:
  select_leaf(const wait_kind& kind, selection& of) noexcept : leaf(kind), of_(&of) {}
  static bool on_stop(stop_waiter& self) noexcept;
  const selection& of() const noexcept { return *of_; }

 private:
  selection* of_;
};

class TANDEM_API selection {
 public:
  static constexpr std::uint32_t stopped = 0x1FFF'FFFE;  // in place of an index

  selection() noexcept {}  // NOLINT: the leaf's room
  selection(const selection&) = delete;
  selection& operator=(const selection&) = delete;
  ~selection() {
    if (has_leaf_) std::destroy_at(std::addressof(leaf_));
  }

  // The task that selects.

  /// selecting/turn. No claim succeeds until open(). @returns whether places may have been set aside
  bool turn() noexcept {
    // Acquire: pairs with notice(), for what stands in the places.
    resting_ = word_.load(std::memory_order_acquire);
    if ((resting_ & (noticed | stop_came)) == 0) [[likely]]
      return false;
    resting_ = away;
    return (word_.exchange(away, std::memory_order_acq_rel) & noticed) != 0;
  }
  /// Publishes the wait. @returns false if a stop was requested before
  bool begin(promise_base& waiting, std::size_t branches) noexcept;
  /// A stop ends the wait as if this branch had been claimed (stopped()).
  void stop_is(std::uint32_t index) noexcept { stop_index_ = index; }
  /// By leaf::join().
  void enter(select_place& place, leaf& what) noexcept;
  /// selecting/later. Before a branch is armed whose source ends waits one by one: then its wait ends
  /// once, by let_go or by end().
  void arms_later(select_place& place, select_place::let_go_function let_go, wait_end by) noexcept;
  /// After that: it was not armed.
  void not_armed(select_place& place) noexcept;

  enum class opening : std::uint8_t { waits, noticed, stopped };
  /// selecting/open. If it waits, the task may have gone on elsewhere already.
  opening open() noexcept;
  /// selecting/step. After that, where it was noticed.
  void fall_out_of_step(std::uint32_t round) const noexcept;
  /// selecting/take. The task has taken something itself. @returns what await_suspend returns
  bool close(std::uint32_t index) noexcept;
  /// Where begin() has said no.
  void close_unpublished(std::uint32_t index) noexcept;
  /// As close(): it was stopped before it waited.
  bool close_stopped() noexcept { return close(stop_index_); }
  /// selecting/go_on. After a wait: who has ended it.
  std::uint32_t winner() const noexcept {
    return (word_.load(std::memory_order_acquire) >> shift) - 1;  // pairs with the claim
  }
  /// After that, when all that does not stay armed was disarmed: nobody else touches the selection
  /// any more.
  void end_turn() noexcept;
  /// After a wait.
  const leaf& wait() const noexcept { return leaf_; }

  // Whoever has something for a branch.
  bool claim(select_place& by) noexcept {
    word seen = open_now;
    // acq_rel: pairs with open(), and with the claims that fail.
    if (word_.compare_exchange_strong(seen, ended_by(by.index), std::memory_order_acq_rel))
        [[likely]]
      return true;
    return claim_again(by, seen);
  }
  branch_look look(select_place& at) noexcept;
  branch_look claim_unless_own(select_place& by) noexcept;
  /// selecting/finish. The claimed one is theirs now. @returns whether the caller posts the task
  bool finish() noexcept;
  /// selecting/end
  bool end(select_place& of) noexcept;
  promise_base& waiting() const noexcept { return leaf_.waiting(); }

 private:
  friend class select_leaf;
  using word = std::uint32_t;
  static constexpr word away = 0;
  static constexpr word open_now = 1;
  static constexpr word noticed = 2;
  static constexpr word stop_came = 4;
  static constexpr unsigned shift = 3;
  static constexpr word ended_by(std::uint32_t index) noexcept { return (index + 1) << shift; }

  void stop() noexcept;
  void let_go_all() noexcept;
  bool claim_again(select_place& by, word seen) noexcept;
  static branch_look pass_over(select_place& own) noexcept;
  /// @returns  false, and `seen`, if the word has changed
  bool notice(select_place& by, word& seen) noexcept;
  /// selecting/shares. @returns whether they were the last ones
  bool give_up_shares(std::uint32_t count) noexcept {
    // acq_rel: whoever has the last one sees what the others have done, and goes on with the task.
    return shares_.fetch_sub(count, std::memory_order_acq_rel) == count;
  }
  static void describe(const stop_waiter& wait, wait_note& note) noexcept;
  static const wait_kind waits_for_first;

  std::atomic<word> word_{away};
  word resting_ = away;                   // the task's: what the word says until it is opened
  std::atomic<std::uint32_t> shares_{1};  // selecting/shares
  std::uint32_t stop_index_ = stopped;
  bool has_leaf_ = false;
  bool ends_later_ = false;                   // constant while it is open: shares have been given
  std::atomic<const void*> arming_{nullptr};  // selecting/own: whose thread arms
  select_place* joined_ = nullptr;
  std::size_t branches_ = 0;
  union {
    select_leaf leaf_;
  };
};

/// selecting/end. Until the source that is about to leave word has done so: it is two instructions
/// away.
TANDEM_API void wait_for_end(const select_place& place) noexcept;

/// Where a select begins to look: after where the last one at this place began. So none of n branches
/// that are always ready waits longer than n turns in a row on one thread.
///
/// @param site  an address that is the same at each turn of a loop
TANDEM_API std::uint32_t first_branch(const void* site, std::uint32_t count) noexcept;

}  // namespace tandem::inline v0::detail
