// process.cpp: waiting for a process, signals to it, and its end.
// SPDX-License-Identifier: MIT
#include <tandem/io/process.hpp>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <tandem/as_result.hpp>
#include <tandem/shielded.hpp>
#include <tandem/sleep.hpp>
#include <tandem/timeout.hpp>

#include "engine/completion_thread.hpp"
#include "net/checked.hpp"
#include "process/child_process.hpp"
#include "process/reaper.hpp"

namespace tandem::inline v0::io {

using detail::child_process;

std::string process_exit::to_string() const {
  if (!by_signal_) return "exit code " + std::to_string(number_);
  return "signal " + std::to_string(number_) + (dumped_core_ ? ", core dumped" : "");
}

void detail::abandon_child::operator()(child_process* child) const noexcept {
  const bool is_ours = child->id() != 0 && !child->is_others();
  const bool is_left = child->on_scope_end().how() == process_end::kind::leave;
  // One that leads a group, and was waited for: its number has been kept until now.
  if (is_ours && child->has_ended()) (void)child->take(!is_left);
  if (!is_ours || child->is_taken()) {
    delete child;  // NOLINT: its owner's last word
    return;
  }
#if !defined(NDEBUG)
  if (!is_left) {
    std::fprintf(stderr,
                 "tandem::io: process %d was destroyed before it had been waited for: it is ended "
                 "in the background; await end(), or use with_process()\n",
                 child->id());
  }
#endif
  child->leave_port();
  abandon(*child);
}

// Waiting.

bool process_wait_awaiter::start(tandem::detail::promise_base& waiting) {
  if (child_ == nullptr) return operation_.end_at_once(waiting, -ECHILD);
  if (child_->has_ended()) return operation_.end_at_once(waiting, 0);
  completion_pool& pool = current_completion_pool(operation_.name());
  completion_thread& thread = thread_at_hand(pool);
  operation_.aim(&thread, child_->end_event());
  child_->enter(operation_, thread);
  return operation_.start(waiting);
}

void process_wait_awaiter::end_operation() noexcept {
  if (child_ != nullptr) child_->leave(operation_);
}

process_exit process_wait_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) operation_.throw_failure(operation_.name());
  return checked(child_->look(), operation_.name());
}

result<process_exit> process_wait_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return child_->look();
}

// Signals.

int process::id() const noexcept { return child_ != nullptr ? child_->id() : 0; }

namespace {

std::error_code signal_to(child_process* child, int number, bool to_group) noexcept {
  if (child == nullptr) return std::make_error_code(std::errc::no_such_process);
  return child->signal(number, to_group);
}

}  // namespace

void process::signal(int number) {
  check(signal_to(child_.get(), number, false), "process::signal");
}

void process::signal_group(int number) {
  if (child_ != nullptr && !child_->leads_group()) {
    throw std::logic_error(
        "process::signal_group: it leads no group: process_options::group is to "
        "be own() or session()");
  }
  check(signal_to(child_.get(), number, true), "process::signal_group");
}

// processes/end.

namespace {

/// Awaits the end of a child, and leaves it as it is.
class [[nodiscard]] end_awaiter {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = detail::lossy<detail::operation_kind::wait_process>;

  explicit end_awaiter(child_process& child) noexcept
      : child_(&child), operation_(detail::operation_kind::wait_process, nullptr, 0) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    completion_pool& pool = current_completion_pool(operation_.name());
    completion_thread& thread = thread_at_hand(pool);
    operation_.aim(&thread, child_->end_event());
    child_->enter(operation_, thread);
    return operation_.start(self.promise());
  }
  void await_resume() {
    child_->leave(operation_);
    if (operation_.failed()) operation_.throw_failure(operation_.name());
  }

 private:
  child_process* child_;
  detail::operation operation_;
};

/// Where a backend has no room for the wait it is asked again.
task<void> wait_for_end(child_process& child) {
  constexpr std::chrono::milliseconds pause{5};
  while (true) {
    const auto ended = co_await as_result(end_awaiter(child));
    if (ended) co_return;
    if (ended.is_cancelled()) throw operation_cancelled(*ended.reason());
    co_await sleep_for(pause);
  }
}

task<process_exit> end_child(child_process& child, process_end how) {
  if (!child.has_ended()) {
    bool has_ended = false;
    if (how.how() == process_end::kind::terminate) {
      child.send(platform::ending::terminate);
      const auto waited = co_await as_result(with_timeout(how.patience(), wait_for_end(child)));
      has_ended = waited.has_value();
    }
    if (!has_ended) {
      child.send(platform::ending::kill);
      co_await wait_for_end(child);
    }
  }
  co_return checked(child.take(true), "process::end");
}

}  // namespace

task<process_exit> process::end() {
  return end(child_ == nullptr ? leave_running() : child_->on_scope_end());
}

task<process_exit> process::end(process_end how) {
  if (child_ == nullptr) {
    check(std::make_error_code(std::errc::no_child_process), "process::end");
  }
  if (how.how() == process_end::kind::leave) how = terminate_then_kill(std::chrono::seconds(2));
  co_return co_await shielded(end_child(*child_, how));
}

task<void> process::end_scope() {
  if (child_ == nullptr || child_->on_scope_end().how() == process_end::kind::leave) co_return;
  const auto ended = co_await as_result(end());
  if (!ended && ended.error() != std::errc::no_child_process) (void)ended.value();
}

}  // namespace tandem::inline v0::io
