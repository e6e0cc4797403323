// refused_threads.cpp: pthread_create of an executable whose threads can be refused.
// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>

#include "refusals.hpp"

extern "C" {

// What a sanitizer that is linked into the executable would have put in the place of ours.
[[gnu::weak]] int __interceptor_pthread_create(  // NOLINT
    pthread_t* made, const pthread_attr_t* how, void* (*run)(void*), void* with) noexcept;

int pthread_create(pthread_t* made, const pthread_attr_t* how, void* (*run)(void*),
                   void* with) noexcept {
  if (tandem::test::new_threads.refuse()) return EAGAIN;
  using function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (__interceptor_pthread_create != nullptr) {
    return __interceptor_pthread_create(made, how, run, with);
  }
  static const auto next = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "pthread_create"));
  return next(made, how, run, with);
}

}  // extern "C"
