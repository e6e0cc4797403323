// attempt_test.cpp: an operation that is tried neither blocks nor does half of itself.
// SPDX-License-Identifier: MIT
#include "platform/attempt.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

#include "plain_sockets.hpp"
#include "platform/descriptor.hpp"
#include "platform/error_number.hpp"
#include "platform/sockets.hpp"

namespace {

using tandem::io::address_family;
using tandem::io::endpoint;
using tandem::io::native_descriptor;
using tandem::io::ready_events;
using tandem::io::detail::operation;
using tandem::io::detail::operation_kind;
namespace platform = tandem::io::platform;

class attempt : public ::testing::Test {
 protected:
  attempt() {
    for (const native_descriptor each : ends_) tandem::test::make_like_ours(each);
  }
  ~attempt() override {
    for (const native_descriptor each : ends_) tandem::test::close_plain(each);
  }

  static std::int32_t begin(native_descriptor descriptor, operation_kind kind,
                            void* buffer = nullptr, std::size_t bytes = 0) {
    operation tried(kind, buffer, bytes);
    tried.aim(nullptr, descriptor);
    const std::int32_t outcome = platform::begin_attempt(tried);
    EXPECT_EQ(tried.state, operation::phase::idle);  // to complete it is for the caller
    return outcome;
  }

  std::array<native_descriptor, 2> ends_ = tandem::test::connected_plain(true);
  std::array<std::byte, 16> room_{};
};

TEST_F(attempt, a_read_takes_what_is_there_and_else_would_block) {
  const auto receive = [this] {
    return begin(ends_[0], operation_kind::receive, room_.data(), room_.size());
  };
  EXPECT_EQ(receive(), platform::would_block);
  EXPECT_EQ(begin(ends_[0], operation_kind::wait_readable), platform::would_block);
  EXPECT_EQ(tandem::test::send_plain(ends_[1], "abc", 3), 3);
  const std::int32_t ready = begin(ends_[0], operation_kind::wait_readable);
  EXPECT_EQ(platform::events_of(ready), ready_events(true, false, false, false));
  EXPECT_EQ(receive(), 3);
  tandem::test::end_writing(ends_[1]);
  EXPECT_EQ(receive(), 0);
}

TEST_F(attempt, a_write_gives_what_fits_and_leaves_the_mode_alone) {
  const int mode = tandem::test::flags_of_plain(ends_[0]);
  std::vector<std::byte> many(std::size_t{1} << 20);
  std::int32_t sent = 0;
  std::int32_t outcome = 0;
  while ((outcome = begin(ends_[0], operation_kind::send, many.data(), many.size())) >= 0) {
    sent += outcome;
  }
  EXPECT_EQ(outcome, platform::would_block);
  EXPECT_GT(sent, 0);
  EXPECT_EQ(begin(ends_[0], operation_kind::wait_writable), platform::would_block);
  EXPECT_EQ(tandem::test::flags_of_plain(ends_[0]), mode);
}

TEST_F(attempt, a_failure_is_a_negative_error_number) {
  const native_descriptor closed = tandem::test::duplicate_plain(ends_[0]);
  tandem::test::close_plain(closed);
  const auto error_of = [](std::int32_t outcome) { return platform::error_of(-outcome); };
  const auto receive = begin(closed, operation_kind::receive, room_.data(), room_.size());
  EXPECT_EQ(error_of(receive), std::errc::bad_file_descriptor);
  const auto wait = begin(closed, operation_kind::wait_readable);
  EXPECT_EQ(error_of(wait), std::errc::bad_file_descriptor);
  EXPECT_EQ(error_of(begin(ends_[0], operation_kind::accept)), std::errc::invalid_argument);
  EXPECT_EQ(error_of(begin(ends_[0], operation_kind::file)), std::errc::not_supported);
  tandem::test::end_writing(ends_[0]);
  const auto send = begin(ends_[0], operation_kind::send, room_.data(), room_.size());
  EXPECT_EQ(error_of(send), std::errc::broken_pipe);
}

TEST(attempts, a_connect_that_was_begun_goes_on_and_accept_finds_it) {
  const native_descriptor listener = platform::open_tcp_socket(address_family::ipv4).value();
  EXPECT_FALSE(platform::bind(listener, endpoint::loopback_v4(0)));
  EXPECT_FALSE(platform::listen(listener, 4));
  endpoint where = platform::local_endpoint_of(listener).value();
  operation accept(operation_kind::accept, nullptr, 0);
  accept.aim(nullptr, listener);
  EXPECT_EQ(platform::begin_attempt(accept), platform::would_block);

  const native_descriptor client = platform::open_tcp_socket(address_family::ipv4).value();
  operation connect(operation_kind::connect, &where, 0);
  connect.aim(nullptr, client);
  std::int32_t outcome = platform::begin_attempt(connect);
  while (outcome == platform::would_block) {
    std::this_thread::yield();
    outcome = platform::next_attempt(connect);
  }
  EXPECT_EQ(outcome, 0);
  std::int32_t accepted = platform::would_block;
  while ((accepted = platform::next_attempt(accept)) == platform::would_block) {
    std::this_thread::yield();
  }
  ASSERT_GE(accepted, 0);
  const native_descriptor server = tandem::io::detail::descriptor_of(accepted);
  EXPECT_EQ(platform::remote_endpoint_of(server).value(),
            platform::local_endpoint_of(client).value());
  for (const native_descriptor each : {listener, client, server}) platform::close(each);
}

}  // namespace
