// config.hpp: the few switches that depend on compiler and build.
// SPDX-License-Identifier: MIT
//
// TANDEM_SYMMETRIC_TRANSFER says how one coroutine hands over to the next. 1: `await_suspend` returns
// the next handle and the compiler turns the resume into a jump. 0: the handle goes into the thread's
// next slot, and run_chain resumes it after the stack has unwound. Both always return a handle (a noop
// one in the second case), so translation units built either way mix safely.
// g++ makes the jump only with -foptimize-sibling-calls and without sanitizers.
#pragma once

#include <type_traits>

#include <tandem/export.hpp>

#if defined(__clang__) && __clang_major__ < 18
#error "tandem needs clang 18 or newer (older ones touch a coroutine's frame after its suspension)"
#elif defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
#error "tandem needs g++ 12 or newer"
#endif

#if !defined(TANDEM_SYMMETRIC_TRANSFER)
#if defined(__clang__)
#define TANDEM_SYMMETRIC_TRANSFER 1
#elif defined(__GNUC__) && defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define TANDEM_SYMMETRIC_TRANSFER 1
#else
#define TANDEM_SYMMETRIC_TRANSFER 0
#endif
#endif

/// The decision above has to be taken in the user's own coroutine, never in a shared inline copy.
#define TANDEM_ALWAYS_INLINE [[gnu::always_inline]] inline

namespace tandem::inline v0::detail {

/// g++ 12 destroys a temporary closure twice if it stands inside a co_await expression and captures
/// something with a destructor; no library can prevent that, so such calls do not compile there.
template <class F>
inline constexpr bool safe_in_co_await =
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ <= 12
    std::is_lvalue_reference_v<F> ||
    (std::is_trivially_destructible_v<std::remove_reference_t<F>> &&
     std::is_trivially_copy_constructible_v<std::remove_reference_t<F>>);
#else
    true;
#endif

/// Prints the broken condition and where it stands, then aborts.
[[noreturn]] TANDEM_API void assertion_failed(const char* condition, const char* message,
                                              const char* file, int line) noexcept;

}  // namespace tandem::inline v0::detail

/// A precondition of the library: checked in every build, since a broken one corrupts other tasks.
#define TANDEM_ASSERT(condition, message) \
  ((condition) ? void()                   \
               : ::tandem::detail::assertion_failed(#condition, message, __FILE__, __LINE__))
