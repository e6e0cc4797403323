// backend_choice_test.cpp: which backend runs: by code, by the environment, by what the host allows.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tandem/io/install.hpp>
#include <tandem/run.hpp>

#include "io/support/io_support.hpp"
#include "io_uring_filter.hpp"

namespace {

using tandem::task;
using tandem::io::completion_options;
using tandem::io::completion_pool;
using tandem::io::io_backend;
using tandem::test::connection;
using tandem::test::does_without_io_uring;
using tandem::test::make_connection;
using tandem::test::refuse_io_uring;
using tandem::test::test_runtime;

/// TANDEM_IO_BACKEND with another value, or without one, while it lives.
class with_environment {
 public:
  explicit with_environment(const char* value) {
    if (const char* const before = std::getenv(name)) before_ = before;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~with_environment() { before_ ? ::setenv(name, before_->c_str(), 1) : ::unsetenv(name); }
  with_environment(const with_environment&) = delete;
  with_environment& operator=(const with_environment&) = delete;

 private:
  static constexpr const char* name = "TANDEM_IO_BACKEND";
  std::optional<std::string> before_;
};

task<void> exchange_a_byte() {
  connection c = co_await make_connection();
  std::byte byte{};
  co_await c.client.write_all(std::span(&byte, 1));
  EXPECT_EQ(co_await c.server.read(std::span(&byte, 1)), 1U);
}

/// What runs with these options, after it has done some I/O.
std::string backend_with(completion_options options) {
  options.stall_threshold = std::chrono::milliseconds(0);  // what is written is looked at
  test_runtime rt;
  const completion_pool& pool = tandem::io::install(*rt, options);
  rt.run(exchange_a_byte());
  EXPECT_EQ(pool.stats().backend, pool.backend_name());
  return std::string(pool.backend_name());
}
std::string backend_with(io_backend wanted) {
  completion_options options;
  options.min_threads = 2;
  options.backend = wanted;
  return backend_with(options);
}

TEST(backend_choice, code_says_which) {
  if (does_without_io_uring()) GTEST_SKIP() << "the host refuses io_uring";
  EXPECT_EQ(backend_with(io_backend::asio), "asio");
  EXPECT_EQ(backend_with(io_backend::uring), "io_uring");
}

TEST(backend_choice, the_environment_says_which) {
  if (does_without_io_uring()) GTEST_SKIP() << "the host refuses io_uring";
  for (const auto& [text, name] : {std::pair("asio", "asio"), std::pair("uring", "io_uring")}) {
    const with_environment set(text);
    EXPECT_EQ(backend_with(completion_options()), name);
  }
}

TEST(backend_choice, code_beats_the_environment) {
  const with_environment set("uring");
  EXPECT_EQ(backend_with(io_backend::asio), "asio");
}

TEST(backend_choice, where_nobody_says_and_the_host_allows_it_io_uring_runs) {
  if (does_without_io_uring()) GTEST_SKIP() << "the host refuses io_uring";
  for (const char* const text : {"", "automatic"}) {
    const with_environment set(text);
    EXPECT_EQ(completion_options().backend, io_backend::automatic);
    EXPECT_EQ(backend_with(completion_options()), "io_uring");
  }
  const with_environment unset(nullptr);
  EXPECT_EQ(completion_options().backend, io_backend::automatic);
}

TEST(backend_choice, an_unknown_name_is_refused_with_the_names_there_are) {
  const with_environment set("epoll");
  try {
    const completion_options options;
    ADD_FAILURE() << "took it";
  } catch (const std::invalid_argument& e) {
    EXPECT_STREQ(e.what(), "TANDEM_IO_BACKEND is \"epoll\": uring, asio or automatic is needed");
  }
}

/// In a process of its own, since a filter stays. Ends with 0 if Asio took over, and said so once.
[[noreturn]] void report_fallback(int error) {
  const with_environment unset(nullptr);
  if (!refuse_io_uring(error)) std::_Exit(3);
  std::FILE* const said = std::tmpfile();
  const int screen = ::dup(STDERR_FILENO);
  ::dup2(::fileno(said), STDERR_FILENO);
  const bool taken = backend_with(io_backend::automatic) == "asio" &&
                     backend_with(io_backend::automatic) == "asio";
  ::dup2(screen, STDERR_FILENO);
  std::rewind(said);
  char line[1024];
  int lines = 0;
  while (std::fgets(line, sizeof line, said) != nullptr) {
    ++lines;
    std::fputs(line, stderr);
  }
  std::_Exit(!taken ? 4 : lines == 1 ? 0 : 5);
}

TEST(backend_choice_death, where_io_uring_is_refused_asio_takes_over_and_says_so_in_one_line) {
  constexpr const char* with_cause_and_cure[] = {"seccomp.*Asio takes its place.*TANDEM_IO_BACKEND",
                                                 "kernel.io_uring_disabled.*Asio takes its place",
                                                 "kernel.io_uring_disabled.*Asio takes its place",
                                                 "RLIMIT_MEMLOCK.*Asio takes its place"};
  const int errors[] = {ENOSYS, EPERM, EACCES, ENOMEM};
  for (std::size_t i = 0; i < std::size(errors); ++i) {
    EXPECT_EXIT(report_fallback(errors[i]), ::testing::ExitedWithCode(0), with_cause_and_cure[i]);
  }
}

[[noreturn]] void report_forced_asio() {
  if (!refuse_io_uring(EPERM)) std::_Exit(3);
  std::_Exit(backend_with(io_backend::asio) == "asio" ? 0 : 4);
}

TEST(backend_choice_death, who_chose_asio_hears_nothing_of_io_uring) {
  EXPECT_EXIT(report_forced_asio(), ::testing::ExitedWithCode(0), "^$");
}

[[noreturn]] void report_failure(io_backend wanted, int error) {
  if (!refuse_io_uring(error)) std::_Exit(3);
  try {
    (void)backend_with(wanted);
  } catch (const std::system_error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    std::_Exit(e.code().value() == error ? 0 : 4);
  }
  std::_Exit(5);
}

TEST(backend_choice_death,
     io_uring_that_was_chosen_and_is_refused_is_an_error_with_cause_and_cure) {
  constexpr auto insists = io_backend::uring;
  EXPECT_EXIT(report_failure(insists, ENOSYS), ::testing::ExitedWithCode(0), "seccomp");
  EXPECT_EXIT(report_failure(insists, EPERM), ::testing::ExitedWithCode(0), "io_uring_disabled");
  EXPECT_EXIT(report_failure(insists, ENOMEM), ::testing::ExitedWithCode(0), "RLIMIT_MEMLOCK");
}

// No refusal, but a lack that Asio would meet, too.
TEST(backend_choice_death, a_lack_of_descriptors_is_an_error_whatever_was_chosen) {
  constexpr auto automatic = io_backend::automatic;
  EXPECT_EXIT(report_failure(automatic, EMFILE), ::testing::ExitedWithCode(0), "RLIMIT_NOFILE");
}

}  // namespace
