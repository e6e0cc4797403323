// thread_waits.hpp: whether the runtime's threads sleep as long as nothing happens.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <tandem/blocking.hpp>
#include <tandem/task.hpp>
#include <thread>

#include "seeded.hpp"

namespace tandem::test {

/// How often each of this process' threads that are the runtime's has given up its CPU of itself; not the calling one.
inline std::map<std::string, long> thread_waits() {
  const auto self = std::filesystem::read_symlink("/proc/thread-self").filename();
  std::map<std::string, long> found;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    if (each.path().filename() == self) continue;
    std::ifstream status(each.path() / "status");
    std::string name;
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("Name:")) name = line.substr(6);
      if (line.starts_with("voluntary_ctxt_switches:") && name.starts_with("tandem")) {
        found[each.path().filename().string() + " " + name] = std::stol(line.substr(24));
      }
    }
  }
  return found;
}

/// What is kept for a while is given back, and the watch of a completion pool looks on for a second, every 5 ms; then there
/// is a second (10 in a nightly run) without any wake-up. The look itself is from a thread of blocking().
inline task<void> expect_no_thread_wakes() {
  using namespace std::chrono_literals;
  const auto look = [] {
    std::map<std::string, long> before;
    std::map<std::string, long> after;
    for (int tries = 0; tries < 10; ++tries) {
      std::this_thread::sleep_for(700ms);
      before = thread_waits();
      std::this_thread::sleep_for(is_nightly() ? 10s : 1s);
      after = thread_waits();
      if (before == after && !before.empty()) return;
    }
    EXPECT_EQ(before, after);
  };
  co_await blocking(look);
}

}  // namespace tandem::test
