// required.hpp: whether a test may be left out where the host lacks what it needs.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <string_view>

namespace tandem::test {

/// TANDEM_TEST_REQUIRE_ALL=1, which CI sets: what would be a skip is a failure.
inline bool every_test_is_required() {
  const char* const all = std::getenv("TANDEM_TEST_REQUIRE_ALL");
  return all != nullptr && std::string_view(all) == "1";
}

}  // namespace tandem::test
