// umbrella_test.cpp: the two headers that include all others, side by side and first.
// SPDX-License-Identifier: MIT
#include <tandem/io/io.hpp>
#include <tandem/tandem.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>

namespace {

tandem::task<int> answer() { co_return 42; }

tandem::task<void> greet(tandem::io::tcp_stream stream) {
  co_await stream.write_all(tandem::io::bytes_of("hello"));
}

tandem::task<std::size_t> hear() {
  auto listener = tandem::io::tcp_listener::bind(tandem::io::endpoint::loopback_v4(0));
  auto peer = co_await tandem::io::tcp_stream::connect(listener.local_endpoint());
  co_await greet(co_await listener.accept());
  std::array<std::byte, 5> heard{};
  std::size_t got = 0;
  while (got < heard.size()) got += co_await peer.read(std::span(heard).subspan(got));
  co_return got;
}

TEST(umbrella_headers, are_enough_for_a_program_that_computes_and_one_that_listens) {
  EXPECT_EQ(tandem::run(answer()), 42);
  EXPECT_EQ(tandem::run(hear()), 5U);
}

}  // namespace
