// children.cpp: children on Unix.
// SPDX-License-Identifier: MIT
#include "children.hpp"

#include <sys/wait.h>

#include <utility>

namespace tandem::test {

std::vector<std::string> shell(std::string script) { return {"/bin/sh", "-c", std::move(script)}; }

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

}  // namespace tandem::test
