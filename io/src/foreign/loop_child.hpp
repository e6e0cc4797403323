// loop_child.hpp: a task of a foreign loop's own: it waits for a direction, or for the deadline.
// SPDX-License-Identifier: MIT
//
// It is stopped by the loop alone: no stop from outside reaches it, and the runtime does not count
// it, since the task that has the loop waits for it. All on the loop's strand (foreign_loop/strand).
#pragma once

#include <coroutine>
#include <cstddef>
#include <memory>
#include <tandem/detail/environment_kind.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/environment.hpp>
#include <tandem/task.hpp>
#include <utility>

namespace tandem::inline v0::io {

/// How many live, and who waits until none does.
class loop_children {
 public:
  bool empty() const noexcept { return count_ == 0; }
  /// foreign_loop/end. pre: not empty
  void wait(tandem::detail::promise_base& waiting) noexcept { waiting_ = &waiting; }
  void begun() noexcept { ++count_; }
  void ended() noexcept {
    if (--count_ == 0 && waiting_ != nullptr) std::exchange(waiting_, nullptr)->post();
  }

 private:
  std::size_t count_ = 0;
  tandem::detail::promise_base* waiting_ = nullptr;
};

inline constexpr tandem::detail::environment_kind surrounds_loop_child("foreign loop");

class loop_child {
 public:
  loop_child() noexcept = default;
  loop_child(const loop_child&) = delete;
  loop_child& operator=(const loop_child&) = delete;

  /// Posts it. Once.
  ///
  /// @param body  must not throw
  /// @param kept  what this is a part of: until it has ended
  void start(task<void> body, std::shared_ptr<const void> kept, loop_children& all,
             environment& parent, executor& home) noexcept {
    kept_ = std::move(kept);
    all_ = &all;
    env_.set_home(&home);
    env_.set_kind(surrounds_loop_child, nullptr);
    env_.start_apart(parent);
    tandem::detail::promise_base& frame = body.release();
    frame.env = &env_;
    frame.home = &home;
    frame.continuation = nullptr;
    frame.on_final = &loop_child::body_ended;
    frame.link = this;
    frame.segment = 0;
    frame.room = &result_;
    all.begun();
    frame.post(post_kind::spawn);
  }
  /// Its wait ends soon, not inside the call; one that is not there: nothing.
  void stop() noexcept {
    if (kept_ != nullptr) env_.stop().request_stop(stop_reason::user);
  }

 private:
  static std::coroutine_handle<> body_ended(const tandem::detail::ended_frame& frame) noexcept {
    auto& self = *static_cast<loop_child*>(frame.link);
    TANDEM_ASSERT(self.result_.error == nullptr, "a task of a foreign loop has thrown");
    loop_children& all = *self.all_;
    self.env_.end();
    tandem::detail::this_thread().env = self.env_.parent();
    // With the last of its parts its owner goes, and the library's function.
    std::exchange(self.kept_, nullptr).reset();
    all.ended();
    return std::noop_coroutine();
  }

  environment env_;
  tandem::detail::outcome<void> result_;
  std::shared_ptr<const void> kept_;  // not null: it lives
  loop_children* all_ = nullptr;
};

}  // namespace tandem::inline v0::io
