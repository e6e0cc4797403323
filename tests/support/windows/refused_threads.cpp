// refused_threads.cpp: pthread_create of an executable whose threads can be refused.
// SPDX-License-Identifier: MIT
//
// The linker (--wrap, see CMakeLists.txt) leads here what std::thread asks for.
#include <pthread.h>

#include <cerrno>

#include "refusals.hpp"

// NOLINTBEGIN: names that the linker asks for
extern "C" {
int __real_pthread_create(pthread_t* made, const pthread_attr_t* how, void* (*run)(void*),
                          void* with);
int __wrap_pthread_create(pthread_t* made, const pthread_attr_t* how, void* (*run)(void*),
                          void* with);

int __wrap_pthread_create(pthread_t* made, const pthread_attr_t* how, void* (*run)(void*),
                          void* with) {
  if (tandem::test::new_threads.refuse()) return EAGAIN;
  return __real_pthread_create(made, how, run, with);
}
}
// NOLINTEND
