// file_support.hpp: what the tests of files share.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <system_error>
#include <tandem/io/open_options.hpp>
#include <tandem/task.hpp>
#include <utility>

#include "file_system.hpp"
#include "support/temporary_folder.hpp"

namespace tandem::test {

/// Read and written, and empty when it is open.
inline io::open_options new_file() {
  io::open_options made(io::open_mode::read_write);
  made.create = made.truncate = true;
  return made;
}

/// The text of the failure of an await.
template <class Awaitable>
task<std::string> failure_of(Awaitable awaitable) {
  try {
    (void)co_await std::move(awaitable);
  } catch (const std::system_error& failure) {
    co_return failure.what();
  }
  co_return "none";
}

}  // namespace tandem::test
