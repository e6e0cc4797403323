// owned_descriptor_test.cpp: who owns a descriptor keeps it unless it is taken over.
// SPDX-License-Identifier: MIT
#include <tandem/io/owned_descriptor.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <system_error>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/pipe.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/udp_socket.hpp>
#include <tandem/io/unix_datagram.hpp>
#include <tandem/io/unix_listener.hpp>
#include <utility>

#include "io/support/io_support.hpp"

namespace {

using namespace tandem::io;
using tandem::task;
using tandem::test::bytes_of;
using tandem::test::on_every_home;

bool is_open(native_descriptor descriptor) { return ::fcntl(descriptor, F_GETFD) >= 0; }

std::array<owned_descriptor, 2> pair_of(int type) {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, type, 0, ends), 0);
  return {owned_descriptor(ends[0]), owned_descriptor(ends[1])};
}

/// By either way to call it.
template <class Made>
void is_refused_and_stays(owned_descriptor wrong) {
  completion_pool& pool = current_completion_pool("test");
  const native_descriptor number = wrong.native_handle();
  EXPECT_THROW((void)Made::from_native(std::move(wrong)), std::system_error);
  EXPECT_THROW((void)Made::from_native(pool, std::move(wrong)), std::system_error);
  EXPECT_EQ(wrong.native_handle(), number);  // NOLINT: that is the law
  wrong.close();
  EXPECT_FALSE(is_open(number));
}

TEST(owned_descriptor, one_that_is_refused_is_its_owners_to_close) {
  on_every_home([]() -> task<void> {
    // Not connected, and not listening: neither an end of a pipe nor any of these.
    const auto wrong = [] { return owned_descriptor(::socket(AF_UNIX, SOCK_STREAM, 0)); };
    is_refused_and_stays<tcp_stream>(wrong());
    is_refused_and_stays<tcp_listener>(wrong());
    is_refused_and_stays<udp_socket>(wrong());
    is_refused_and_stays<unix_stream>(wrong());
    is_refused_and_stays<unix_listener>(wrong());
    is_refused_and_stays<unix_seqpacket>(wrong());
    is_refused_and_stays<unix_seqpacket_listener>(wrong());
    is_refused_and_stays<unix_datagram>(wrong());
    is_refused_and_stays<pipe_reader>(wrong());
    is_refused_and_stays<pipe_writer>(wrong());
    owned_descriptor none;
    EXPECT_THROW((void)file::from_native(std::move(none)), std::system_error);
    co_return;
  });
}

TEST(owned_descriptor, one_that_is_taken_over_is_given_up) {
  on_every_home([]() -> task<void> {
    auto [first, second] = pair_of(SOCK_SEQPACKET);
    unix_seqpacket one = unix_seqpacket::from_native(std::move(first));
    unix_seqpacket other =
        unix_seqpacket::from_native(current_completion_pool("test"), std::move(second));
    EXPECT_FALSE(first.is_open());   // NOLINT: that is the law
    EXPECT_FALSE(second.is_open());  // NOLINT
    co_await one.send(bytes_of("x"));
    std::array<std::byte, 4> room;
    EXPECT_EQ((co_await other.receive(room)).bytes, 1U);

    owned_descriptor opened(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const native_descriptor number = opened.native_handle();
    {
      const file taken = file::from_native(std::move(opened), "nothing");
      EXPECT_EQ(taken.path(), "nothing");
      EXPECT_EQ(taken.native_handle(), number);
      EXPECT_FALSE(opened.is_open());  // NOLINT
    }
    EXPECT_FALSE(is_open(number));
  });
}

}  // namespace
