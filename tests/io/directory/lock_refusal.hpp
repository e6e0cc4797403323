// lock_refusal.hpp: what the refusal of a lock says.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <system_error>
#include <tandem/task.hpp>
#include <utility>

namespace tandem::test {

/// @returns  what the std::system_error said that the lock threw
template <class T>
task<std::string> refusal_of(task<T> lock) {
  try {
    (void)co_await std::move(lock);
  } catch (const std::system_error& failure) {
    co_return failure.what();
  }
  co_return "it was locked";
}

inline testing::AssertionResult starts_with(const std::string& text, const std::string& with) {
  if (text.starts_with(with)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << text << "\ndoes not start with\n" << with;
}

}  // namespace tandem::test
