// one_at_a_time_test.cpp: a second read, or write, of a stream does not slip in between the parts of the first.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/buffers_in_flight.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/when_all.hpp>
#include <vector>

#include "io/support/io_support.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::io::endpoint;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::bytes_of;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::test_runtime;

/// What two tasks do at once. Whichever comes second is refused, and then lets the first one end.
class both {
 public:
  int done = 0;
  std::vector<std::error_code> refused;
};

task<void> read_once(connection& c, both& seen, int form) {
  std::array<std::byte, 4> room;
  const std::array<std::span<std::byte>, 1> list{room};
  std::error_code error;
  if (form == 0) error = (co_await as_result(c.server.read(room))).error();
  if (form == 1) error = (co_await as_result(c.server.read(list))).error();
  if (form == 2) error = (co_await as_result(c.server.receive())).error();
  if (!error) {
    ++seen.done;
    co_return;
  }
  seen.refused.push_back(error);
  co_await c.client.write_all(bytes_of("1234"));
}

task<void> write_once(connection& c, both& seen, const std::vector<std::byte>& bytes, int form) {
  const std::array<std::span<const std::byte>, 1> list{bytes};
  std::error_code error;
  if (form == 0) error = (co_await as_result(c.server.write_all(bytes))).error();
  if (form == 1) error = (co_await as_result(c.server.write_all(list))).error();
  if (!error) {
    ++seen.done;
    co_return;
  }
  seen.refused.push_back(error);
  std::vector<std::byte> room(64 * 1024);
  for (std::size_t taken = 0; taken < bytes.size();) taken += co_await c.client.read(room);
}

const std::vector<std::error_code> one_in_progress{
    std::make_error_code(std::errc::operation_in_progress)};

TEST(one_at_a_time,
     a_read_and_a_write_go_beside_each_other_and_one_after_another_as_often_as_one_likes) {
  on_every_home([]() -> task<void> {
    connection c = co_await make_connection();
    for (int i = 0; i < 3; ++i) {
      std::array<std::byte, 4> of_server;
      std::array<std::byte, 4> of_client;
      const auto reading = [&]() -> task<void> { (void)co_await c.server.read(of_server); };
      const auto writing = [&]() -> task<void> {
        co_await c.server.write_all(bytes_of("1"));
        (void)co_await c.client.read(of_client);
        co_await c.client.write_all(bytes_of("2"));
      };
      co_await tandem::when_all(reading(), writing());
    }
  });
}

/// What was refused leaves the first one, and the stream, as they were.
TEST(one_at_a_time, in_a_build_without_assertions_the_second_one_is_told_and_the_first_goes_on) {
  if (tandem::io::are_buffers_checked()) GTEST_SKIP() << "this build aborts: see the death test";
  test_runtime rt;
  tandem::io::completion_pool& pool = tandem::io::install(*rt);
  rt.run([](tandem::executor* one) -> task<void> {
    co_await tandem::resume_on(*one);  // so that the first one waits when the second begins
    for (int form = 0; form < 3; ++form) {
      connection c = co_await make_connection();
      for (int round = 0; round < 2; ++round) {
        both seen;
        co_await tandem::when_all(read_once(c, seen, form), read_once(c, seen, form));
        EXPECT_EQ(seen.done, 1);
        EXPECT_EQ(seen.refused, one_in_progress);
      }
    }
    const std::vector<std::byte> much = pattern(std::size_t{16} << 20, 1);
    for (int form = 0; form < 2; ++form) {
      connection c = co_await make_connection();
      both seen;
      co_await tandem::when_all(write_once(c, seen, much, form), write_once(c, seen, much, form));
      EXPECT_EQ(seen.done, 1);
      EXPECT_EQ(seen.refused, one_in_progress);
    }
  }(&pool.thread(0).executor()));
}

/// Two tasks with the same work, one after the other on one thread: the first one waits when the
/// second begins.
template <class Work>
void twice(Work work) {
  test_runtime rt;
  tandem::io::completion_pool& pool = tandem::io::install(*rt);
  rt.run([](tandem::executor* one, Work each) -> task<void> {
    connection c = co_await make_connection();
    const auto body = [&](task_scope& scope) -> task<void> {
      scope.spawn(*one, each(c));
      scope.spawn(*one, each(c));
      co_return;
    };
    co_await with_scope(body);
  }(&pool.thread(0).executor(), work));
}

void read_twice(int form) {
  both seen;
  twice([&](connection& c) { return read_once(c, seen, form); });
}

void write_twice(int form) {
  both seen;
  const std::vector<std::byte> much = pattern(std::size_t{16} << 20, 1);
  twice([&](connection& c) { return write_once(c, seen, much, form); });
}

task<void> accept_one(tcp_listener& listener) { (void)co_await listener.accept(); }

void accept_twice() {
  tcp_listener listener;
  twice([&](connection&) {
    if (!listener.is_open()) listener = tcp_listener::bind(endpoint::loopback_v4(0));
    return accept_one(listener);
  });
}

TEST(one_at_a_time_death, in_a_build_with_assertions_both_tasks_are_named) {
  if (!tandem::io::are_buffers_checked()) GTEST_SKIP() << "a build without assertions";
  constexpr const char* two =
      "task [0-9]+, spawned at .*one_at_a_time_test.cpp:[0-9]+.*"
      "task [0-9]+, spawned at .*one_at_a_time_test.cpp:[0-9]+";
  for (int form = 0; form < 3; ++form) EXPECT_DEATH(read_twice(form), two);
  for (int form = 0; form < 2; ++form) EXPECT_DEATH(write_twice(form), two);
  EXPECT_DEATH(accept_twice(), two);
  EXPECT_DEATH(read_twice(0), "tcp_stream::read");
  EXPECT_DEATH(write_twice(0), "tcp_stream::write_all");
  EXPECT_DEATH(accept_twice(), "tcp_listener::accept");
}

}  // namespace
