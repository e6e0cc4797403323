// counted_throws.cpp: stands in front of the C++ library's throws, and counts them.
// SPDX-License-Identifier: MIT
#include "counted_throws.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

namespace tandem::test {

namespace {

constinit std::atomic<long> fresh{0};
constinit std::atomic<long> further{0};

template <class Function>
Function real(const char* name) noexcept {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function>(found);
}

}  // namespace

throw_count thrown() noexcept { return {fresh.load(), further.load()}; }

}  // namespace tandem::test

extern "C" {

// What the compilers call for `throw x`, `throw` and, by its own name, std::rethrow_exception (whose argument
// is passed by its address).
[[noreturn]] void __cxa_throw(void* object, void* type, void (*destroy)(void*));
[[noreturn]] void __cxa_rethrow();
[[noreturn]] void counted_rethrow_exception(void* failure) asm(
    "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE");

void __cxa_throw(void* object, void* type, void (*destroy)(void*)) {
  using function = void (*)(void*, void*, void (*)(void*));
  tandem::test::fresh.fetch_add(1);
  tandem::test::real<function>("__cxa_throw")(object, type, destroy);
  std::abort();
}

void __cxa_rethrow() {
  tandem::test::further.fetch_add(1);
  tandem::test::real<void (*)()>("__cxa_rethrow")();
  std::abort();
}

void counted_rethrow_exception(void* failure) {
  tandem::test::further.fetch_add(1);
  tandem::test::real<void (*)(void*)>(
      "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE")(failure);
  std::abort();
}
}
