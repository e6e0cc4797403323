// this_thread.hpp: where the calling thread's thread_context lies.
// SPDX-License-Identifier: MIT
//
// A coroutine may continue on another thread, so an address that a compiler cached across a
// suspension would be somebody else's: the address is computed by a volatile asm (never cached,
// moved or merged) where there is one, else by a function that is never inlined.
//
// Windows has no thread-locals that a static library could read in a few instructions with every
// compiler (those of MinGW are emulated: a call, a lock and a look-up). There a slot of TlsAlloc
// holds the address, which the first 64 slots keep in the thread's own block.
#pragma once

#include <cstdint>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

struct thread_context;

#if defined(__x86_64__) && !defined(__ILP32__) && defined(__ELF__)

TANDEM_ALWAYS_INLINE thread_context& this_thread() noexcept {
  thread_context* here = nullptr;
  asm volatile(
      "movq %%fs:0, %0\n\t"
      "addq tandem_v0_thread_context@gottpoff(%%rip), %0"
      : "=r"(here)
      :
      : "cc");
  return *here;
}

#elif defined(_WIN32) && defined(__x86_64__)

/// slot/read. Where in a thread's block the slot lies; 0: the slot lies elsewhere, or nobody has asked yet.
TANDEM_API extern constinit std::uint32_t thread_slot_offset;
/// Of a thread that asks for the first time, or whose slot lies elsewhere.
TANDEM_API thread_context& find_this_thread() noexcept;

TANDEM_ALWAYS_INLINE thread_context& this_thread() noexcept {
  thread_context* here = nullptr;
  const std::uint64_t offset = __atomic_load_n(&thread_slot_offset, __ATOMIC_RELAXED);
  if (offset == 0) [[unlikely]]
    return find_this_thread();
  asm volatile("movq %%gs:(%1), %0" : "=r"(here) : "r"(offset));
  if (here == nullptr) [[unlikely]]
    return find_this_thread();
  return *here;
}

#else

TANDEM_API thread_context& this_thread() noexcept;

#endif

}  // namespace tandem::inline v0::detail
