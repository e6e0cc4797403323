// child_process.cpp: taking a child that has ended, and sending signals until then.
// SPDX-License-Identifier: MIT
#include "process/child_process.hpp"

#include <tandem/config.hpp>

#include "direct/direct_port.hpp"
#include "platform/descriptor.hpp"

namespace tandem::inline v0::io::detail {

child_process::~child_process() {
  TANDEM_ASSERT(first_.load(std::memory_order_relaxed) == nullptr,
                "a process was destroyed while a task waited for it: stop and await that first");
  leave_port();
  if (is_descriptor(system_.end)) platform::close(system_.end);
}

void child_process::leave_port() noexcept {
  if (interest* const known = record_.known.exchange(nullptr, std::memory_order_acquire)) {
    direct_port::forget(*known, system_.end);
  }
}

platform::start_failure child_process::start(const platform::child_plan& plan) noexcept {
  parent_ = platform::own_id();
  return platform::start_child(plan, system_);
}

result<process_exit> child_process::take(bool ends_group) noexcept {
  const std::lock_guard alone(taking_);
  if (taken_) return *taken_;
  if (ends_group && leads_group_) {
    (void)platform::send_signal(system_, platform::signal_of(platform::ending::kill), true);
  }
  const result<std::optional<process_exit>> got = platform::take_exit(system_);
  if (!got) {
    taken_ = got.error();
  } else if (got.value()) {
    taken_ = *got.value();
  } else {
    return std::make_error_code(std::errc::resource_unavailable_try_again);
  }
  return *taken_;
}

bool child_process::is_taken() const noexcept {
  const std::lock_guard alone(taking_);
  return taken_.has_value();
}

std::error_code child_process::signal(int number, bool to_group) noexcept {
  const std::lock_guard alone(taking_);
  if (taken_) return std::make_error_code(std::errc::no_such_process);
  return platform::send_signal(system_, number, to_group);
}

}  // namespace tandem::inline v0::io::detail
