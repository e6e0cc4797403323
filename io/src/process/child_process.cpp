// child_process.cpp: taking a child that has ended, and sending signals until then.
// SPDX-License-Identifier: MIT
#include "process/child_process.hpp"

#include <tandem/config.hpp>

#include "direct/direct_port.hpp"
#include "engine/completion_thread.hpp"
#include "platform/descriptor.hpp"

namespace tandem::inline v0::io::detail {

child_process::~child_process() {
  TANDEM_ASSERT(first_.load(std::memory_order_relaxed) == nullptr,
                "a process was destroyed while a task waited for it: stop and await that first");
  leave_port();
  if (is_descriptor(system_.group)) platform::close(system_.group);
  if (is_descriptor(system_.end)) platform::close(system_.end);
}

void child_process::leave_port() noexcept {
  if (interest* const known = record_.known.exchange(nullptr, std::memory_order_acquire)) {
    direct_port::forget(*known, system_.end);
  }
}

void child_process::enter(operation& waiting, completion_thread& thread) noexcept {
  const operation* nobody = nullptr;
  // Acquire: what the one before has noted in the record is seen; pairs with leave().
  if (!first_.compare_exchange_strong(nobody, &waiting, std::memory_order_acquire)) return;
  // Relaxed: whoever is first has it alone.
  const interest* const known = record_.known.load(std::memory_order_relaxed);
  // In the port of another runtime, which may be gone, nobody would look.
  if (known != nullptr && &known->port() != thread.implementation().direct()) leave_port();
  waiting.know(record_);
}

platform::start_failure child_process::start(const platform::child_plan& plan) noexcept {
  parent_ = platform::own_id();
  return platform::start_child(plan, system_);
}

void child_process::note(const result<std::optional<process_exit>>& seen,
                         platform::taking what) noexcept {
  if (!seen) {
    if (!ended_) ended_ = seen.error();
    is_taken_ = true;  // by somebody else
  } else if (seen.value()) {
    if (!ended_) ended_ = *seen.value();
    is_taken_ = what == platform::taking::taken;
  }
}

result<process_exit> child_process::look_alone() noexcept {
  if (!ended_) {
    const auto what = leads_group_ ? platform::taking::left : platform::taking::taken;
    note(platform::exit_of(system_, what), what);
  }
  if (!ended_) return std::make_error_code(std::errc::resource_unavailable_try_again);
  return *ended_;
}

result<process_exit> child_process::look() noexcept {
  const std::lock_guard alone(alone_);
  return look_alone();
}

result<process_exit> child_process::take(bool ends_group) noexcept {
  const std::lock_guard alone(alone_);
  const result<process_exit> seen = look_alone();
  if (!ended_ || is_taken_) return seen;
  // A leader, which is there until this.
  if (ends_group) (void)signal_group_alone(platform::signal_of(platform::ending::kill));
  note(platform::exit_of(system_, platform::taking::taken), platform::taking::taken);
  return seen;
}

bool child_process::has_ended() const noexcept {
  const std::lock_guard alone(alone_);
  return ended_.has_value();
}

bool child_process::is_taken() const noexcept {
  const std::lock_guard alone(alone_);
  return is_taken_;
}

std::error_code child_process::signal_group_alone(int number) noexcept {
  // Somebody else may have taken it, and its number be another group's.
  note(platform::exit_of(system_, platform::taking::left), platform::taking::left);
  if (is_taken_) return std::make_error_code(std::errc::no_such_process);
  return platform::send_signal(system_, number, true);
}

std::error_code child_process::signal(int number, bool to_group) noexcept {
  const std::lock_guard alone(alone_);
  if (!is_taken_ && to_group) return signal_group_alone(number);
  if (ended_) return std::make_error_code(std::errc::no_such_process);
  return platform::send_signal(system_, number, false);
}

}  // namespace tandem::inline v0::io::detail
