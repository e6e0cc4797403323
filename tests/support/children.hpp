// children.hpp: what tests of processes start, and whether any is left, in one place for each system.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace tandem::test {

/// The arguments that run this script: on Unix by /bin/sh, on Windows by a program of the tests' own, which knows little
/// of it (io/process/small_shell.cpp says what).
std::vector<std::string> shell(std::string script);

/// Whether this process has children, running or not yet taken. Takes none.
bool has_children();

/// On Windows the C library has no name for it.
inline constexpr int kill_number = 9;

}  // namespace tandem::test
