// unix_stress.cpp: descriptors that travel while receives and sends are stopped: none is left open.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <tandem/as_result.hpp>
#include <tandem/io/unix_seqpacket.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <utility>
#include <vector>

#include "io_homes.hpp"
#include "seeded.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::join_handle;
using tandem::task;
using tandem::io::native_descriptor;
using tandem::io::owned_descriptor;
using tandem::io::received_message;
using tandem::io::unix_seqpacket;
using tandem::test::homes;

/// A pipe: whoever reads it finds its end once nobody holds its other end, wherever that travelled.
class travelling_end {
 public:
  travelling_end() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) ADD_FAILURE() << "no pipe";
    read_ = owned_descriptor(ends[0]);
    write_ = owned_descriptor(ends[1]);
  }
  native_descriptor get() const noexcept { return write_.native_handle(); }
  bool is_held_by_nobody() {
    write_.close();
    char byte = 0;
    return ::read(read_.native_handle(), &byte, 1) == 0;
  }

 private:
  owned_descriptor read_;
  owned_descriptor write_;
};

/// What a message carries: up to nine times the same end.
constexpr std::size_t most_sent = 9;

std::atomic<std::uint64_t> passes{0};

/// By name, since a stop comes from another task.
task<std::size_t> send_one(unix_seqpacket& by, native_descriptor what, std::size_t count) {
  const std::array<std::byte, 4> bytes{};
  const std::vector<native_descriptor> list(count, what);
  co_return co_await by.send(bytes, list);
}
task<received_message> receive_one(unix_seqpacket& from, std::size_t most) {
  std::array<std::byte, 16> room;
  co_return co_await from.receive(room, most);
}

task<void> send_some(unix_seqpacket& by, homes& at, native_descriptor what, int messages,
                     std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int sent = 0; sent < messages;) {
    const std::size_t count = random() % (most_sent + 1);
    auto sending = tandem::spawn(at.any(random), send_one(by, what, count));
    if (random() % 4 == 0) sending.cancel();
    const auto ended = co_await as_result(sending);
    if (!ended) {
      EXPECT_TRUE(ended.is_cancelled());
      continue;
    }
    passes += count;
    ++sent;
  }
}

task<void> receive_some(unix_seqpacket& from, homes& at, int messages, std::mt19937_64& random) {
  for (int received = 0; received < messages;) {
    // Fewer than come, at times: what is beyond is closed.
    const std::size_t most = random() % (most_sent + 2);
    auto receiving = tandem::spawn(at.any(random), receive_one(from, most));
    if (random() % 3 == 0) co_await tandem::sleep_for(std::chrono::microseconds(random() % 60));
    if (random() % 2 == 0) receiving.cancel();
    auto got = co_await as_result(receiving);
    if (!got) {
      EXPECT_TRUE(got.is_cancelled());
      continue;
    }
    const received_message message = std::move(got).value();
    EXPECT_EQ(message.bytes, 4U);
    EXPECT_LE(message.descriptors.size(), most);
    EXPECT_TRUE(message.surplus == 0 || message.descriptors.size() == most);
    EXPECT_FALSE(message.lacks_descriptors);
    ++received;
  }
}

TEST(unix_race, stopped_receives_and_sends_leave_no_descriptor_open) {
  homes at;
  passes = 0;
  tandem::test::stress_for(300ms, [&](std::mt19937_64& random) {
    at.rt.run([](homes& h, std::mt19937_64& dice) -> task<void> {
      auto [one, other] = unix_seqpacket::pair();
      travelling_end what;
      constexpr int messages = 200;
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        scope.spawn(h.any(dice), send_some(one, h, what.get(), messages, dice()));
        co_await receive_some(other, h, messages, dice);
      });
      EXPECT_TRUE(what.is_held_by_nobody());
    }(at, random));
  });
  RecordProperty("descriptors_passed", std::to_string(passes.load()));
}

/// What was never received goes with the socket; what a dropped await has taken goes with it.
TEST(unix_race, what_is_under_way_when_a_socket_closes_is_closed_too) {
  homes at;
  tandem::test::stress_for(200ms, [&](std::mt19937_64& random) {
    at.rt.run([](homes& h, std::mt19937_64& dice) -> task<void> {
      travelling_end what;
      {
        auto [one, other] = unix_seqpacket::pair();
        for (int round = 0; round < 20; ++round) {
          auto sending = tandem::spawn(h.any(dice), send_one(one, what.get(), 1 + dice() % 3));
          auto receiving = tandem::spawn(h.any(dice), receive_one(other, 2));
          if (dice() % 2 == 0) sending.cancel();
          receiving.cancel();
          (void)co_await as_result(sending);
          (void)co_await as_result(receiving);
        }
      }
      EXPECT_TRUE(what.is_held_by_nobody());
    }(at, random));
  });
}

}  // namespace
