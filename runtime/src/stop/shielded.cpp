// shielded.cpp: a child that no stop reaches.
// SPDX-License-Identifier: MIT
#include <tandem/shielded.hpp>

namespace tandem::inline v0::detail {

namespace {
constinit const environment_kind surrounds_shielded("shielded");
}

void shield::start(promise_base& child, promise_base& parent, outcome_base& result) noexcept {
  open(parent, surrounds_shielded, nullptr);
  prepare(child, parent, result, &shield::child_ended, this);
}

std::coroutine_handle<> shield::child_ended(const ended_frame& child) noexcept {
  return static_cast<shield*>(child.link)->leave(*child.continuation, child.home);
}

}  // namespace tandem::inline v0::detail
