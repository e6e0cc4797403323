// as_nobody.hpp: runs a part of a test without the rights of root, to whom nothing is refused.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace tandem::test {

/// On a thread of its own, whose rights those inherit that it starts. Others keep theirs.
///
/// @param folder  belongs to nobody then
template <class Body>
void as_nobody(const std::string& folder, Body body) {
  constexpr unsigned nobody = 65534;
  constexpr auto keep = static_cast<unsigned>(-1);
  if (::geteuid() == 0) {
    EXPECT_EQ(::chown(folder.c_str(), nobody, keep), 0);
  }
  std::thread([&] {
    // The library's function would change those of all threads.
    if (::geteuid() == 0) {
      EXPECT_EQ(::syscall(SYS_setresuid, keep, nobody, keep), 0);
    }
    body();
  }).join();
}

}  // namespace tandem::test
