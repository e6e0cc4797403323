// refuse_io_uring.cpp: runs a program on a host that refuses io_uring, or so it seems to the program.
// SPDX-License-Identifier: MIT
//
// refuse_io_uring EPERM|EACCES|ENOSYS|ENOMEM PROGRAM ARGUMENT...
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "io_uring_filter.hpp"

namespace {

int error_of(std::string_view name) {
  if (name == "EPERM") return EPERM;
  if (name == "EACCES") return EACCES;
  if (name == "ENOSYS") return ENOSYS;
  if (name == "ENOMEM") return ENOMEM;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int error = argc > 2 ? error_of(argv[1]) : 0;
  if (error == 0) {
    std::fputs("usage: refuse_io_uring EPERM|EACCES|ENOSYS|ENOMEM PROGRAM ARGUMENT...\n", stderr);
    return 2;
  }
  if (!tandem::test::refuse_io_uring(error)) {
    std::fprintf(stderr, "refuse_io_uring: no seccomp filter: %s\n", std::strerror(errno));
    return 2;
  }
  ::execvp(argv[2], argv + 2);
  std::fprintf(stderr, "refuse_io_uring: %s: %s\n", argv[2], std::strerror(errno));
  return 127;
}
