// build_abi.hpp: how the library was built, as far as its callers have to do the same.
// SPDX-License-Identifier: MIT
//
// The build takes one of two files of this name (TANDEM_TASK_IN_REGISTER) and installs it: the
// choice belongs to the library, not to whoever compiles against it. Files, not a generated one: a
// compiler cache knows them again in every build folder.
#pragma once

/// 0: functions pass and return a `task` in memory, as the C++ ABI has it: programs of g++ and of
/// clang may use this library, and each other.
#define TANDEM_ABI_TASK_IN_REGISTER 0
