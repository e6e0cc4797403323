// readiness.cpp: waiting for descriptors of others.
// SPDX-License-Identifier: MIT
#include <cerrno>
#include <memory>
#include <system_error>
#include <tandem/io/readiness.hpp>

#include "engine/completion_thread.hpp"
#include "platform/attempt.hpp"

namespace tandem::inline v0::io {

bool readiness_awaiter::start(tandem::detail::promise_base& waiting) {
  completion_pool& pool = current_completion_pool(operation_.name());
  operation_.aim(&thread_at_hand(pool), descriptor_);
  return operation_.start(waiting);
}

bool readiness_awaiter::select_try() noexcept {
  operation_.aim(nullptr, descriptor_);
  if (!detail::is_descriptor(descriptor_)) {
    operation_.complete(-EBADF);
    return true;
  }
  const std::int32_t outcome = platform::next_attempt(operation_);
  if (outcome == platform::would_block || outcome == -EINTR) return false;
  operation_.complete(outcome);
  return true;
}

bool readiness_awaiter::select_arm(tandem::detail::select_place& as) noexcept {
  try {
    operation_.aim(&thread_at_hand(current_completion_pool(operation_.name())), descriptor_);
  } catch (const std::system_error& refused) {
    operation_.complete(-refused.code().value());
    return true;
  } catch (...) {
    operation_.complete(-ENOMEM);
    return true;
  }
  operation_.arm(as);
  return false;
}

void readiness_awaiter::select_reset() noexcept {
  const detail::operation_kind kind = operation_.kind();
  std::destroy_at(&operation_);
  std::construct_at(&operation_, kind, nullptr, std::size_t{0});
}

void readiness_awaiter::await_resume() {
  if (operation_.failed()) operation_.throw_failure(operation_.name());
}

result<void> readiness_awaiter::await_resume_result() {
  if (operation_.failed()) return operation_.error();
  return {};
}

}  // namespace tandem::inline v0::io
