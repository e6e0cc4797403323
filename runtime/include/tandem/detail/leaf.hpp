// leaf.hpp: base of every await that waits for something outside the task (a timer, an event, I/O).
// SPDX-License-Identifier: MIT
//
// Life of a leaf (protocol stopping, runtime/src/stop/README.md):
//   begin()      publishes it; false: a stop was requested already, nothing may be started
//   the source   (timer wheel, wait list, ring) ends it exactly once: whoever detaches it from the
//                source calls finish(), or finish_stopped() from inside on_stop
//   the resume   is posted by the second of the two holders, or by finish() where there is one only
//
// A branch of a select (protocol selecting, runtime/src/select/README.md) is not published: it has
// joined a selection, which is the leaf of all its branches. Whoever would end it claims it first.
#pragma once

#include <coroutine>
#include <cstdint>
#include <utility>

#include <tandem/detail/promise_base.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/errors.hpp>
#include <tandem/stop.hpp>

namespace tandem::inline v0::detail {

struct select_place;
enum class branch_look : std::uint8_t {
  claimable,  ///< so it was a moment ago
  not_now,    ///< it leaves the source's list, as after a claim that failed
  own,        ///< of the select that the caller itself is arming: it is passed over
};

class leaf : public stop_waiter {
 public:
  leaf(const wait_kind& kind) noexcept : stop_waiter(kind, true) {}  // NOLINT
  /// For awaiters that have not started.
  leaf(leaf&& other) noexcept
      : stop_waiter(std::move(other)), cancelled_(other.cancelled_), waiting_(other.waiting_) {}

  /// @returns  false if a stop was requested before; then cancelled() is set
  bool begin(promise_base& waiting) noexcept {
    waiting_ = &waiting;
    if (waiting.env->stop().publish(*this)) [[likely]]
      return true;
    cancelled_ = true;
    return false;
  }

  /// The operation has ended. @returns true if the caller has to schedule waiting(), or, from
  /// inside the await, may go on at once; else whoever holds the leaf (a stopper, a look) schedules
  /// it, and the leaf must not be touched any more.
  [[nodiscard]] bool finish_unposted() noexcept {
    if (is_branch_) [[unlikely]]
      return finish_branch(*place_of_);
    return waiting_->env->stop().take_back(*this);
  }
  void finish() noexcept {
    promise_base& task = waiting();
    if (finish_unposted()) task.post();
  }
  /// From inside on_stop, after the operation was detached from its source.
  void finish_stopped() noexcept {
    cancelled_ = true;
    (void)hand_over();  // the stopper is the second holder
  }

  bool cancelled() const noexcept { return cancelled_; }
  void set_cancelled() noexcept { cancelled_ = true; }
  promise_base& waiting() const noexcept {
    if (is_branch_) [[unlikely]]
      return waiting_of(*place_of_);
    return *waiting_;
  }
  bool has_waiting() const noexcept { return waiting_ != nullptr; }
  /// For an operation that ends before begin().
  void set_waiting(promise_base& waiting) noexcept { waiting_ = &waiting; }
  stop_reason cancel_reason() const noexcept { return waiting().env->stop().reason(); }
  void throw_if_cancelled() const {
    if (cancelled_) throw operation_cancelled(cancel_reason());
  }
  /// The same without a throw; null if it was not.
  std::exception_ptr failure_if_cancelled() const noexcept {
    return cancelled_ ? cancellation(cancel_reason()) : nullptr;
  }

  /// In place of begin(): a branch of a select, from now on. Again at each turn, where it may be in
  /// its source's list, and looked at.
  void join(select_place& as) noexcept {
    if (!is_branch_) {  // once: see above
      is_branch_ = true;
      place_of_ = &as;
    }
    enter_selection(as, *this);
  }
  /// selecting/later. As join(), for a wait that its source ends by end(), and not under a lock of its
  /// own. It may have ended already when the source has it.
  ///
  /// @param let_go  takes it out of the source. Any thread, also under the stop locks. @returns false
  ///                if the source has taken it out, or will: then that calls end()
  /// @param by      for reports
  TANDEM_API void join_later(select_place& as, bool (*let_go)(leaf&) noexcept,
                             wait_end by) noexcept;
  /// After that: the source does not have it.
  TANDEM_API void not_armed() noexcept;
  bool is_branch() const noexcept { return is_branch_; }
  select_place& place_of() const noexcept { return *place_of_; }
  /// selecting/claim. By whoever is about to give this wait what it waits for, under the source's
  /// lock. @returns false if it must not: another branch has ended the select, or its task is just
  /// looking. Then the wait leaves the source's list, and is armed anew if need be
  [[nodiscard]] bool claim() noexcept { return !is_branch_ || claim_branch(*place_of_); }
  /// Likewise. @returns  claimable: it is claimed; own: it was not, and stays in the list
  [[nodiscard]] branch_look claim_unless_own() noexcept {
    return is_branch_ ? claim_unless_own(*place_of_) : branch_look::claimable;
  }
  /// selecting/end. As finish_unposted(), for a wait that was not claimed: of a source whose waits end
  /// one by one, without a lock that a disarm could take.
  [[nodiscard]] bool end_unposted() noexcept {
    if (is_branch_) [[unlikely]]
      return end_branch(*place_of_);
    return finish_unposted();
  }
  void end() noexcept {
    promise_base& task = waiting();
    if (end_unposted()) task.post();
  }
  /// selecting/look. Whether a claim might succeed; claims nothing.
  [[nodiscard]] branch_look look_at_branch() noexcept {
    return is_branch_ ? look_at_branch(*place_of_) : branch_look::claimable;
  }

 private:
  // Defined in room select.
  TANDEM_API static void enter_selection(select_place& as, leaf& what) noexcept;
  TANDEM_API static bool claim_branch(select_place& of) noexcept;
  TANDEM_API static branch_look claim_unless_own(select_place& of) noexcept;
  TANDEM_API static branch_look look_at_branch(select_place& of) noexcept;
  TANDEM_API static bool end_branch(select_place& of) noexcept;
  TANDEM_API static bool finish_branch(select_place& of) noexcept;
  TANDEM_API static promise_base& waiting_of(const select_place& of) noexcept;

  bool cancelled_ = false;  // these two first: they fit into the base's padding
  bool is_branch_ = false;
  union {
    promise_base* waiting_ = nullptr;
    select_place* place_of_;  // of a branch
  };
};

/// Where an await would give way a stop is looked for, before anything is taken: so a loop of
/// awaits that are all ready hears of its stop, too.
TANDEM_ALWAYS_INLINE bool must_stop(const thread_context& context) noexcept {
  return context.budget <= 1 && stop_requested();
}
TANDEM_ALWAYS_INLINE bool must_stop() noexcept { return must_stop(this_thread()); }

}  // namespace tandem::inline v0::detail
