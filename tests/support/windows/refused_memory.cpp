// refused_memory.cpp: the allocation functions of an executable whose allocations can be refused.
// SPDX-License-Identifier: MIT
//
// The linker (--wrap, see CMakeLists.txt) leads here what the code that is linked into the executable
// asks for, the C++ library's and that of threads among it; the system's own libraries have heaps of
// their own.
#include <pthread.h>

#include <cstddef>
#include <ctime>

#include "refusals.hpp"
#include "refusals_system.hpp"

using tandem::test::refused_memory;

// NOLINTBEGIN: names that the linker asks for
extern "C" {
void* __real_malloc(std::size_t bytes);
void* __real_calloc(std::size_t count, std::size_t bytes);
void* __real_realloc(void* old, std::size_t bytes);
// What is called by way of its import.
using aligned_function = void*(std::size_t bytes, std::size_t align);
extern aligned_function* __real___imp__aligned_malloc;
extern aligned_function* __wrap___imp__aligned_malloc;
void* __real___emutls_get_address(void* of);
void* __wrap_malloc(std::size_t bytes);
void* __wrap_calloc(std::size_t count, std::size_t bytes);
void* __wrap_realloc(void* old, std::size_t bytes);
void* __wrap___emutls_get_address(void* of);

void* __wrap_malloc(std::size_t bytes) { return refused_memory() ? nullptr : __real_malloc(bytes); }
void* __wrap_calloc(std::size_t count, std::size_t bytes) {
  return refused_memory() ? nullptr : __real_calloc(count, bytes);
}
void* __wrap_realloc(void* old, std::size_t bytes) {
  return refused_memory() ? nullptr : __real_realloc(old, bytes);
}
aligned_function* __wrap___imp__aligned_malloc = [](std::size_t bytes, std::size_t align) {
  return refused_memory() ? nullptr : __real___imp__aligned_malloc(bytes, align);
};

// A thread's first access to a thread_local, of which the C++ library has one for exceptions: without
// memory for it this tool chain ends the program, so it is not asked.
void* __wrap___emutls_get_address(void* of) {
  const tandem::test::granted here;
  return __real___emutls_get_address(of);
}

// Nor is what a mutex, a condition or a call_once needs when it is first used, which elsewhere need
// nothing.
#define TANDEM_TEST_GRANT(function, given, passed) \
  int __real_##function given;                     \
  int __wrap_##function given;                     \
  int __wrap_##function given {                    \
    const tandem::test::granted here;              \
    return __real_##function passed;               \
  }
TANDEM_TEST_GRANT(pthread_mutex_lock, (pthread_mutex_t * one), (one))
TANDEM_TEST_GRANT(pthread_mutex_trylock, (pthread_mutex_t * one), (one))
TANDEM_TEST_GRANT(pthread_cond_signal, (pthread_cond_t * one), (one))
TANDEM_TEST_GRANT(pthread_cond_broadcast, (pthread_cond_t * one), (one))
TANDEM_TEST_GRANT(pthread_cond_wait, (pthread_cond_t * one, pthread_mutex_t* with), (one, with))
TANDEM_TEST_GRANT(pthread_cond_timedwait,
                  (pthread_cond_t * one, pthread_mutex_t* with, const struct timespec* until),
                  (one, with, until))
TANDEM_TEST_GRANT(pthread_once, (pthread_once_t * one, void (*run)()), (one, run))
#undef TANDEM_TEST_GRANT
}
// NOLINTEND
