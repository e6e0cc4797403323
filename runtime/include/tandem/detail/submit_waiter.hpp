// submit_waiter.hpp: an await that ends when the pool has taken a task. Protocol submissions: runtime/src/submit/README.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstdint>
#include <source_location>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/leaf.hpp>
#include <tandem/detail/line_place.hpp>
#include <tandem/spawn.hpp>

namespace tandem::inline v0 {

class runtime;
class worker_pool;

namespace detail {

class submission_desk;
class submission_queue;

TANDEM_API tandem::runtime& owner_of_pool(const worker_pool& pool) noexcept;
TANDEM_API executor& executor_of_pool(worker_pool& pool) noexcept;

/// The part of submit_awaiter that does not depend on the task's result.
class TANDEM_API submit_waiter : public leaf, public line_place {
 protected:
  submit_waiter(worker_pool& pool, int priority, const std::source_location& where) noexcept
      : leaf(waits_for_pool), pool_(&pool), where_(where), priority_(priority) {}
  /// For an awaiter that has not started.
  submit_waiter(submit_waiter&&) noexcept = default;
  /// The pool has not taken the task: the block goes.
  ~submit_waiter();

  /// @returns  whether there is nothing to wait for. @throws std::bad_alloc
  bool ready();
  /// @returns  whether the task suspends
  bool start(promise_base& waiting) noexcept;
  /// @throws  rejected, operation_cancelled, std::bad_alloc
  joinable_root& take_entered();

  worker_pool* pool_;
  joinable_root* block_ = nullptr;  // two references are ours until the pool has taken it
  std::source_location where_;

 private:
  friend class submission_queue;
  // Under the queue's lock: idle -> queued | entered | refused | no_memory | stopped, queued ->
  // entered | refused | no_memory | stopped.
  enum class state : std::uint8_t { idle, queued, entered, refused, no_memory, stopped };
  static bool on_stop(stop_waiter& self) noexcept;
  static const wait_kind waits_for_pool;
  /// Before the leaf is published. The state is idle afterwards if the pool is full.
  void try_once(submission_desk& desk) noexcept;

  int priority_;
  bool counted_ = false;  // submissions/count
  state state_ = state::idle;
};

}  // namespace detail

/// Awaiter of worker_pool::submit_when_free().
template <class T>
class [[nodiscard]] submit_awaiter : private detail::submit_waiter {
 public:
  using tandem_awaiter = void;

  submit_awaiter(worker_pool& pool, task<T>&& body, int priority,
                 const std::source_location& where) noexcept
      : submit_waiter(pool, priority, where), body_(std::move(body)) {
    TANDEM_ASSERT(body_, "worker_pool::submit_when_free was given an empty task");
  }
  /// For an awaiter that has not started.
  submit_awaiter(submit_awaiter&&) noexcept = default;

  bool await_ready() {
    block_ = new detail::spawned<T>(detail::owner_of_pool(*pool_), detail::executor_of_pool(*pool_),
                                    std::move(body_), where_, true);
    return ready();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  join_handle<T> await_resume() {
    return join_handle<T>(static_cast<detail::spawned<T>&>(take_entered()));
  }

 private:
  task<T> body_;
};

}  // namespace tandem::inline v0
