// refused_moves.cpp: takes the place of the library's sendfile(), splice() and copy_file_range().
// SPDX-License-Identifier: MIT
#include "io/copy/refused_moves.hpp"

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace tandem::test {

namespace {

std::atomic<int> refusal{0};
std::atomic<std::size_t> refused{0};
std::atomic<std::size_t> splices{0};

bool is_refused() noexcept {
  const int error = refusal.load();
  if (error == 0) return false;
  ++refused;
  errno = error;
  return true;
}

}  // namespace

refused_moves::refused_moves(int error) noexcept {
  refused = 0;
  refusal = error;
}
refused_moves::~refused_moves() { refusal = 0; }
std::size_t refused_moves::asked() const noexcept { return refused; }

std::size_t splices_made() noexcept { return splices; }

}  // namespace tandem::test

extern "C" ssize_t sendfile(int to, int from, off_t* at, std::size_t bytes) {
  return tandem::test::is_refused() ? -1 : ::syscall(SYS_sendfile, to, from, at, bytes);
}
extern "C" ssize_t copy_file_range(int from, off64_t* at, int to, off64_t* into, std::size_t bytes,
                                   unsigned flags) {
  return tandem::test::is_refused()
             ? -1
             : ::syscall(SYS_copy_file_range, from, at, to, into, bytes, flags);
}
extern "C" ssize_t splice(int from, off64_t* at, int to, off64_t* into, std::size_t bytes,
                          unsigned flags) {
  ++tandem::test::splices;
  return tandem::test::is_refused() ? -1 : ::syscall(SYS_splice, from, at, to, into, bytes, flags);
}
