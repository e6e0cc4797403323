// spin_pause.cpp: the pause instruction of each processor.
// SPDX-License-Identifier: MIT
#include "platform/spin_pause.hpp"

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace tandem::inline v0::platform {

void spin_pause() noexcept {
#if defined(_MSC_VER) && !defined(__clang__)
  _mm_pause();
#elif defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace tandem::inline v0::platform
