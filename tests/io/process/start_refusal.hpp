// start_refusal.hpp: what process::start() throws, and what is expected of it.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <system_error>
#include <tandem/io/process.hpp>
#include <utility>

#include "io/process/process_support.hpp"

namespace tandem::test {

class start_refusal {
 public:
  std::error_code code;
  std::optional<io::process_step> step;
  std::string text;
};

inline task<start_refusal> refusal_of_start(command argv, io::process_options options = {}) {
  start_refusal got;
  try {
    io::process child = co_await io::process::start(std::move(argv), std::move(options));
    ADD_FAILURE() << "it was started";
  } catch (const io::process_start_error& failure) {
    got.code = failure.code();
    got.step = failure.step();
    got.text = failure.what();
  }
  EXPECT_FALSE(has_children());
  co_return got;
}

inline void expect_refusal(const start_refusal& got, std::errc code, io::process_step step,
                           const char* words) {
  EXPECT_EQ(got.code, code) << got.text;
  EXPECT_EQ(got.step, step) << got.text;
  EXPECT_NE(got.text.find(words), std::string::npos) << got.text;
}

}  // namespace tandem::test
