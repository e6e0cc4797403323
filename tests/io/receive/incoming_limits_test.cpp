// incoming_limits_test.cpp: a listener of a process that can open nothing more.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/tcp_listener.hpp>

#include "io/support/io_support.hpp"
#include "no_descriptors.hpp"

namespace {

using tandem::task;
using tandem::io::endpoint;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::on_every_home;

TEST(incoming, without_descriptors_it_says_so_and_goes_on_afterwards) {
  on_every_home([]() -> task<void> {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    // Connected, but not accepted, since nobody has asked: the first one of a new listener.
    const tcp_stream client = co_await tcp_stream::connect(listener.local_endpoint());
    tandem::result<tcp_stream> refused = std::make_error_code(std::errc::interrupted);
    {
      const tandem::test::no_descriptors none;
      refused = co_await tandem::as_result(listener.incoming());
    }
    EXPECT_EQ(refused.error(), std::errc::too_many_files_open);
    const tcp_stream server = co_await listener.incoming();
    EXPECT_EQ(server.remote_endpoint(), client.local_endpoint());
  });
}

}  // namespace
