// refused_rings.cpp: the set-up of rings, of an executable whose rings can be refused.
// SPDX-License-Identifier: MIT
#include "io/nothing_lost/refused_rings.hpp"

#include <dlfcn.h>

#include <cerrno>

namespace tandem::test {
constinit refusals new_rings("ring");
}  // namespace tandem::test

extern "C" {

// Stands here, before that of the library.
int io_uring_queue_init_params(unsigned entries, void* ring, void* parameters) noexcept;
int io_uring_queue_init_params(unsigned entries, void* ring, void* parameters) noexcept {
  if (tandem::test::new_rings.refuse()) return -ENOMEM;
  using function = int (*)(unsigned, void*, void*);
  static const auto next =
      reinterpret_cast<function>(::dlsym(RTLD_NEXT, "io_uring_queue_init_params"));  // NOLINT
  return next(entries, ring, parameters);
}
}
