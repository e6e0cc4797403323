// readiness.cpp: waiting for descriptors of others.
// SPDX-License-Identifier: MIT
#include <tandem/io/readiness.hpp>

#include "engine/completion_thread.hpp"

namespace tandem::inline v0::io {

bool readiness_awaiter::start(tandem::detail::promise_base& waiting) {
  completion_pool& pool = current_completion_pool(operation_.name());
  operation_.aim(&thread_at_hand(pool), descriptor_);
  return operation_.start(waiting);
}

void readiness_awaiter::await_resume() {
  if (operation_.failed()) operation_.throw_failure(operation_.name());
}

result<void> readiness_awaiter::await_resume_result() {
  if (operation_.failed()) return operation_.error();
  return {};
}

}  // namespace tandem::inline v0::io
