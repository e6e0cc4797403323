// left_test.cpp: what becomes of what somebody has left half done, against servers that wait for it.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>

#include "io/redis/false_server.hpp"

namespace tandem::test {
namespace {

using namespace std::chrono_literals;
using redis::batch;
using redis::client;
using redis::options;
using redis::replies;

TEST(redis_left, whoever_goes_on_with_a_long_write_that_was_left_has_its_own_turn_afterwards) {
  event left;
  against(
      [&left](false_server& listening) -> task<void> {
        io::tcp_stream stream = co_await listening.accept_greeting();
        co_await left.wait();
        co_await reads_commands(stream, 1);
        co_await says(stream, "+dropped\r\n");
        co_await reads_commands(stream, 1);
        co_await says(stream, "+mine\r\n");
        co_await reads_to_end(stream);
      },
      [&left](options where) -> task<void> {
        auto client = co_await client::connect(where);
        const std::string long_one(30'000'000, 'x');  // more than the system keeps
        const auto got =
            co_await as_result(with_timeout(20ms, client.command("SET", "x", long_one)));
        EXPECT_TRUE(got.is_cancelled());
        left.set();
        EXPECT_EQ((co_await client.command("GET", "x")).text(), "mine");
      });
}

TEST(redis_left, whoever_leaves_gives_its_place_among_the_unanswered_back_at_once) {
  event all_sent;
  against(
      [&all_sent](false_server& listening) -> task<void> {
        io::tcp_stream stream = co_await listening.accept_greeting();
        co_await reads_commands(stream, 4);
        all_sent.set();
        co_await says(stream, "+a\r\n+b\r\n+c\r\n+d\r\n");
        co_await reads_to_end(stream);
      },
      [&all_sent](options where) -> task<void> {
        where.max_unanswered_bytes = 100;  // one at a time
        auto client = co_await client::connect(where);
        for (int each = 0; each < 3; ++each) {
          const auto got = co_await as_result(with_timeout(20ms, client.command("GET", "x")));
          EXPECT_TRUE(got.is_cancelled());
        }
        EXPECT_EQ((co_await client.command("GET", "x")).text(), "d");
        EXPECT_TRUE(all_sent.is_set());
      });
}

TEST(redis_left, a_server_that_takes_nothing_while_its_answers_are_not_read_holds_up_nobody) {
  static constexpr std::size_t count = 300;
  static constexpr std::size_t bytes = 100'000;
  event first_sent;
  against(
      [&first_sent](false_server& listening) -> task<void> {
        io::tcp_stream stream = co_await listening.accept_greeting();
        co_await reads_commands(stream, 1);
        first_sent.set();
        const std::string answer =
            "$" + std::to_string(bytes) + "\r\n" + std::string(bytes, 'y') + "\r\n";
        co_await reads_commands(stream, 1);  // the second one has begun to write
        co_await says(stream, "+first\r\n");
        for (std::size_t each = 0; each + 1 < count; ++each) {
          co_await says(stream, answer);
          co_await reads_commands(stream, 1);
        }
        co_await says(stream, answer);
        co_await reads_to_end(stream);
      },
      [&first_sent](options where) -> task<void> {
        where.max_unanswered_bytes = std::size_t{1} << 30;
        auto client = co_await client::connect(where);
        co_await with_scope([&](task_scope& scope) -> task<void> {
          scope.spawn([&]() -> task<void> {
            EXPECT_EQ((co_await client.command("GET", "first")).text(), "first");
          });
          co_await first_sent.wait();
          batch many;
          for (std::size_t each = 0; each < count; ++each) {
            many.add("SET", "x", std::string(bytes, 'x'));
          }
          const replies got = co_await client.pipeline(std::move(many));
          EXPECT_EQ(got.back().text().size(), bytes);
        });
      });
}

}  // namespace
}  // namespace tandem::test
