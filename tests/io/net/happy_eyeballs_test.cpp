// happy_eyeballs_test.cpp: connecting to whichever address answers first.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/timeout.hpp>
#include <vector>

#include "io/support/io_support.hpp"
#include "plain_sockets.hpp"
#include "refusing_port.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::with_timeout;
using tandem::io::endpoint;
using tandem::io::happy_eyeballs_options;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::on_every_home;
using tandem::test::open_descriptors;
using tandem::test::plain_socket;
using tandem::test::test_runtime;

/// An address that never answers: its listener's queue is full.
class silent_address {
 public:
  silent_address() {
    std::uint16_t port = 0;
    listener_ = tandem::test::listening_plain(port, 0);
    where_ = endpoint::loopback_v4(port);
    for (int i = 0; i < 8; ++i) {
      fillers_.push_back(tandem::test::open_plain(tandem::test::socket_kind::stream_v4, false));
      (void)tandem::test::connect_plain(fillers_.back(), port);
    }
  }
  silent_address(const silent_address&) = delete;
  silent_address& operator=(const silent_address&) = delete;
  ~silent_address() {
    for (const plain_socket each : fillers_) tandem::test::close_plain(each);
    tandem::test::close_plain(listener_);
  }
  const endpoint& where() const { return where_; }

 private:
  plain_socket listener_ = tandem::io::no_descriptor;
  std::vector<plain_socket> fillers_;
  endpoint where_;
};

/// An address that refuses.
const endpoint& refusing_address() {
  static const tandem::test::refusing_port port;
  return port.where();
}

happy_eyeballs_options with_delay(std::chrono::milliseconds delay) {
  happy_eyeballs_options options;
  options.attempt_delay = delay;
  return options;
}

TEST(happy_eyeballs, families_take_turns_and_each_keeps_its_order) {
  const auto v4 = [](std::uint16_t n) { return endpoint::loopback_v4(n); };
  const auto v6 = [](std::uint16_t n) { return endpoint::loopback_v6(n); };
  using list = std::vector<endpoint>;
  using tandem::io::detail::interleave_families;
  EXPECT_EQ(interleave_families({}), list{});
  EXPECT_EQ(interleave_families({v4(1), v4(2)}), (list{v4(1), v4(2)}));
  EXPECT_EQ(interleave_families({v6(1), v6(2), v6(3), v4(4), v4(5)}),
            (list{v6(1), v4(4), v6(2), v4(5), v6(3)}));
  EXPECT_EQ(interleave_families({v4(1), v6(2), v6(3), v6(4), v4(5)}),
            (list{v4(1), v6(2), v4(5), v6(3), v6(4)}));
}

TEST(happy_eyeballs, a_refusal_makes_way_for_the_next_address_at_once) {
  on_every_home([]() -> task<void> {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    const std::vector<endpoint> list{refusing_address(), refusing_address(),
                                     listener.local_endpoint(), refusing_address()};
    tcp_stream stream = co_await tcp_stream::connect(list, with_delay(1h));
    EXPECT_EQ(stream.remote_endpoint(), listener.local_endpoint());
    (void)co_await listener.accept();
  });
}

TEST(happy_eyeballs, a_silent_address_is_given_up_when_another_one_answers) {
  silent_address silent;
  on_every_home([&silent]() -> task<void> {
    const std::size_t before = open_descriptors();
    {
      tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
      const std::vector<endpoint> list{silent.where(), silent.where(), listener.local_endpoint()};
      tcp_stream stream = co_await tcp_stream::connect(list, with_delay(2ms));
      EXPECT_EQ(stream.remote_endpoint(), listener.local_endpoint());
      EXPECT_EQ(open_descriptors(), before + 2);
    }
  });
}

TEST(happy_eyeballs, when_all_fail_each_failure_is_told) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const std::vector<endpoint> list{refusing_address(), refusing_address(), refusing_address()};
    try {
      (void)co_await tcp_stream::connect(list, with_delay(1h));
      ADD_FAILURE() << "connected to nobody";
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::connection_refused);
      for (const endpoint& each : list) {
        EXPECT_NE(std::string(e.what()).find(each.to_string()), std::string::npos) << e.what();
      }
    }
    const std::vector<endpoint> one{list.front()};
    EXPECT_EQ((co_await as_result(tcp_stream::connect(one))).error(),
              std::errc::connection_refused);
    const std::vector<endpoint> none;
    EXPECT_THROW((void)co_await tcp_stream::connect(none), std::invalid_argument);
  }());
}

TEST(happy_eyeballs, a_stop_ends_all_attempts_and_leaks_no_descriptor) {
  silent_address silent;
  on_every_home([&silent]() -> task<void> {
    const std::size_t before = open_descriptors();
    const std::vector<endpoint> list(5, silent.where());
    for (const auto delay : {0ms, 1ms}) {
      const auto got =
          co_await as_result(with_timeout(4ms, tcp_stream::connect(list, with_delay(delay))));
      EXPECT_TRUE(got.is_cancelled());
      EXPECT_EQ(open_descriptors(), before);
    }
  });
}

// All of them answer at once: one wins, the others are closed.
TEST(happy_eyeballs, of_several_that_answer_at_once_one_is_kept_and_none_leaks) {
  on_every_home([]() -> task<void> {
    const std::size_t before = open_descriptors();
    for (int round = 0; round < 50; ++round) {
      tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
      const std::vector<endpoint> list(6, listener.local_endpoint());
      {
        tcp_stream stream = co_await tcp_stream::connect(list, with_delay(0ms));
        EXPECT_TRUE(stream.is_open());
        EXPECT_EQ(open_descriptors(), before + 2);
      }
      // The same, with a stop that races with them.
      (void)co_await as_result(with_timeout(std::chrono::microseconds(round * 10),
                                            tcp_stream::connect(list, with_delay(0ms))));
      EXPECT_EQ(open_descriptors(), before + 1);
    }
    EXPECT_EQ(open_descriptors(), before);
  });
}

TEST(happy_eyeballs, a_host_is_resolved_first) {
  on_every_home([]() -> task<void> {
    const tandem::test::v4_listener listener;
    const endpoint there = endpoint::loopback_v4(listener.port());
    // "localhost" may be ::1 first, which refuses.
    tcp_stream named = co_await tcp_stream::connect("localhost", listener.port());
    EXPECT_EQ(named.remote_endpoint(), there);
    tcp_stream numbered = co_await tcp_stream::connect("127.0.0.1", listener.port());
    EXPECT_EQ(numbered.remote_endpoint(), there);
  });
}

}  // namespace
