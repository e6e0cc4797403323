// counted_throws.hpp: how many exceptions the program throws, for tests in executables that link counted_throws.cpp.
// SPDX-License-Identifier: MIT
#pragma once

namespace tandem::test {

struct throw_count {
  long fresh = 0;    // throw x;
  long further = 0;  // throw; and std::rethrow_exception()
};

/// By all threads so far.
throw_count thrown() noexcept;

}  // namespace tandem::test
