// thread_local_context.cpp: the thread_context as a thread-local, where the system has good ones.
// SPDX-License-Identifier: MIT
#include <tandem/detail/thread_context.hpp>

#include "frames/no_magazine.hpp"

namespace tandem::inline v0::detail {

// The name is the one that this_thread() asks the linker for.
#if defined(__ELF__)
TANDEM_API extern thread_local thread_context own_context asm("tandem_v0_thread_context");
// `used`: link-time optimisation does not see a name inside an asm.
[[gnu::used]] constinit thread_local thread_context own_context(no_magazine_end());
#else
static constinit thread_local thread_context own_context(no_magazine_end());
#endif

#if !(defined(__x86_64__) && !defined(__ILP32__) && defined(__ELF__))
TANDEM_NOINLINE thread_context& this_thread() noexcept { return own_context; }
#endif

}  // namespace tandem::inline v0::detail
