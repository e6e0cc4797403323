// build_abi.hpp: how the library was built, as far as its callers have to do the same.
// SPDX-License-Identifier: MIT
//
// The build takes one of two files of this name (TANDEM_TASK_IN_REGISTER) and installs it: the
// choice belongs to the library, not to whoever compiles against it. Files, not a generated one: a
// compiler cache knows them again in every build folder.
#pragma once

/// 1: functions pass and return a `task` in a register. Only clang can: g++ programs cannot use
/// this library.
#define TANDEM_ABI_TASK_IN_REGISTER 1
