// inherited_sockets_test.cpp: what a service manager passes on; the manager is the test.
// SPDX-License-Identifier: MIT
#include <tandem/io/inherited_sockets.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <system_error>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/io/unix_listener.hpp>
#include <tandem/run.hpp>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"

namespace {

using tandem::task;
using tandem::io::inherited_socket;
using tandem::io::inherited_sockets;
using tandem::io::tcp_listener;
using tandem::io::unix_listener;
using tandem::test::bytes_of;

constexpr int first = 3;

/// For a child only: these descriptors become its 3, 4, ..., as they come to a program that a
/// service manager has started.
void pass_on(const std::vector<int>& descriptors, const char* count, const char* names) {
  int at = first;
  std::vector<int> high;
  for (const int each : descriptors) high.push_back(::fcntl(each, F_DUPFD, 100));
  for (const int each : high) {
    if (::dup2(each, at++) < 0) ::_exit(90);
    ::close(each);
  }
  ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
  ::setenv("LISTEN_FDS", count, 1);
  if (names != nullptr) ::setenv("LISTEN_FDNAMES", names, 1);
}

task<void> one_word_each(tcp_listener& web, unix_listener& control) {
  auto client = co_await tandem::io::tcp_stream::connect(web.local_endpoint());
  auto server = co_await web.accept();
  co_await client.write_all(bytes_of("web"));
  std::array<std::byte, 8> room;
  if (co_await server.read(room) != 3) ::_exit(91);
  auto asking = co_await tandem::io::unix_stream::connect(control.local_endpoint());
  auto asked = co_await control.accept();
  co_await asking.write_all(bytes_of("ask"));
  if (co_await asked.read(room) != 3) ::_exit(92);
}

/// In the child.
task<void> serve_what_was_inherited() {
  std::vector<inherited_socket> all = inherited_sockets();
  if (all.size() != 2 || all[0].name != "web" || all[1].name != "unknown") ::_exit(93);
  for (const inherited_socket& each : all) {
    if (::fcntl(each.descriptor.native_handle(), F_GETFD) != FD_CLOEXEC) ::_exit(94);
  }
  if (std::getenv("LISTEN_FDS") != nullptr || std::getenv("LISTEN_FDNAMES") != nullptr) {
    ::_exit(95);
  }
  if (!inherited_sockets().empty()) ::_exit(96);
  tcp_listener web = tcp_listener::from_native(std::move(all[0].descriptor));
  unix_listener control = unix_listener::from_native(std::move(all[1].descriptor));
  co_await one_word_each(web, control);
}

/// In the child: what a manager has opened is passed on, and served.
[[noreturn]] void inherit_and_serve() {
  std::vector<int> opened;
  const auto open = [&opened]() -> task<void> {
    const auto any = tandem::io::endpoint::loopback_v4(0);
    const auto name =
        tandem::io::unix_endpoint::abstract("tandem-inherited-" + std::to_string(::getpid()));
    opened.push_back(::dup(tcp_listener::bind(any).native_handle()));
    opened.push_back(::dup(unix_listener::bind(name).native_handle()));
    co_return;
  };
  tandem::run(open());
  pass_on(opened, "2", "web:");
  tandem::run(serve_what_was_inherited());
  ::_exit(0);
}

TEST(inherited_sockets, are_served_as_if_they_were_bound_here) {
  EXPECT_EXIT(inherit_and_serve(), ::testing::ExitedWithCode(0), "");
}

TEST(inherited_sockets, what_was_meant_for_another_process_is_left_alone) {
  EXPECT_EXIT(
      {
        pass_on({0}, "1", nullptr);
        ::setenv("LISTEN_PID", std::to_string(::getppid()).c_str(), 1);
        if (!inherited_sockets().empty()) ::_exit(1);
        ::_exit(std::getenv("LISTEN_FDS") != nullptr ? 0 : 2);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(inherited_sockets, nothing_was_passed_on_to_this_process) {
  EXPECT_TRUE(inherited_sockets().empty());
}

/// In the child: says why they are refused, and dies of it.
[[noreturn]] void die_of_refusal() {
  try {
    (void)inherited_sockets();
  } catch (const std::system_error& failure) {
    (void)!::write(2, failure.what(), std::string(failure.what()).size());
    ::_exit(7);
  }
  ::_exit(0);
}

TEST(inherited_sockets, a_count_that_is_none_is_refused) {
  EXPECT_EXIT(
      {
        pass_on({0}, "two", nullptr);
        die_of_refusal();
      },
      ::testing::ExitedWithCode(7), "LISTEN_FDS is 'two', and no count");
}

TEST(inherited_sockets, a_descriptor_that_is_not_open_is_named_and_none_is_taken) {
  EXPECT_EXIT(
      {
        pass_on({0}, "2", nullptr);
        ::close(first + 1);
        die_of_refusal();
      },
      ::testing::ExitedWithCode(7), "descriptor 4 is not open");
}

}  // namespace
