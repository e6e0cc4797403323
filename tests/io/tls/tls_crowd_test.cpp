// tls_crowd_test.cpp: thousands of clients that never finish their handshake, and good ones among them.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <random>
#include <string_view>
#include <tandem/io/serve.hpp>
#include <tandem/spawn.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "io/tls/counted_sessions.hpp"
#include "io/tls/many_descriptors.hpp"
#include "io/tls/tls_support.hpp"
#include "plain_sockets.hpp"
#include "sanitized.hpp"
#include "system.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::endpoint;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::io::tls_stream;
using tandem::test::live_ssl_objects;
using tandem::test::plain_socket;
using tandem::test::test_runtime;

namespace tls = tandem::io::tls;

/// As many as an attack that has to be endured; a tenth where all is slow.
constexpr std::size_t crowd = tandem::test::sanitized ? 500 : 5000;
constexpr std::size_t places = crowd / 20;

/// The head of a ClientHello that promises more.
constexpr std::string_view half_a_hello("\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03 and no more",
                                        24);

/// Clients that hold on to their connections.
class bad_clients {
 public:
  explicit bad_clients(std::uint16_t port) : port_(port) {}
  bad_clients(const bad_clients&) = delete;
  bad_clients& operator=(const bad_clients&) = delete;
  ~bad_clients() { leave(); }

  void come(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const plain_socket made = tandem::test::open_plain(tandem::test::socket_kind::stream_v4);
      ASSERT_EQ(tandem::test::connect_plain(made, port_), std::errc{});
      // Every other one says something. The server may have closed it by then.
      if (all_.size() % 2 == 0) {
        (void)tandem::test::send_plain(made, half_a_hello.data(), half_a_hello.size());
      }
      all_.push_back(made);
    }
  }
  void leave() {
    for (const plain_socket each : all_) {
      tandem::test::reset_at_close(each);  // its port is free at once
      tandem::test::close_plain(each);
    }
    all_.clear();
  }

 private:
  std::uint16_t port_;
  std::vector<plain_socket> all_;
};

task<void> echo(tls_stream stream) {
  std::array<std::byte, 64> room;
  while (const std::size_t n = co_await stream.read(room)) {
    co_await stream.write_all(std::span(room).first(n));
  }
  (void)co_await stream.finish(10s);
}

/// A server of encrypted echoes, beside the thread of the test.
class crowded_server {
 public:
  explicit crowded_server(tls::accepting_options options) : options_(std::move(options)) {
    options_.counts = &counts;
    tandem::io::listen_options listening;
    listening.backlog = 4096;
    tcp_listener listener = rt_.run([](tandem::io::listen_options how) -> task<tcp_listener> {
      co_return tcp_listener::bind(endpoint::loopback_v4(0), how);
    }(listening));
    here_ = listener.local_endpoint();
    const auto handler =
        tls::accepting(tls::server_context(tandem::test::served_by()), echo, options_);
    tandem::io::serve_options serving;
    serving.drain_timeout = 1h;
    serving.on_handler_error = [this](const std::exception_ptr&) { ++handler_errors; };
    serving_ = rt_->spawn(tandem::io::serve(std::move(listener), handler, serving));
  }
  ~crowded_server() { end(); }
  crowded_server(const crowded_server&) = delete;
  crowded_server& operator=(const crowded_server&) = delete;

  std::uint16_t port() const { return here_.port(); }
  /// Stops it, and waits until its last connection has gone.
  void end() {
    if (!std::exchange(runs_, false)) return;
    serving_.cancel();
    serving_.wait();
  }
  /// How many clients it has begun to talk to, about.
  std::uint64_t has_met() const {
    return counts.accepted + counts.failed + counts.crowded_out +
           static_cast<std::uint64_t>(live_ssl_objects());
  }
  /// A client that knows how to. @returns  whether it was served
  bool serve_a_good_one() {
    try {
      return rt_.run([](endpoint server) -> task<bool> {
        static const tls::client_context trust(tandem::test::trusting());
        tls_stream mine =
            co_await tls::connect(co_await tcp_stream::connect(server), "localhost", trust);
        co_await mine.write_all(tandem::test::bytes_of("hello"));
        std::array<std::byte, 8> room;
        const std::size_t n = co_await mine.read(room);
        const bool farewell = co_await mine.finish(10s);
        co_return n == 5 && farewell;
      }(here_));
    } catch (const std::system_error&) {
      return false;  // it was crowded out
    }
  }

  tls::accepting_counts counts;
  std::atomic<std::uint64_t> handler_errors{0};

 private:
  tls::accepting_options options_;
  test_runtime rt_;
  endpoint here_;
  tandem::join_handle<void> serving_;
  bool runs_ = true;
};

void wait_until(const std::atomic<std::uint64_t>& count, std::uint64_t wanted) {
  while (count < wanted) std::this_thread::sleep_for(100us);
}

tls::accepting_options patient_options() {
  tls::accepting_options options;
  options.max_handshakes = places;
  options.handshake_timeout = 1h;
  return options;
}

void need_descriptors() {
  ASSERT_GT(tandem::test::allow_many_descriptors(), 2 * crowd + 200) << "RLIMIT_NOFILE is too low";
}

TEST(tls_crowd, whoever_never_finishes_a_handshake_keeps_nobody_out_and_costs_nothing) {
  need_descriptors();
  crowded_server server(patient_options());
  bad_clients bad(server.port());
  EXPECT_TRUE(server.serve_a_good_one());
  std::size_t allocated_before = 0;
  std::uint64_t good = 1;
  for (std::size_t come = 0; come < crowd; come += crowd / 10) {
    bad.come(crowd / 10);
    const std::size_t now = come + crowd / 10;
    if (now > places) wait_until(server.counts.crowded_out, now - places);
    EXPECT_LE(live_ssl_objects(), static_cast<long>(places) + 1);
    EXPECT_TRUE(server.serve_a_good_one());  // it takes the place of a bad one
    ++good;
    if (come == crowd / 10) allocated_before = tandem::test::allocated_bytes();
  }
  if (!tandem::test::sanitized) {
    const std::size_t allocated = tandem::test::allocated_bytes();
    EXPECT_LT(allocated, allocated_before + (std::size_t{2} << 20U)) << "it grows with the crowd";
  }
  EXPECT_EQ(server.counts.accepted, good);
  EXPECT_EQ(server.counts.timed_out, 0U);
  bad.leave();
  const auto& counts = server.counts;
  while (counts.failed + counts.crowded_out < crowd) std::this_thread::sleep_for(100us);
  EXPECT_EQ(counts.failed + counts.crowded_out, crowd);
  EXPECT_GE(counts.crowded_out, crowd - places);
  server.end();
  EXPECT_EQ(live_ssl_objects(), 0);
  EXPECT_EQ(server.handler_errors, counts.failed);
}

TEST(tls_crowd, good_clients_come_through_while_others_come_as_fast_as_they_can) {
  need_descriptors();
  tls::accepting_options options = patient_options();
  options.max_handshakes = tls::accepting_options().max_handshakes;
  crowded_server server(options);
  std::atomic<bool> is_over = false;
  std::thread storm([&] {
    bad_clients bad(server.port());
    std::uint64_t came = 0;
    while (!is_over) {
      for (int i = 0; i < 60 && !is_over; ++i) {
        bad.come(options.max_handshakes / 40);
        came += options.max_handshakes / 40;
        // Not so far ahead that the kernel's queue is full: that would keep good ones out, too.
        while (!is_over && server.has_met() + 100 < came) std::this_thread::sleep_for(100us);
      }
      bad.leave();
    }
  });
  wait_until(server.counts.crowded_out, 1);
  int tries = 0;
  for (int served = 0; served < 20; ++tries) {
    served += server.serve_a_good_one() ? 1 : 0;
  }
  is_over = true;
  storm.join();
  std::printf("20 were served at %d tries; %llu were crowded out\n", tries,
              static_cast<unsigned long long>(server.counts.crowded_out.load()));
  server.end();
  EXPECT_EQ(live_ssl_objects(), 0);
}

TEST(tls_crowd, a_silent_crowd_runs_out_of_time) {
  tls::accepting_options options;
  options.handshake_timeout = 1s;  // in which a good one has to be done, on any machine
  std::atomic<std::uint64_t> told = 0;
  options.on_handshake_error = [&told](const std::exception_ptr& why) {
    try {
      std::rethrow_exception(why);
    } catch (const std::system_error& failure) {
      EXPECT_EQ(failure.code(), std::errc::timed_out);
      ++told;
    }
  };
  crowded_server server(options);
  bad_clients bad(server.port());
  bad.come(places);
  wait_until(server.counts.timed_out, places);
  wait_until(told, places);
  EXPECT_TRUE(server.serve_a_good_one());
  server.end();
  EXPECT_EQ(server.counts.timed_out, places);
  EXPECT_EQ(server.handler_errors, 0U);
  EXPECT_EQ(live_ssl_objects(), 0);
}

TEST(tls_crowd, a_server_that_ends_waits_for_no_handshake) {
  crowded_server server(patient_options());
  bad_clients bad(server.port());
  bad.come(places);
  while (live_ssl_objects() < static_cast<long>(places)) std::this_thread::sleep_for(100us);
  server.end();  // its drain may take an hour: it would hang
  EXPECT_EQ(live_ssl_objects(), 0);
  EXPECT_EQ(server.handler_errors, 0U);
  EXPECT_EQ(server.counts.accepted + server.counts.failed + server.counts.crowded_out, 0U);
}

}  // namespace
