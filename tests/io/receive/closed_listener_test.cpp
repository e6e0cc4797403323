// closed_listener_test.cpp: where the system has a call that ends listening, close() is the end of it.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <tandem/as_result.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/timeout.hpp>

#include "io/support/io_support.hpp"
#include "refusing_port.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::endpoint;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::on_every_home;

task<tcp_stream> next_of(tcp_listener& listener) { co_return co_await listener.incoming(); }

TEST(incoming, a_listener_that_was_closed_listens_no_more_at_once) {
  on_every_home([]() -> task<void> {
    const auto port = tandem::test::refusing_port::for_listeners();
    const endpoint where = port.where();
    for (int round = 0; round < 50; ++round) {
      tcp_listener listener = tcp_listener::bind(where);
      (void)co_await tandem::as_result(tandem::with_timeout(1us, next_of(listener)));
      listener.close();  // its completion thread may not know yet
      const auto late = co_await tandem::as_result(tcp_stream::connect(where));
      EXPECT_EQ(late.error(), std::errc::connection_refused);
      // Later ones accept as before.
      tcp_listener next = tcp_listener::bind(where);
      tcp_stream client = co_await tcp_stream::connect(where);
      tcp_stream server = co_await next.incoming();
      EXPECT_EQ(server.remote_endpoint(), client.local_endpoint());
    }
  });
}

}  // namespace
