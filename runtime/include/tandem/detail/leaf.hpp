// leaf.hpp: base of every await that waits for something outside the task (a timer, an event, I/O).
// SPDX-License-Identifier: MIT
//
// Life of a leaf (protocol stopping, runtime/src/stop/README.md):
//   begin()      publishes it; false: a stop was requested already, nothing may be started
//   the source   (timer wheel, wait list, ring) ends it exactly once: whoever detaches it from the
//                source calls finish(), or finish_stopped() from inside on_stop
//   the resume   is posted by the second of the two holders, or by finish() where there is one only
#pragma once

#include <coroutine>

#include <tandem/detail/promise_base.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/errors.hpp>
#include <tandem/stop.hpp>

namespace tandem::inline v0::detail {

class leaf : public stop_waiter {
 public:
  leaf(const wait_kind& kind) noexcept : stop_waiter(kind, true) {}  // NOLINT
  leaf(leaf&& other) noexcept = default;

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
  [[nodiscard]] bool finish_unposted() noexcept { return waiting_->env->stop().take_back(*this); }
  void finish() noexcept {
    promise_base* const waiting = waiting_;
    if (finish_unposted()) waiting->post();
  }
  /// From inside on_stop, after the operation was detached from its source.
  void finish_stopped() noexcept {
    cancelled_ = true;
    (void)hand_over();  // the stopper is the second holder
  }

  bool cancelled() const noexcept { return cancelled_; }
  void set_cancelled() noexcept { cancelled_ = true; }
  promise_base& waiting() const noexcept { return *waiting_; }
  bool has_waiting() const noexcept { return waiting_ != nullptr; }
  /// For an operation that ends before begin().
  void set_waiting(promise_base& waiting) noexcept { waiting_ = &waiting; }
  stop_reason cancel_reason() const noexcept { return waiting_->env->stop().reason(); }
  void throw_if_cancelled() const {
    if (cancelled_) throw operation_cancelled(cancel_reason());
  }
  /// The same without a throw; null if it was not.
  std::exception_ptr failure_if_cancelled() const noexcept {
    return cancelled_ ? cancellation(cancel_reason()) : nullptr;
  }

 private:
  bool cancelled_ = false;  // first: it fits into the base's padding
  promise_base* waiting_ = nullptr;
};

/// Where an await would give way a stop is looked for, before anything is taken: so a loop of
/// awaits that are all ready hears of its stop, too.
TANDEM_ALWAYS_INLINE bool must_stop(const thread_context& context) noexcept {
  return context.budget <= 1 && stop_requested();
}
TANDEM_ALWAYS_INLINE bool must_stop() noexcept { return must_stop(this_thread()); }

}  // namespace tandem::inline v0::detail
