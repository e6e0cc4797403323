// udp_stress.cpp: receives that are stopped while datagrams come lose none, from any home.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <tandem/as_result.hpp>
#include <tandem/io/udp_socket.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "io_homes.hpp"
#include "seeded.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::join_handle;
using tandem::task;
using tandem::io::endpoint;
using tandem::io::outgoing_datagram;
using tandem::io::received_datagram;
using tandem::io::udp_socket;
using tandem::test::homes;

/// Each datagram has its number and is that long beyond it.
class numbered {
 public:
  explicit numbered(std::uint32_t number) : bytes_(size_of(number)) {
    std::memcpy(bytes_.data(), &number, sizeof number);
  }
  std::span<const std::byte> bytes() const noexcept { return bytes_; }

  static std::size_t size_of(std::uint32_t number) noexcept { return 4 + number % 900; }
  static std::uint32_t number_of(std::span<const std::byte> bytes) {
    std::uint32_t number = 0;
    EXPECT_GE(bytes.size(), sizeof number);
    std::memcpy(&number, bytes.data(), sizeof number);
    EXPECT_EQ(bytes.size(), size_of(number));
    return number;
  }

 private:
  std::vector<std::byte> bytes_;
};

/// What is under way is never more than the socket has room for, so loopback drops none.
class window {
 public:
  static constexpr std::uint32_t most = 40;
  std::atomic<std::uint32_t> received{0};
};

task<void> send_all(udp_socket& by, endpoint to, std::uint32_t count, window& way,
                    std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::uint32_t next = 0; next < count;) {
    while (next >= way.received + window::most) co_await tandem::yield();
    const std::uint32_t some =
        (std::min)(count - next, 1 + static_cast<std::uint32_t>(random() % 9));
    std::vector<numbered> kept;
    std::vector<outgoing_datagram> list;
    for (std::uint32_t i = 0; i < some; ++i) kept.emplace_back(next + i);
    for (const numbered& each : kept) list.emplace_back(each.bytes(), to);
    if (random() % 2 == 0) {
      EXPECT_EQ(co_await by.send_many(list), some);
    } else {
      for (const numbered& each : kept) co_await by.send_to(each.bytes(), to);
    }
    next += some;
    if (random() % 4 == 0) co_await tandem::sleep_for(std::chrono::microseconds(random() % 60));
  }
}

task<received_datagram> receive_one(udp_socket& from) { co_return co_await from.receive(); }

/// By tasks of any home that are cancelled at any time.
task<void> receive_all(udp_socket& from, homes& at, std::uint32_t count, window& way,
                       std::mt19937_64& random) {
  std::uint32_t next = 0;
  while (next < count) {
    join_handle<received_datagram> running = tandem::spawn(at.any(random), receive_one(from));
    if (random() % 3 == 0) co_await tandem::sleep_for(std::chrono::microseconds(random() % 80));
    if (random() % 3 != 0) running.cancel();
    auto got = co_await as_result(running);
    if (!got) {
      EXPECT_TRUE(got.is_cancelled());
      continue;
    }
    for (const std::span<std::byte> each : got.value().segments()) {
      EXPECT_EQ(numbered::number_of(each), next++);
    }
    way.received = next;
  }
}

TEST(udp_race, stopped_receives_lose_no_datagram) {
  homes at;
  tandem::test::stress_for(300ms, [&](std::mt19937_64& random) {
    at.rt.run([](homes& h, std::mt19937_64& dice) -> task<void> {
      udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
      udp_socket there = udp_socket::bind(endpoint::loopback_v4(0));
      window way;
      constexpr std::uint32_t count = 500;
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        scope.spawn(h.any(dice), send_all(here, there.local_endpoint(), count, way, dice()));
        co_await receive_all(there, h, count, way, dice);
      });
    }(at, random));
  });
}

/// Trains whose sends are stopped at any time: what comes is whole, and nothing is left behind.
TEST(udp_race, stopped_trains_send_whole_segments) {
  homes at;
  tandem::test::stress_for(300ms, [&](std::mt19937_64& random) {
    at.rt.run([](homes& h, std::mt19937_64& dice) -> task<void> {
      udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
      udp_socket there = udp_socket::bind(endpoint::loopback_v4(0));
      const std::vector<std::byte> all(50'000, std::byte{7});
      const auto sends = [](udp_socket& by, std::span<const std::byte> what,
                            endpoint to) -> task<void> {
        co_await by.send_train_to(what, 1000, to);
      };
      for (int round = 0; round < 40; ++round) {
        auto sending = tandem::spawn(h.any(dice), sends(here, all, there.local_endpoint()));
        auto receiving = tandem::spawn(h.any(dice), receive_one(there));
        if (dice() % 2 == 0) sending.cancel();
        (void)co_await as_result(sending);
        receiving.cancel();
        auto got = co_await as_result(receiving);
        if (!got) continue;
        for (const auto each : got.value().segments()) EXPECT_EQ(each.size(), 1000U);
      }
    }(at, random));
  });
}

}  // namespace
