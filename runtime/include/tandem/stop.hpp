// stop.hpp: cancellation inside the runtime: a stop state per environment, one leaf waiter per await.
// SPDX-License-Identifier: MIT
//
// A stop state is linked to its parent once, when its task starts. An await publishes its leaf by
// one exchange and takes it back by one; there is no callback list, no allocation, no
// std::stop_callback. Who may touch what, and why no stop is lost, stands in
// runtime/src/stop/README.md ("Stop", protocol stopping).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include <tandem/config.hpp>
#include <tandem/detail/futex_mutex.hpp>
#include <tandem/detail/wait_kind.hpp>

namespace tandem::inline v0 {

/// Why a task was asked to stop. The first reason stays, and goes down the tree of tasks unchanged.
enum class stop_reason : std::uint8_t {
  none,
  user,            ///< join_handle::cancel, task_scope::request_stop, a std::stop_token
  deadline,        ///< with_timeout
  parent,          ///< the task that waited for it has ended
  sibling_failed,  ///< another child of the same scope threw
  race_lost,       ///< another child of the same race or when_any was first
  shutdown,        ///< the runtime ends
  discarded,       ///< a worker pool that was full or shut down has dropped the submission
  migrate,         ///< internal: the operation moves to another completion thread
};

/// The name of the enumerator, with blanks: "sibling failed".
TANDEM_API const char* to_string(stop_reason reason) noexcept;

class stop_state;

namespace detail {
class stop_look;
class stopped_tasks;
}  // namespace detail

/// The leaf of a chain of awaits: what a stop request has to reach.
///
/// Two parties hold a published waiter when a stop races with its completion: the one that
/// completes the operation and the stopper. Each ends with hand_over(); the second one resumes the
/// task. A look (stopping/look) holds it in the stopper's place, for a moment.
class stop_waiter {
 public:
  /// Asks the operation to end early. Runs on the stopper's thread, under the stop locks, and so
  /// only posts, never resumes. @returns true if the stopper's hold ends with the call; false if
  /// the operation keeps the hold and will call hand_over() itself.
  using stop_function = bool (*)(stop_waiter&) noexcept;

  /// @param kind     whose on_stop is called; a constant that lives as long as the program
  /// @param is_leaf  a detail::leaf; else a stop_listener
  stop_waiter(const detail::wait_kind& kind, bool is_leaf) noexcept
      : kind_(&kind), is_leaf_(is_leaf) {}
  /// Moving is for awaiters that have not started (g++ 12 needs movable awaiters).
  stop_waiter(stop_waiter&& other) noexcept : kind_(other.kind_), is_leaf_(other.is_leaf_) {}
  stop_waiter& operator=(stop_waiter&&) = delete;

  /// @returns  true for the second of the two holders, who now resumes
  bool hand_over() noexcept {
    return handed_.exchange(handed::over, std::memory_order_acq_rel) == handed::over;
  }
  /// Schedules the task that waits. The waiter is dead afterwards.
  TANDEM_API void resume() noexcept;

  const detail::wait_kind& kind() const noexcept { return *kind_; }

 private:
  friend class stop_state;
  friend class detail::stop_look;
  /// over: one of the two holders has handed over. looked_at: a look has put it back, or is about
  /// to.
  enum class handed : std::uint8_t { no, over, looked_at };

  const detail::wait_kind* kind_;
  stop_waiter* previous_ = nullptr;  // overflow list, under the state's lock
  stop_waiter* next_ = nullptr;
  bool overflowed_ = false;  // set by publish, constant until the operation has ended
  bool listed_ = false;      // under the state's lock
  const bool is_leaf_;
  bool after_walk_ = false;  // set by listen: on_stop runs when the stopper holds no lock any more
  std::atomic<handed> handed_{handed::no};
};

/// A waiter that is no leaf of an await.
class stop_listener : public stop_waiter {
 public:
  /// Goes on with whatever waits. The listener is dead afterwards.
  using resume_function = void (*)(stop_listener&) noexcept;

  stop_listener(const detail::wait_kind& kind, resume_function on_resume) noexcept
      : stop_waiter(kind, false), resume_(on_resume) {}
  /// For awaiters that have not started.
  stop_listener(stop_listener&& other) noexcept = default;

 private:
  friend class stop_waiter;
  resume_function resume_;
};

/// The stop state of one environment.
///
/// @thread_safety  link, unlink and publish: the task's own strand; everything else: any thread.
///                 publish and reason also touch the states above, which outlive it
class TANDEM_API stop_state {
 public:
  stop_state() noexcept = default;
  /// stopping/late. A child of `parent` that is linked only once something below waits. Whoever asks
  /// it for a reason asks the parent, too. Of an environment, which then calls link_if_deep().
  ///
  /// @param tells  the environment's kind wants to know (environment_kind::linked)
  stop_state(stop_state& parent, bool tells) noexcept
      : slot_(not_linked_mark()),
        reason_(as_above),
        late_levels_(static_cast<std::uint8_t>(parent.late_levels_ + 1)),
        tells_(tells),
        parent_(&parent) {}
  stop_state(const stop_state&) = delete;
  stop_state& operator=(const stop_state&) = delete;
  ~stop_state();

  bool stop_requested() const noexcept { return reason() != stop_reason::none; }
  /// The first one; none as long as nobody has asked for a stop.
  stop_reason reason() const noexcept {
    const stop_reason own = reason_.load(std::memory_order_acquire);
    return own != as_above ? own : reason_above();
  }
  /// As above, for reports: it may be called under the locks of stop states.
  stop_reason reason_for_report() const noexcept;

  /// Stops this state and all below it. @returns  false if it had been stopped before
  bool request_stop(stop_reason reason) noexcept;

  /// Becomes a child of `parent`, and is stopped at once if the parent already is.
  void link(stop_state& parent) noexcept;
  /// stopping/late. So that whoever asks for a reason has only some parents to ask.
  void link_if_deep() noexcept {
    if (late_levels_ > most_late_levels) [[unlikely]]
      link_at_once();
  }
  /// stopping/closed. Becomes a child, but no stop comes down to it: for looks.
  void link_closed(stop_state& parent) noexcept;
  /// Leaves the parent. Afterwards no stopper holds this state any more.
  void unlink() noexcept;

  /// @returns  false if a stop was requested before: then nothing was published
  bool publish(stop_waiter& waiter) noexcept;
  /// Whoever ends the operation. @returns true if the caller resumes the task; false if somebody
  /// else holds the waiter, and resumes: then it must not be touched any more
  bool take_back(stop_waiter& waiter) noexcept {
    return withdraw(waiter) || leave_to_holder(waiter);
  }

  /// stopping/listener. As publish(), for one that is told once the walk is over, and so may run
  /// foreign code. It is no leaf: it may stay for the whole life of the task. @returns false if
  /// there was a stop already
  bool listen(stop_waiter& waiter) noexcept;
  /// The same, for one that stays no longer than an await: it takes the place of a leaf.
  bool listen_in_await(stop_waiter& waiter) noexcept;

  // Implementation
  /// For reports: calls `look` with each child, none of which ends meanwhile. It must not wait, nor
  /// use a stop state.
  ///
  /// Marks of a look (kind_of_mark) may be among them.
  ///
  /// @returns  false if the list is locked: then nothing was called
  template <class Look>
  bool try_for_each_child(Look look) const {
    const std::unique_lock lock(lock_, std::try_to_lock);
    if (!lock) return false;
    for (const stop_state* each = first_child_; each != nullptr; each = each->next_sibling_) {
      look(*each);
    }
    return true;
  }

 private:
  friend class detail::stop_look;
  // Addresses that are no waiter's, nor ever dereferenced.
  static stop_waiter* stopped_mark() noexcept;
  static stop_waiter* held_mark() noexcept;
  static stop_waiter* not_linked_mark() noexcept {
    return reinterpret_cast<stop_waiter*>(std::uintptr_t{3});  // NOLINT
  }
  /// stopping/late: none of its own; the parent may have one.
  static constexpr stop_reason as_above = static_cast<stop_reason>(0xFF);
  static constexpr std::uint8_t most_late_levels = 16;  // of parents that are asked
  static bool is_stop(stop_reason reason) noexcept {
    return reason != stop_reason::none && reason != as_above;
  }
  /// stopping/late. Acquire, both: pairs with link_now().
  bool is_not_linked() const noexcept {
    // One that was stopped before anything waited has no mark any more.
    return slot_.load(std::memory_order_acquire) == not_linked_mark() ||
           (late_levels_ != 0 && !is_listed_.load(std::memory_order_acquire));
  }
  stop_reason reason_above() const noexcept;
  /// stopping/late. Any thread below.
  void link_now() noexcept;
  void enter_late() noexcept;
  void link_at_once() noexcept;
  void tell_linked() noexcept;
  bool tell_asked() const noexcept;
  /// @returns  true if taken back; false if a stopper holds it, or a look
  bool withdraw(stop_waiter& waiter) noexcept;
  /// stopping/leave. After a withdraw() that failed. @returns as take_back()
  bool leave_to_holder(stop_waiter& waiter) noexcept;
  /// stopping/request. On the stopper's side, for a waiter that was taken.
  static void stop_one(stop_waiter& waiter, detail::stopped_tasks& stopped) noexcept;
  /// stopping/request. The waiter is ours: what an earlier look has left in it counts no more.
  static void forget_look(stop_waiter& waiter) noexcept;
  /// stopping/walk. This one, or the next sibling that a stop comes down to.
  static stop_state* open_from(stop_state* child) noexcept {
    while (child != nullptr && child->is_closed_) child = child->next_sibling_;
    return child;
  }
  /// Under the parent's lock.
  void enter_children_of(stop_state& parent) noexcept {
    is_listed_.store(true, std::memory_order_release);  // pairs with is_not_linked()
    previous_sibling_ = nullptr;
    next_sibling_ = parent.first_child_;
    if (next_sibling_ != nullptr) next_sibling_->previous_sibling_ = this;
    parent.first_child_ = this;
  }
  bool add_to_list(stop_waiter& waiter) noexcept;
  /// @returns  `later` and those in front of it that stopping/listener tells after the walk
  stop_waiter* mark(stop_reason reason, stop_waiter* later,
                    detail::stopped_tasks& stopped) noexcept;
  void fetch_ahead() const noexcept;
  static void tell_after_walk(stop_waiter* later) noexcept;

  std::atomic<stop_waiter*> slot_{nullptr};  // null | the leaf | one of the marks
  std::atomic<stop_reason> reason_{stop_reason::none};
  std::uint8_t late_levels_ =
      0;                      // stopping/late: how many there are up to one that was linked at once
  const bool tells_ = false;  // stopping/tell
  bool is_looked_at_ = false;           // under the parent's lock: a look is below this state
  bool is_closed_ = false;              // stopping/closed; constant while it is linked
  std::atomic<bool> is_listed_{false};  // among the parent's children; changed under its lock
  mutable detail::futex_mutex
      lock_;  // guards overflow_, first_child_ and the sibling links of the children
  stop_waiter* overflow_ = nullptr;
  stop_state* parent_ = nullptr;  // set before anybody else is below
  stop_state* first_child_ = nullptr;
  stop_state* previous_sibling_ = nullptr;  // under the parent's lock
  stop_state* next_sibling_ = nullptr;      // under the parent's lock
};

/// Whether the current task was asked to stop; usable in plain functions. False outside any task.
///
/// @cost  a thread-local read and a load
TANDEM_API bool stop_requested() noexcept;

/// Why the current task was asked to stop; none if it was not, or outside any task.
TANDEM_API stop_reason current_stop_reason() noexcept;

/// @throws  operation_cancelled if the current task was asked to stop
TANDEM_API void throw_if_stopped();

}  // namespace tandem::inline v0
