// unix_refused_test.cpp: on Windows each call of a Unix socket says that there is none.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/inherited_sockets.hpp>
#include <tandem/io/unix_datagram.hpp>
#include <tandem/io/unix_listener.hpp>

#include "io/support/io_support.hpp"
#include "refusal_text.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::unix_endpoint;
using tandem::test::on_every_home;
using tandem::test::refusal_code;

TEST(unix_sockets, are_not_supported_here_and_say_so) {
  on_every_home([]() -> task<void> {
    const auto name = unix_endpoint::path("tandem-socket");
    const auto not_supported = std::errc::not_supported;
    const auto connected = co_await as_result(tandem::io::unix_stream::connect(name));
    EXPECT_FALSE(connected);
    EXPECT_EQ(connected.error(), not_supported);
    EXPECT_EQ(refusal_code([&] { (void)tandem::io::unix_stream::pair(); }), not_supported);
    EXPECT_EQ(refusal_code([&] { (void)tandem::io::unix_listener::bind(name); }), not_supported);
    EXPECT_EQ(refusal_code([&] { (void)tandem::io::unix_datagram::bind(name); }), not_supported);
    EXPECT_TRUE(tandem::io::inherited_sockets().empty());
  });
}

}  // namespace
