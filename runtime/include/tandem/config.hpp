// config.hpp: the few switches that depend on compiler and build.
// SPDX-License-Identifier: MIT
//
// TANDEM_SYMMETRIC_TRANSFER says how one coroutine hands over to the next. 1: `await_suspend`
// returns the next handle and the compiler turns the resume into a jump. 0: the handle goes into
// the thread's next slot, and run_chain resumes it after the stack has unwound. Both always return
// a handle (a noop one in the second case), so translation units built either way mix safely. How a
// task is passed and returned is another matter: all have to do as the library does
// (build_abi.hpp). g++ makes the jump only with -foptimize-sibling-calls and without sanitizers.
#pragma once

#include <type_traits>

#include <tandem/detail/await_lines.hpp>
#include <tandem/detail/build_abi.hpp>
#include <tandem/export.hpp>

#if defined(__clang__) && __clang_major__ < 18
#error "tandem needs clang 18 or newer (older ones touch a coroutine's frame after its suspension)"
#elif defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
#error "tandem needs g++ 12 or newer"
#endif
#if TANDEM_ABI_TASK_IN_REGISTER && !defined(__clang__)
#error "clang built this tandem for clang: use it, or build with -DTANDEM_TASK_IN_REGISTER=OFF"
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

/// 0: frames come from malloc one by one, so that AddressSanitizer sees every use after the end. It
/// is the build of the library that counts, not that of its user.
#if !defined(TANDEM_KEEP_FRAMES)
#if defined(__SANITIZE_ADDRESS__)
#define TANDEM_KEEP_FRAMES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TANDEM_KEEP_FRAMES 0
#endif
#endif
#endif
#if !defined(TANDEM_KEEP_FRAMES)
#define TANDEM_KEEP_FRAMES 1
#endif

#if defined(_MSC_VER) && !defined(__clang__)
extern "C" void* _AddressOfReturnAddress();
extern "C" void _mm_prefetch(const char*, int);
#define TANDEM_ALWAYS_INLINE __forceinline
#define TANDEM_NOINLINE __declspec(noinline)
#define TANDEM_COLD
/// An address inside the running function's stack.
#define TANDEM_FRAME_ADDRESS() ::_AddressOfReturnAddress()
/// Hints: what lies there is soon read, or written.
#define TANDEM_PREFETCH(address) ::_mm_prefetch(reinterpret_cast<const char*>(address), 1)
#define TANDEM_PREFETCH_TO_WRITE(address) TANDEM_PREFETCH(address)
/// The value is in a register from here on, on its own: it is not read again together with its
/// neighbours.
#define TANDEM_KEEP_APART(value) static_cast<void>(value)
#else
/// The decision above has to be taken in the user's own coroutine, never in a shared inline copy.
#define TANDEM_ALWAYS_INLINE [[gnu::always_inline]] inline
#define TANDEM_NOINLINE [[gnu::noinline]]
#define TANDEM_COLD [[gnu::cold]]
#define TANDEM_FRAME_ADDRESS() __builtin_frame_address(0)
#define TANDEM_PREFETCH(address) __builtin_prefetch(address)
#define TANDEM_PREFETCH_TO_WRITE(address) __builtin_prefetch(address, 1)
#define TANDEM_KEEP_APART(value) asm("" : "+r"(value))
#endif

/// A type that moves by copying its bytes: where the library was built so, it is passed and
/// returned in a register. Another choice of that kind is whether frames keep the lines of their
/// awaits. TANDEM_ABI_TAG is part of the name of what every program calls, so that
/// two that differ do not link.
#if TANDEM_ABI_TASK_IN_REGISTER
#define TANDEM_TRIVIAL_ABI [[clang::trivial_abi]]
#else
#define TANDEM_TRIVIAL_ABI
#endif
#if TANDEM_ABI_TASK_IN_REGISTER && TANDEM_ABI_AWAIT_LINES
#define TANDEM_ABI_TAG [[gnu::abi_tag("task_in_register", "await_lines")]]
#elif TANDEM_ABI_TASK_IN_REGISTER
#define TANDEM_ABI_TAG [[gnu::abi_tag("task_in_register")]]
#elif TANDEM_ABI_AWAIT_LINES && !defined(_MSC_VER)
#define TANDEM_ABI_TAG [[gnu::abi_tag("await_lines")]]
#else
#define TANDEM_ABI_TAG
#endif

namespace tandem::inline v0::detail {

/// g++ 12 destroys a temporary closure twice if it stands inside a co_await expression and captures
/// something with a destructor; no library can prevent that, so such calls do not compile there.
/// A class that has constructors is not destroyed twice; a callable one says so by a member type
/// `has_constructors`.
template <class F>
inline constexpr bool safe_in_co_await =
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ <= 12
    std::is_lvalue_reference_v<F> ||
    requires { typename std::remove_reference_t<F>::has_constructors; } ||
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
