// pipe_refusal.hpp: what is no end of a pipe is not taken over.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <system_error>
#include <tandem/io/native_descriptor.hpp>

#include "refusal_text.hpp"

namespace tandem::test {

/// @tparam End  pipe_reader or pipe_writer
template <class End>
void expect_refused(io::native_descriptor descriptor, std::string_view why) {
  const std::string text =
      refusal_of<std::system_error>([&] { (void)End::from_native(descriptor); });
  EXPECT_TRUE(has(text, why)) << text;
}

}  // namespace tandem::test
