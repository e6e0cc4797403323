// refused_buffers.cpp: takes the place of liburing's calls that register buffers.
// SPDX-License-Identifier: MIT
#include "io/file/refused_buffers.hpp"

#include <dlfcn.h>
#include <sys/uio.h>

#include <atomic>

namespace tandem::test {

namespace {

std::atomic<int> table_refusal{0};
std::atomic<int> buffer_refusal{0};
std::atomic<int> tables{0};
std::atomic<int> buffers{0};

std::atomic<int>& refusal_of(refused_buffers::step which) noexcept {
  return which == refused_buffers::step::table ? table_refusal : buffer_refusal;
}

}  // namespace

refused_buffers::refused_buffers(step which, int error) noexcept { refusal_of(which) = error; }
refused_buffers::~refused_buffers() { table_refusal = buffer_refusal = 0; }

int tables_asked_for() noexcept { return tables; }
int buffers_asked_for() noexcept { return buffers; }

}  // namespace tandem::test

extern "C" {

int io_uring_register_buffers_sparse(void* ring, unsigned count) noexcept;
int io_uring_register_buffers_sparse(void* ring, unsigned count) noexcept {
  ++tandem::test::tables;
  if (const int error = tandem::test::table_refusal; error != 0) return -error;
  using function = int (*)(void*, unsigned);
  static const auto next =
      reinterpret_cast<function>(::dlsym(RTLD_NEXT, "io_uring_register_buffers_sparse"));  // NOLINT
  return next(ring, count);
}

int io_uring_register_buffers_update_tag(void* ring, unsigned slot, const iovec* memory,
                                         const void* tags, unsigned count) noexcept;
int io_uring_register_buffers_update_tag(void* ring, unsigned slot, const iovec* memory,
                                         const void* tags, unsigned count) noexcept {
  if (memory->iov_base != nullptr) {  // else it is let go of
    ++tandem::test::buffers;
    if (const int error = tandem::test::buffer_refusal; error != 0) return -error;
  }
  using function = int (*)(void*, unsigned, const iovec*, const void*, unsigned);
  static const auto next = reinterpret_cast<function>(
      ::dlsym(RTLD_NEXT, "io_uring_register_buffers_update_tag"));  // NOLINT
  return next(ring, slot, memory, tags, count);
}
}
