// without_uring_test.cpp: a build without io_uring takes Asio, and says nothing of it.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/install.hpp>
#include <tandem/runtime.hpp>

namespace {

using tandem::io::io_backend;

TEST(without_uring, asio_runs_where_nobody_has_chosen_and_says_nothing) {
  for (const io_backend choice : {io_backend::automatic, io_backend::asio}) {
    testing::internal::CaptureStderr();
    tandem::runtime rt;
    tandem::io::completion_options options;
    options.backend = choice;
    EXPECT_EQ(tandem::io::install(rt, options).backend_name(), "asio");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  }
}

TEST(without_uring, rings_that_were_chosen_are_an_error_that_names_the_cause) {
  tandem::runtime rt;
  tandem::io::completion_options options;
  options.backend = io_backend::uring;
  try {
    tandem::io::install(rt, options);
    FAIL();
  } catch (const std::system_error& refused) {
    EXPECT_EQ(refused.code().value(), ENOTSUP);
    EXPECT_NE(std::string(refused.what()).find("TANDEM_PLATFORM"), std::string::npos);
  }
}

}  // namespace
