// unstarted_task.cpp: frames that were never started are destroyed.
// SPDX-License-Identifier: MIT
#include <tandem/unstarted_task.hpp>

#include <cstddef>
#include <utility>

namespace tandem::inline v0 {

namespace detail {

namespace {

/// As deep as nested calls go (calls/limit).
constexpr std::ptrdiff_t nested_destruction_bytes = 64 * 1024;
/// So many nest however much stack that takes: an argument's destructor may have large variables,
/// to which tasks refer that it makes and drops.
constexpr int always_nested = 16;

/// The outermost one on this thread.
struct destruction {
  const char* began_at;    // on the stack
  promise_base* deferred;  // newest first, by `continuation`, which nobody has set yet
  int nested;              // those that are under way below it
};
constinit thread_local destruction* under_way = nullptr;

}  // namespace

void destroy_unstarted(promise_base& frame) noexcept {
  const auto* const here = static_cast<const char*>(TANDEM_FRAME_ADDRESS());
  if (under_way != nullptr) {
    // Among the arguments of one that is being destroyed. An argument may refer to what stands
    // beside it, so the order is the language's as long as the stack allows.
    if (under_way->nested < always_nested ||
        under_way->began_at - here < nested_destruction_bytes) {
      ++under_way->nested;
      frame.handle().destroy();
      --under_way->nested;
    } else {
      frame.continuation = std::exchange(under_way->deferred, &frame);
    }
    return;
  }
  destruction outermost{here, nullptr, 0};
  under_way = &outermost;
  frame.handle().destroy();
  while (outermost.deferred != nullptr) {
    promise_base& next = *outermost.deferred;
    outermost.deferred = next.continuation;
    next.handle().destroy();
  }
  under_way = nullptr;
}

}  // namespace detail

unstarted_task::~unstarted_task() {
  if (frame_ != nullptr) detail::destroy_unstarted(*frame_);
}

void unstarted_task::throw_other_type() {
  throw std::logic_error(
      "unstarted_task::take: it holds a task with another result, or was taken before");
}

}  // namespace tandem::inline v0
