// thread_context.hpp: what the calling thread is doing for tandem.
// SPDX-License-Identifier: MIT
//
// One per thread, reached through this_thread(), which is never inlined: a coroutine may continue on
// another thread, so an address cached across a suspension would be somebody else's.
#pragma once

#include <coroutine>
#include <cstdint>

#include <tandem/config.hpp>
#include <tandem/environment.hpp>
#include <tandem/executor.hpp>

namespace tandem::inline v0::detail {

class fork_lane;
class worker;

/// Ready leaf awaits that a segment may take before it has to yield (D16).
inline constexpr std::uint32_t await_budget = 128;

struct thread_context {
  worker* current_worker = nullptr;      // set for the life of a pool thread
  fork_lane* lane = nullptr;             // of current_worker
  executor* current_executor = nullptr;  // whose jobs this thread runs now
  environment* env = nullptr;            // of the running segment
  std::coroutine_handle<> next;          // D6: resumed by run_chain after the stack has unwound
  std::uint32_t budget = await_budget;
};

TANDEM_API thread_context& this_thread() noexcept;

/// Resumes `first` and then whatever each segment leaves in the next slot, until none is left.
TANDEM_API void run_chain(thread_context& context, std::coroutine_handle<> first) noexcept;

/// Hands over to `next`: the return value is what await_suspend has to return.
TANDEM_ALWAYS_INLINE std::coroutine_handle<> transfer(std::coroutine_handle<> next) noexcept {
#if TANDEM_SYMMETRIC_TRANSFER
  return next;
#else
  this_thread().next = next;
  return std::noop_coroutine();
#endif
}

}  // namespace tandem::inline v0::detail
