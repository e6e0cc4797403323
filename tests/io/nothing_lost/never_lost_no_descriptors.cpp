// never_lost_no_descriptors.cpp: descriptors that run out, and that nobody inherits.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

#include "io/support/io_support.hpp"
#include "no_descriptors.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::io::endpoint;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::no_descriptors;
using tandem::test::open_descriptors;
using tandem::test::pattern;
using tandem::test::read_to_end;
using tandem::test::test_runtime;

TEST(never_lost, without_descriptors_calls_fail_by_name_and_the_connection_waits) {
  tandem::test::on_every_home([]() -> task<void> {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    const endpoint here = listener.local_endpoint();
    tcp_stream waiting = co_await tcp_stream::connect(here);
    std::error_code accepting, connecting, binding;
    {
      const no_descriptors none;
      accepting = (co_await as_result(listener.accept())).error();
      connecting = (co_await as_result(tcp_stream::connect(here))).error();
      try {
        (void)tcp_listener::bind(endpoint::loopback_v4(0));
      } catch (const std::system_error& e) {
        binding = e.code();
      }
    }
    EXPECT_EQ(accepting, std::errc::too_many_files_open);
    EXPECT_EQ(connecting, std::errc::too_many_files_open);
    EXPECT_EQ(binding, std::errc::too_many_files_open);
    tcp_stream accepted = co_await listener.accept();
    co_await waiting.write_all(pattern(5, 1));
    waiting.shutdown();
    EXPECT_EQ((co_await read_to_end(accepted)).size(), 5U);
  });
}

/// With so many descriptors to spare: the error of making a pool of two threads, if there is one.
std::error_code make_pool(int spare) {
  test_runtime rt;
  const no_descriptors few(spare);
  try {
    tandem::io::completion_options options;
    options.min_threads = 2;
    tandem::io::install(*rt, options);
  } catch (const std::system_error& e) {
    return e.code();
  }
  return {};
}

TEST(never_lost, a_pool_that_lacks_descriptors_fails_by_name_and_leaves_none_open) {
  ASSERT_FALSE(make_pool(100));
  const std::size_t before = open_descriptors();
  int spare = 0;
  while (const std::error_code failed = make_pool(spare)) {
    EXPECT_EQ(failed, std::errc::too_many_files_open);
    ASSERT_LT(++spare, 30);
  }
  EXPECT_GT(spare, 2);
  EXPECT_EQ(open_descriptors(), before);
}

/// The descriptors that a program started from here finds open, as it says itself.
std::string inherited() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  std::string name = "/bin/ls";
  std::string what = "/proc/self/fd";
  char* const arguments[] = {name.data(), what.data(), nullptr};
  pid_t child = 0;
  EXPECT_EQ(::posix_spawn(&child, name.c_str(), &actions, nullptr, arguments, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string said;
  std::array<char, 512> room{};
  for (ssize_t n = 0; (n = ::read(ends[0], room.data(), room.size())) > 0;) {
    said.append(room.data(), static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return said;
}

TEST(never_lost, a_program_that_is_started_inherits_no_descriptor) {
  const std::string without = inherited();
  test_runtime rt;
  rt.run([](const std::string& expected) -> task<void> {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    connection c = co_await make_connection();
    co_await c.client.write_all(pattern(5, 1));
    (void)co_await c.server.receive();
    const tandem::io::signal_set signals({SIGUSR2});
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([](tcp_listener& l) -> task<void> { (void)co_await l.accept(); }(listener));
      co_await tandem::sleep_for(2ms);
      EXPECT_EQ(inherited(), expected);
      scope.request_stop();
    });
  }(without));
}

}  // namespace
