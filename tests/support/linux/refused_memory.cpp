// refused_memory.cpp: the allocation functions of an executable whose allocations can be refused.
// SPDX-License-Identifier: MIT
//
// Without a sanitizer malloc and its family stand here, before those of the C library, and so serve
// every library of the process. A sanitizer keeps its own: there the linker (--wrap, see
// CMakeLists.txt) leads here what is asked for by the code that is linked into the executable, and
// not what the standard library's own code asks for (std::string).
#include <cstddef>
#include <cstdlib>
#include <new>

#include "refusals.hpp"
#include "sanitized.hpp"

using tandem::test::refused_memory;

#if TANDEM_TEST_SANITIZED

// NOLINTBEGIN: names that the linker asks for
extern "C" {
void* __real_malloc(std::size_t bytes) noexcept;
void* __real_calloc(std::size_t count, std::size_t bytes) noexcept;
void* __real_aligned_alloc(std::size_t align, std::size_t bytes) noexcept;
void* __real__Znwm(std::size_t bytes);
void* __real__Znam(std::size_t bytes);
void* __real__ZnwmSt11align_val_t(std::size_t bytes, std::align_val_t align);
void* __real__ZnwmRKSt9nothrow_t(std::size_t bytes, const std::nothrow_t& how) noexcept;
void* __wrap_malloc(std::size_t bytes) noexcept;
void* __wrap_calloc(std::size_t count, std::size_t bytes) noexcept;
void* __wrap_aligned_alloc(std::size_t align, std::size_t bytes) noexcept;
void* __wrap__Znwm(std::size_t bytes);
void* __wrap__Znam(std::size_t bytes);
void* __wrap__ZnwmSt11align_val_t(std::size_t bytes, std::align_val_t align);
void* __wrap__ZnwmRKSt9nothrow_t(std::size_t bytes, const std::nothrow_t& how) noexcept;

void* __wrap_malloc(std::size_t bytes) noexcept {
  return refused_memory() ? nullptr : __real_malloc(bytes);
}
void* __wrap_calloc(std::size_t count, std::size_t bytes) noexcept {
  return refused_memory() ? nullptr : __real_calloc(count, bytes);
}
void* __wrap_aligned_alloc(std::size_t align, std::size_t bytes) noexcept {
  return refused_memory() ? nullptr : __real_aligned_alloc(align, bytes);
}
void* __wrap__Znwm(std::size_t bytes) {
  if (refused_memory()) throw std::bad_alloc();
  return __real__Znwm(bytes);
}
void* __wrap__Znam(std::size_t bytes) {
  if (refused_memory()) throw std::bad_alloc();
  return __real__Znam(bytes);
}
void* __wrap__ZnwmSt11align_val_t(std::size_t bytes, std::align_val_t align) {
  if (refused_memory()) throw std::bad_alloc();
  return __real__ZnwmSt11align_val_t(bytes, align);
}
void* __wrap__ZnwmRKSt9nothrow_t(std::size_t bytes, const std::nothrow_t& how) noexcept {
  return refused_memory() ? nullptr : __real__ZnwmRKSt9nothrow_t(bytes, how);
}
}
// NOLINTEND

#else

extern "C" {
void* __libc_malloc(std::size_t bytes) noexcept;                       // NOLINT
void* __libc_calloc(std::size_t count, std::size_t bytes) noexcept;    // NOLINT
void* __libc_realloc(void* old, std::size_t bytes) noexcept;           // NOLINT
void* __libc_memalign(std::size_t align, std::size_t bytes) noexcept;  // NOLINT

void* malloc(std::size_t bytes) noexcept {
  return refused_memory() ? nullptr : __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  return refused_memory() ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) noexcept {
  return refused_memory() ? nullptr : __libc_realloc(old, bytes);
}
void* memalign(std::size_t align, std::size_t bytes) noexcept;
void* memalign(std::size_t align, std::size_t bytes) noexcept {
  return refused_memory() ? nullptr : __libc_memalign(align, bytes);
}
void* aligned_alloc(std::size_t align, std::size_t bytes) noexcept {
  return memalign(align, bytes);
}
int posix_memalign(void** made, std::size_t align, std::size_t bytes) noexcept {
  void* const fresh = memalign(align, bytes);
  if (fresh == nullptr) return ENOMEM;
  *made = fresh;
  return 0;
}
}

#endif
