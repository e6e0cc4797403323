// sockets_mode_test.cpp: sockets of ours block, and those that are adopted do then.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>

#include "plain_sockets.hpp"
#include "platform/descriptor.hpp"
#include "platform/sockets.hpp"

namespace {

using tandem::io::native_descriptor;
namespace platform = tandem::io::platform;

bool blocks(native_descriptor number) { return (::fcntl(number, F_GETFL) & O_NONBLOCK) == 0; }

TEST(sockets, a_new_one_blocks) {
  const auto made = platform::open_tcp_socket(tandem::io::address_family::ipv4).value();
  EXPECT_TRUE(blocks(made));
  platform::close(made);
}

TEST(sockets, an_adopted_one_blocks_and_one_that_is_refused_keeps_its_mode) {
  std::uint16_t port = 0;
  const auto listener = tandem::test::listening_plain(port);
  tandem::test::set_blocking(listener, false);
  EXPECT_TRUE(platform::adopt_socket(listener, platform::adopted_kind::stream));
  EXPECT_FALSE(blocks(listener));
  EXPECT_FALSE(platform::adopt_socket(listener, platform::adopted_kind::listener));
  EXPECT_TRUE(blocks(listener));
  platform::close(listener);
}

}  // namespace
