// promise_base.hpp: the part of a task's promise that does not depend on its result.
// SPDX-License-Identifier: MIT
//
// It stands at offset 0 of every promise and no promise is aligned above 16 bytes, so a promise_base*
// names the frame: queues, joins and a task dump need nothing else.
//
//   continuation   the frame that awaits this one; null for a root
//   home           the executor that this frame resumes on
//   on_final       null: hand over to the continuation. Else called once at the end (roots, joins);
//                  returns the handle to go on with
//   link           belongs to whoever set on_final
//   debt           forked children only: completions that this child settles when it ends (F4)
//   outcome        none -> value | exception, by the frame itself; an exception is built in the room
//                  of job::next, which no queue needs any more once the body has ended
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/frame_memory.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/job.hpp>

namespace tandem::inline v0::detail {

enum class outcome : std::uint8_t { none, value, exception };

class promise_base : public job, public frame_allocated {
 public:
  using final_function = std::coroutine_handle<> (*)(promise_base& ended) noexcept;

  promise_base() noexcept : job(&promise_base::resume_job) {}
  promise_base(const promise_base&) = delete;
  promise_base& operator=(const promise_base&) = delete;
  ~promise_base() {
    if (outcome_ == outcome::exception) [[unlikely]] {
      std::destroy_at(exception_room());
    }
  }

  std::coroutine_handle<> handle() noexcept {
    return std::coroutine_handle<promise_base>::from_promise(*this);
  }

  /// Takes over what a child inherits from the frame that awaits it.
  void inherit(promise_base& parent) noexcept {
    continuation = &parent;
    env = parent.env;
    home = parent.home;
  }

  void post(post_kind kind = post_kind::resume) noexcept { home->post(this, kind); }

  void unhandled_exception() noexcept {
    ::new (static_cast<void*>(&next)) std::exception_ptr(std::current_exception());
    outcome_ = outcome::exception;
  }
  bool failed() const noexcept { return outcome_ == outcome::exception; }
  std::exception_ptr exception() const noexcept {
    return failed() ? *const_cast<promise_base*>(this)->exception_room() : nullptr;
  }
  /// Hands the exception over: from now on the taker's thread alone holds it.
  std::exception_ptr take_exception() noexcept {
    return failed() ? std::exchange(*exception_room(), nullptr) : nullptr;
  }
  void rethrow_if_failed() {
    if (failed()) [[unlikely]]
      std::rethrow_exception(take_exception());
  }

  promise_base* continuation = nullptr;
  executor* home = nullptr;
  final_function on_final = nullptr;
  void* link = nullptr;
  std::uint32_t debt = 1;

 protected:
  outcome outcome_ = outcome::none;

 private:
  TANDEM_API static void resume_job(job* self) noexcept;

  std::exception_ptr* exception_room() noexcept {
    static_assert(sizeof(std::exception_ptr) == sizeof(job*));
    return std::launder(reinterpret_cast<std::exception_ptr*>(&next));  // NOLINT
  }
};

/// What to go on with after `ended`: `waiting` itself if both live at one home; else that costs one
/// post, and this thread has nothing to go on with (D7).
inline std::coroutine_handle<> continue_with(promise_base& waiting,
                                             const promise_base& ended) noexcept {
  if (waiting.home == ended.home) [[likely]]
    return waiting.handle();
  waiting.post();
  return std::noop_coroutine();
}

struct final_awaiter {
  bool await_ready() const noexcept { return false; }

  template <class Promise>
  TANDEM_ALWAYS_INLINE std::coroutine_handle<> await_suspend(
      std::coroutine_handle<Promise> ended) const noexcept {
    promise_base& self = ended.promise();
    if (self.on_final == nullptr) [[likely]] {
      return transfer(continue_with(*self.continuation, self));
    }
    return transfer(self.on_final(self));
  }

  void await_resume() const noexcept {}
};

}  // namespace tandem::inline v0::detail
