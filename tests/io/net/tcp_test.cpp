// tcp_test.cpp: connections over loopback: bytes, ends, errors, homes.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"
#include "refusing_port.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::io::completion_pool;
using tandem::io::endpoint;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::echo;
using tandem::test::make_connection;
using tandem::test::pattern;
using tandem::test::test_runtime;

task<void> echo_connections(tcp_listener& listener, int count) {
  co_await with_scope([&](task_scope& scope) -> task<void> {
    for (int i = 0; i < count; ++i) {
      tcp_stream stream = co_await listener.accept();
      tandem::executor& home = stream.thread_executor();
      scope.spawn(home, echo(std::move(stream)));
    }
  });
}

task<std::vector<std::byte>> read_exactly(tcp_stream& stream, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::size_t have = 0;
  while (have < size) {
    const std::size_t n = co_await stream.read(std::span(bytes).subspan(have));
    if (n == 0) break;
    have += n;
  }
  bytes.resize(have);
  co_return bytes;
}

task<void> send_and_compare(endpoint peer, std::size_t size, unsigned seed) {
  tcp_stream stream = co_await tcp_stream::connect(peer);
  const std::vector<std::byte> sent = pattern(size, seed);
  std::vector<std::byte> got;
  co_await with_scope([&](task_scope& scope) -> task<void> {
    scope.spawn([](tcp_stream& s, const std::vector<std::byte>& bytes) -> task<void> {
      co_await s.write_all(bytes);
      s.shutdown();
    }(stream, sent));
    got = co_await read_exactly(stream, size);
  });
  EXPECT_EQ(got, sent);
  std::byte extra{};
  EXPECT_EQ(co_await stream.read(std::span(&extra, 1)), 0U);  // end of stream, and it stays so
  EXPECT_EQ(co_await stream.read(std::span(&extra, 1)), 0U);
}

task<void> echo_round_trip(endpoint address, std::size_t size) {
  tcp_listener listener = tcp_listener::bind(address);
  const endpoint here = listener.local_endpoint();
  co_await with_scope([&](task_scope& scope) -> task<void> {
    scope.spawn(echo_connections(listener, 1));
    scope.spawn(send_and_compare(here, size, static_cast<unsigned>(size)));
    co_return;
  });
}

TEST(tcp, what_is_sent_comes_back_whole_for_any_size_over_ipv4_and_ipv6) {
  test_runtime rt;
  for (const std::size_t size : {1U, 2U, 63U, 64U, 4096U, 65'537U, 1'048'576U}) {
    rt.run(echo_round_trip(endpoint::loopback_v4(0), size));
    rt.run(echo_round_trip(endpoint::loopback_v6(0), size));
  }
}

TEST(tcp, a_hundred_connections_at_once_keep_their_bytes_apart) {
  test_runtime rt;
  tandem::io::completion_options options;
  options.min_threads = 2;
  tandem::io::install(*rt, options);
  rt.run([]() -> task<void> {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    const endpoint here = listener.local_endpoint();
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(echo_connections(listener, 100));
      for (unsigned i = 0; i < 100; ++i) scope.spawn(send_and_compare(here, 20'000, i));
      co_return;
    });
  }());
}

TEST(tcp, endpoints_of_both_sides_fit) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    EXPECT_NE(listener.local_endpoint().port(), 0);
    tcp_stream client = co_await tcp_stream::connect(listener.local_endpoint());
    tcp_stream server = co_await listener.accept();
    EXPECT_EQ(client.remote_endpoint(), listener.local_endpoint());
    EXPECT_EQ(client.local_endpoint(), server.remote_endpoint());
    EXPECT_EQ(server.local_endpoint(), listener.local_endpoint());
  }());
}

TEST(tcp, a_refused_connection_is_an_error_that_names_the_peer) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const tandem::test::refusing_port port;
    const endpoint gone = port.where();
    try {
      (void)co_await tcp_stream::connect(gone);
      ADD_FAILURE() << "connected to nobody";
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::connection_refused);
      EXPECT_NE(std::string(e.what()).find(gone.to_string()), std::string::npos) << e.what();
    }
    const auto got = co_await as_result(tcp_stream::connect(gone));
    EXPECT_EQ(got.error(), std::errc::connection_refused);
  }());
}

TEST(tcp, an_address_in_use_is_named) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    tcp_listener first = tcp_listener::bind(endpoint::loopback_v4(0));
    try {
      (void)tcp_listener::bind(first.local_endpoint());
      ADD_FAILURE() << "bound twice";
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::address_in_use);
      EXPECT_NE(std::string(e.what()).find(first.local_endpoint().to_string()), std::string::npos);
    }
    co_return;
  }());
}

TEST(tcp, closed_streams_answer_with_an_error_and_close_twice_is_harmless) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    tcp_stream none;
    std::byte byte{};
    const auto read = co_await as_result(none.read(std::span(&byte, 1)));
    EXPECT_EQ(read.error(), std::errc::bad_file_descriptor);
    const auto written = co_await as_result(none.write(std::span(&byte, 1)));
    EXPECT_EQ(written.error(), std::errc::bad_file_descriptor);
    const auto all_written = co_await as_result(none.write_all(std::span(&byte, 1)));
    EXPECT_EQ(all_written.error(), std::errc::bad_file_descriptor);
    EXPECT_THROW(none.shutdown(), std::system_error);
    EXPECT_THROW((void)none.remote_endpoint(), std::system_error);
    none.close();
    none.close();
    tcp_listener no_listener;
    const auto accepted = co_await as_result(no_listener.accept());
    EXPECT_EQ(accepted.error(), std::errc::bad_file_descriptor);
  }());
}

// Found by review: the awaiter kept the number of a descriptor that was closed before the await.
TEST(tcp, an_operation_made_before_a_close_does_not_reach_the_next_socket_of_that_number) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    tcp_stream first = co_await tcp_stream::connect(listener.local_endpoint());
    std::byte byte{};
    auto read = first.read(std::span(&byte, 1));
    first.close();
    tcp_stream second = co_await tcp_stream::connect(listener.local_endpoint());
    tcp_stream gone = co_await listener.accept();
    tcp_stream server = co_await listener.accept();
    co_await server.write_all(std::span(&byte, 1));
    const auto got = co_await as_result(std::move(read));
    EXPECT_EQ(got.error(), std::errc::bad_file_descriptor);
    EXPECT_EQ(co_await second.read(std::span(&byte, 1)), 1U);
  }());
}

TEST(tcp, an_empty_read_or_write_is_done_at_once) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection c = co_await make_connection();
    EXPECT_EQ(co_await c.client.read({}), 0U);
    EXPECT_EQ(co_await c.client.write({}), 0U);
    co_await c.client.write_all({});
  }());
}

TEST(tcp, writing_to_a_vanished_peer_is_an_error_and_no_signal) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection c = co_await make_connection();
    c.server.close();
    const std::vector<std::byte> bytes(65'536);
    std::error_code error;
    while (!error) error = (co_await as_result(c.client.write(bytes))).error();
    EXPECT_TRUE(error == std::errc::broken_pipe || error == std::errc::connection_reset) << error;
  }());
}

TEST(tcp, outside_any_task_io_says_so) {
  EXPECT_THROW((void)tcp_listener::bind(endpoint::loopback_v4(0)), std::logic_error);
}

TEST(tcp, a_task_may_live_on_workers_on_one_completion_thread_or_on_the_pool) {
  test_runtime rt;
  tandem::io::completion_options options;
  options.min_threads = 2;
  tandem::io::completion_pool& pool = tandem::io::install(*rt, options);
  tandem::executor* const homes[] = {&rt.workers(), &pool.thread(0).executor(),
                                     &pool.thread(1).executor(), &pool.executor()};
  for (tandem::executor* home : homes) {
    rt.run([](tandem::executor* where) -> task<void> {
      co_await tandem::resume_on(*where);
      tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
      tcp_stream client = co_await tcp_stream::connect(listener.local_endpoint());
      EXPECT_TRUE(where->is_current());
      tcp_stream server = co_await listener.accept();
      EXPECT_TRUE(where->is_current());
      for (int i = 0; i < 50; ++i) {
        const std::vector<std::byte> sent = pattern(1000, static_cast<unsigned>(i));
        co_await client.write_all(sent);
        EXPECT_EQ(co_await read_exactly(server, sent.size()), sent);
        EXPECT_TRUE(where->is_current());
      }
      co_await tandem::sleep_for(1ms);
      EXPECT_TRUE(where->is_current());
    }(home));
  }
}

// A stream that is always ready must not keep a worker from everybody else.
TEST(tcp, a_task_whose_operations_are_always_ready_lets_others_run) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    connection c = co_await make_connection();
    bool other_ran = false;
    auto other = tandem::spawn([](bool& ran) -> task<void> {
      ran = true;
      co_return;
    }(other_ran));
    std::byte byte{};
    int rounds = 0;
    while (!other_ran && rounds < 100'000) {
      co_await c.client.write_all(std::span(&byte, 1));
      co_await c.server.read(std::span(&byte, 1));
      ++rounds;
    }
    EXPECT_TRUE(other_ran);
    EXPECT_LE(rounds, 200);
    co_await other;
  }());
}

TEST(tcp_death, closing_a_socket_with_an_operation_in_flight_is_refused) {
  EXPECT_DEATH(
      {
        test_runtime rt;
        rt.run([](completion_pool& pool) -> task<void> {
          tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
          auto waiting = tandem::spawn(
              [](tcp_listener& l) -> task<void> { (void)co_await l.accept(); }(listener));
          while (pool.stats().in_flight == 0) co_await tandem::yield();
          listener.close();
        }(tandem::io::install(*rt)));
      },
      "in flight");
}

/// In a process of its own: `use` of the server's side, when that was received from.
template <class Use>
void after_receive(Use use) {
  test_runtime rt;
  rt.run([](Use then) -> task<void> {
    connection c = co_await make_connection();
    co_await c.client.write_all(tandem::io::bytes_of("ab"));
    (void)co_await c.server.receive();
    co_await then(c.server);
  }(use));
}

TEST(tcp_death, reading_in_any_way_after_receive_is_refused) {
  std::array<std::byte, 1> room;
  EXPECT_DEATH(after_receive([&](tcp_stream& s) -> task<void> { (void)co_await s.read(room); }),
               "after receive\\(\\)");
  const std::array<std::span<std::byte>, 1> list{room};
  EXPECT_DEATH(after_receive([&](tcp_stream& s) -> task<void> { (void)co_await s.read(list); }),
               "after receive\\(\\)");
  EXPECT_DEATH(after_receive([&](tcp_stream& s) -> task<void> {
                 tandem::io::buffered_reader reader(s);
                 (void)co_await tandem::as_result(reader.read(room));
               }),
               "after receive\\(\\)");
}

TEST(tcp_death, accepting_after_incoming_is_refused) {
  EXPECT_DEATH(
      {
        test_runtime rt;
        rt.run([]() -> task<void> {
          tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
          tcp_stream client = co_await tcp_stream::connect(listener.local_endpoint());
          (void)co_await listener.incoming();
          (void)co_await listener.accept();
        }());
      },
      "accept\\(\\) after incoming\\(\\)");
}

}  // namespace
