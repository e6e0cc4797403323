// fuzz_test.cpp: servers that answer by the dice: rightly, in part, too much, or not in Redis's protocol.
// SPDX-License-Identifier: MIT
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <vector>

#include "io/redis/false_server.hpp"
#include "plain_sockets.hpp"
#include "seeded.hpp"

namespace tandem::test {
namespace {

using namespace std::chrono_literals;
using redis::client;
using redis::errc;
using redis::options;
using redis::subscriber;

/// What is said to one command, and whether the connection goes on.
std::string answer_by(std::uint64_t dice, bool& goes_on) {
  const std::uint64_t what = dice >> 32U & 63U;
  goes_on = what > 5;
  std::string bytes;
  switch (what) {
    case 0: return "$50\r\nhalf of it";
    case 1: return "*3\r\n:1\r\n*2\r\n$3\r\nab";
    case 2:  // anything
      for (std::uint64_t each = 0; each < dice % 40; ++each) {
        bytes += static_cast<char>(mix(dice + each));
      }
      return bytes;
    case 3:  // nearly the protocol
      for (std::uint64_t each = 0; each < dice % 40; ++each) {
        bytes += "+-:$*\r\n0129"[mix(dice + each) % 11];
      }
      return bytes;
    case 4: return "+fine\r\n+nobody's\r\n";
    case 5: return "";
    case 6: return "-ERR something\r\n";
    case 7: return "*2\r\n$4\r\nfine\r\n-ERR inside\r\n";
    default: return "+fine\r\n";
  }
}

/// Ends each connection after a while, so that nobody waits for ever for what does not come.
task<void> serves_by_dice(false_server& listening, std::uint64_t seed) {
  std::uint64_t rolled = 0;
  std::array<std::byte, 4096> room;
  while (true) {
    io::tcp_stream stream = co_await listening.accept();
    bool goes_on = true;
    while (goes_on) {
      const result<std::size_t> got = co_await as_result(stream.read(room));
      if (got.is_cancelled()) got.value();
      if (!got || got.value() == 0) break;
      std::string all;
      for (const std::byte each : std::span(room).first(got.value())) {
        if (each == std::byte{'*'} && goes_on) all += answer_by(mix(seed + ++rolled), goes_on);
      }
      co_await says(stream, all);
    }
  }
}

TEST(redis_fuzz, whatever_a_server_says_each_command_ends_with_an_answer_or_an_error_of_redis) {
  std::mt19937_64 random(stress_seed());
  for (int round = 0; round < 12; ++round) {
    const std::uint64_t seed = random();
    against([seed](false_server& listening) { return serves_by_dice(listening, seed); },
            [seed](options where) -> task<void> {
              where.max_delay = 2ms;
              where.database = static_cast<unsigned>(seed % 2);  // with a greeting, or without
              where.max_reply_bytes = 1000;
              client lazy = client::later(where);
              std::atomic<int> fine{0};
              co_await with_scope([&](task_scope& scope) -> task<void> {
                for (std::uint64_t number = 0; number < 8; ++number) {
                  scope.spawn([&, number]() -> task<void> {
                    for (std::uint64_t each = 0; each < 100; ++each) {
                      const std::uint64_t dice = mix(seed + number * 1000 + each);
                      const auto limit =
                          std::chrono::microseconds(dice % 4 == 0 ? dice % 1000 : 1'000'000'000);
                      const auto got =
                          co_await as_result(with_timeout(limit, lazy.command("GET", number)));
                      if (got.has_value()) {
                        ++fine;
                      } else if (!got.is_cancelled()) {
                        EXPECT_EQ(got.error().category(), redis::redis_category());
                      }
                    }
                  });
                }
                co_return;
              });
              EXPECT_GT(fine.load(), 0);
            });
  }
}

TEST(redis_fuzz, whatever_a_server_says_a_subscriber_never_waits_for_what_has_failed) {
  std::mt19937_64 random(stress_seed());
  for (int round = 0; round < 12; ++round) {
    const std::uint64_t seed = random();
    against([seed](false_server& listening) { return serves_by_dice(listening, seed); },
            [seed](options where) -> task<void> {
              where.max_delay = 2ms;
              where.max_reply_bytes = 1000;
              subscriber news;
              bool is_connected = false;
              while (!is_connected) {
                auto made = co_await as_result(subscriber::connect(where));
                is_connected = made.has_value();
                if (is_connected) {
                  news = std::move(made).value();
                } else {
                  EXPECT_EQ(made.error().category(), redis::redis_category());
                }
              }
              for (std::uint64_t each = 0; each < 100; ++each) {
                const std::uint64_t dice = mix(seed + each);
                const auto limit = std::chrono::microseconds(dice % 2000);
                const auto got = co_await as_result(news.subscribe(std::to_string(dice % 4)));
                if (!got.has_value()) {
                  EXPECT_EQ(got.error().category(), redis::redis_category());
                }
                const auto next = co_await as_result(with_timeout(limit, news.next()));
                if (!next.has_value() && !next.is_cancelled()) {
                  EXPECT_EQ(next.error().category(), redis::redis_category());
                }
              }
            });
  }
}

TEST(redis_hole, an_attempt_to_connect_to_what_never_answers_ends_with_its_limit) {
  EXPECT_EQ(options().connect_limit, 5s);  // there is one by default
  std::uint16_t port = 0;
  const plain_socket full = listening_plain(port, 0);
  test_runtime rt;
  rt.run([](std::uint16_t of) -> task<void> {
    options where;
    where.host = "127.0.0.1";
    where.port = of;
    where.connect_limit = 100ms;
    where.max_attempts = 2;
    where.initial_delay = 1ms;
    std::vector<client> accepted;
    std::error_code code;
    while (code == std::error_code() && accepted.size() < 100) {
      try {
        accepted.push_back(co_await client::connect(where));
      } catch (const redis::error& why) {
        code = why.code();
        EXPECT_NE(std::string(why.what()).find("no connection within options::connect_limit"),
                  std::string::npos)
            << why.what();
      }
    }
    EXPECT_EQ(code, errc::refused);
    client lazy = client::later(where);
    EXPECT_EQ(co_await code_of(lazy.command("PING")), errc::not_sent);
    EXPECT_EQ(co_await code_of(subscriber::connect(where)), errc::refused);
  }(port));
  close_plain(full);
}

}  // namespace
}  // namespace tandem::test
