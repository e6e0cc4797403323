// sanitized.hpp: whether this build has a sanitizer, in the words of either compiler.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TANDEM_TEST_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer)
#define TANDEM_TEST_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(TANDEM_TEST_ADDRESS_SANITIZER)
#define TANDEM_TEST_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__) && !defined(TANDEM_TEST_THREAD_SANITIZER)
#define TANDEM_TEST_THREAD_SANITIZER 1
#endif

/// 1 with AddressSanitizer or ThreadSanitizer, whose allocators stand in the place of malloc; else
/// 0.
#if defined(TANDEM_TEST_ADDRESS_SANITIZER) || defined(TANDEM_TEST_THREAD_SANITIZER)
#define TANDEM_TEST_SANITIZED 1
#else
#define TANDEM_TEST_SANITIZED 0
#endif

namespace tandem::test {

inline constexpr bool sanitized = TANDEM_TEST_SANITIZED != 0;
/// Our builds by clang with AddressSanitizer have UndefinedBehaviorSanitizer, too.
#if defined(TANDEM_TEST_ADDRESS_SANITIZER)
inline constexpr bool address_sanitized = true;
#else
inline constexpr bool address_sanitized = false;
#endif

/// How often a test repeats what it does: a tenth of `full` under a sanitizer, where all is slow.
constexpr int rounds(int full) noexcept { return sanitized ? (full + 9) / 10 : full; }

}  // namespace tandem::test
