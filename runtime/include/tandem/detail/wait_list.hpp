// wait_list.hpp: FIFO lists of awaits, the common base of event, semaphore, mutex, latch and channel.
// SPDX-License-Identifier: MIT
//
// A waiter is a leaf that lives in its awaiter, and hangs in the list of the primitive it waits
// for; the list is guarded by the primitive's lock_word. Whoever takes it out of the list decides
// how the await ends: a granter normally, a stopper with operation_cancelled. Protocol waiting:
// runtime/src/sync/README.md.
//
// An awaiter builds its waiter only when it has to wait (waiter_room): a ready await costs none of
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include <tandem/detail/leaf.hpp>
#include <tandem/detail/lock_word.hpp>
#include <tandem/detail/thread_context.hpp>

namespace tandem::inline v0::detail {

class taken_list;
class wait_list;

class TANDEM_API waiter : public leaf {
 public:
  /// @param kind  whose on_stop is waiter::on_stop
  waiter(const wait_kind& kind, lock_word& lock, wait_list& list) noexcept
      : leaf(kind), lock_(&lock), list_(&list) {}

  /// waiting/queue. Under the lock: false if a stop was first. Then unlock and return give_up().
  bool may_queue() const noexcept { return place_ != place::stopped; }
  /// What await_suspend returns: whether the task stays suspended.
  [[nodiscard]] bool give_up() noexcept {
    set_cancelled();
    return !finish_unposted();
  }
  /// waiting/queue. Under the lock: there is no need to wait any more. Then unlock and return
  /// go_on().
  void take() noexcept;
  [[nodiscard]] bool go_on() noexcept { return !finish_unposted(); }

  static bool on_stop(stop_waiter& self) noexcept;  // waiting/stop
  /// The word of what it waits for, which lives as long as the wait is held.
  const lock_word& word() const noexcept { return *lock_; }

  // A branch of a select, by the task that selects.
  /// Under the lock.
  bool is_queued() const noexcept { return place_ == place::queued; }
  /// selecting/go_on. Afterwards nobody else knows it. @returns whether it was in the list
  bool disarm() noexcept;

 private:
  friend class wait_list;
  friend class taken_list;
  // All under the lock. outside: not yet in the list. taken: whoever took it ends the await.
  // set_aside: a branch of a select that could not be claimed when its turn came.
  enum class place : std::uint8_t { outside, queued, taken, stopped, set_aside };

  lock_word* lock_;
  wait_list* list_;
  waiter* previous_ = nullptr;
  waiter* next_ = nullptr;
  place place_ = place::outside;
};

/// Waiters in the order in which they came. Guarded by the lock of the primitive.
class TANDEM_API wait_list {
 public:
  wait_list() noexcept = default;
  wait_list(const wait_list&) = delete;
  wait_list& operator=(const wait_list&) = delete;
  ~wait_list() {
    TANDEM_ASSERT(first_ == nullptr, "something was destroyed that a task still waits for");
  }

  bool empty() const noexcept { return first_ == nullptr; }
  /// How many are in it, branches that could not be claimed among them; looks at each.
  std::size_t count() const noexcept;
  /// The oldest one that may be taken; null if there is none, also where the list is not empty.
  /// Branches of selects in front of it that cannot be claimed are set aside.
  waiter* front() noexcept {
    if (first_ == nullptr || !first_->is_branch()) [[likely]]
      return first_;
    return front_past_branches();
  }
  void push_back(waiter& item) noexcept {
    item.place_ = waiter::place::queued;
    item.previous_ = last_;
    item.next_ = nullptr;
    (last_ != nullptr ? last_->next_ : first_) = &item;
    last_ = &item;
  }
  /// selecting/arm. At its end; one that was set aside when it was the oldest is that again.
  void enter(waiter& branch) noexcept {
    if (branch.is_queued()) return;  // nobody had come after all
    if (branch.place_ == waiter::place::set_aside) {
      push_front(branch);
    } else {
      push_back(branch);
    }
  }
  /// waiting/grant. Takes the oldest; null if there is none, as front(). Its await ends with wake()
  /// after the unlock.
  waiter* pop_front() noexcept {
    waiter* const item = first_;
    if (item == nullptr) return nullptr;
    if (item->is_branch()) [[unlikely]]
      return pop_past_branches();
    return &taken(*item);
  }
  /// waiting/grant. As pop_front(), the one that front() has returned. @returns false if it was
  /// claimed meanwhile by the source of another branch: then it is not in the list any more
  bool take(waiter& item) noexcept {
    if (!item.claim()) [[unlikely]] {
      set_aside(item);
      return false;
    }
    (void)taken(item);
    return true;
  }
  /// waiting/grant. Takes all, linked, for taken_list::wake().
  waiter* take_all() noexcept;

 private:
  friend class waiter;
  /// The oldest one that is claimable by `look`; those that cannot be claimed are set aside.
  template <class Look>
  waiter* first_that(Look look) noexcept;
  waiter* front_past_branches() noexcept;
  waiter* pop_past_branches() noexcept;
  waiter& taken(waiter& item) noexcept {
    remove(item);
    item.place_ = waiter::place::taken;
    item.next_ = nullptr;
    return item;
  }
  void set_aside(waiter& item) noexcept {
    remove(item);
    item.place_ = waiter::place::set_aside;
  }
  void push_front(waiter& item) noexcept {
    item.place_ = waiter::place::queued;
    item.previous_ = nullptr;
    item.next_ = first_;
    (first_ != nullptr ? first_->previous_ : last_) = &item;
    first_ = &item;
  }
  void remove(waiter& item) noexcept {
    (item.previous_ != nullptr ? item.previous_->next_ : first_) = item.next_;
    (item.next_ != nullptr ? item.next_->previous_ : last_) = item.previous_;
  }

  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
};

inline void waiter::take() noexcept {
  if (place_ == place::queued) list_->remove(*this);  // a branch of a select that is armed anew
  place_ = place::taken;
}

/// Those that were taken in one go; resumed after the unlock.
class TANDEM_API taken_list {
 public:
  void push_back(waiter* item) noexcept;
  /// waiting/resume. Ends their awaits: one post for each run of waiters with the same home. The
  /// primitive may be gone by now.
  void wake() noexcept { wake(std::exchange(first_, nullptr)); }
  static void wake(waiter* first) noexcept;

 private:
  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
};

/// Charges an await that is ready to the worker's budget. @returns false if it is used up:
/// then the await gives way once, by yield_for_budget()
TANDEM_ALWAYS_INLINE bool charge_ready_await(thread_context& context) noexcept {
  if (context.budget > 1) [[likely]] {
    --context.budget;
    return true;
  }
  return false;
}
TANDEM_ALWAYS_INLINE bool charge_ready_await() noexcept {
  return charge_ready_await(this_thread());
}
TANDEM_API void yield_for_budget(promise_base& waiting) noexcept;
/// Room in an awaiter for a waiter that is built only if the await has to wait.
template <class Waiter>
class waiter_room {
 public:
  waiter_room() noexcept {}
  /// For awaiters that have not started.
  waiter_room(waiter_room&&) noexcept {}
  waiter_room& operator=(waiter_room&&) = delete;
  ~waiter_room() {
    if (state_ == state::waited) std::destroy_at(std::addressof(waiter_));
  }

  /// From await_ready, if there is nothing to wait for. @returns what await_ready returns
  TANDEM_ALWAYS_INLINE bool ready() noexcept { return ready(this_thread()); }
  TANDEM_ALWAYS_INLINE bool ready(thread_context& context) noexcept {
    if (charge_ready_await(context)) [[likely]]
      return true;
    state_ = state::gives_way;
    return false;
  }
  /// From await_suspend, first. @returns true if the await was ready and only gives way
  bool gave_way(promise_base& waiting) noexcept {
    if (state_ != state::gives_way) return false;
    yield_for_budget(waiting);
    return true;
  }
  template <class... Args>
  Waiter& build(Args&&... args) noexcept {
    state_ = state::waited;
    return *std::construct_at(std::addressof(waiter_), std::forward<Args>(args)...);
  }
  bool has_waited() const noexcept { return state_ == state::waited; }
  /// selecting/arm. Of a branch of a select: its waiter, which may have been built before.
  template <class... Args>
  Waiter& branch(select_place& as, Args&&... args) noexcept {
    if (state_ != state::waited) build(std::forward<Args>(args)...);
    waiter_.join(as);
    return waiter_;
  }
  /// selecting/go_on. @returns whether it was in a list
  bool disarm() noexcept { return state_ == state::waited && waiter_.disarm(); }
  /// Nobody knows the waiter any more: as before the await.
  void reset() noexcept {
    if (state_ == state::waited) std::destroy_at(std::addressof(waiter_));
    state_ = state::fresh;
  }
  Waiter& get() noexcept { return waiter_; }
  /// For await_failure.
  std::exception_ptr failure_if_cancelled() const noexcept {
    return state_ == state::waited ? waiter_.failure_if_cancelled() : nullptr;
  }
  /// From await_resume.
  void throw_if_cancelled() const {
    if (state_ == state::waited) [[unlikely]]
      waiter_.throw_if_cancelled();
  }

 private:
  enum class state : std::uint8_t { fresh, gives_way, waited };

  state state_ = state::fresh;
  union {
    Waiter waiter_;
  };
};

}  // namespace tandem::inline v0::detail
