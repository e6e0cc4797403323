// garbage_test.cpp: what comes from a server that is none, or that ends in the middle.
// SPDX-License-Identifier: MIT
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/sleep.hpp>
#include <tandem/timeout.hpp>
#include <vector>

#include "io/redis/false_server.hpp"

namespace tandem::test {
namespace {

using redis::batch;
using redis::client;
using redis::errc;
using redis::options;
using redis::replies;
using redis::subscriber;

/// What a client says about an answer; the next connection answers rightly.
void expect(std::string answer, errc code, std::string_view word) {
  against(
      [answer](false_server& listening) -> task<void> {
        {
          io::tcp_stream first = co_await listening.accept_greeting();
          co_await reads_commands(first, 1);
          co_await says(first, answer);
          co_await reads_to_end(first);
        }
        io::tcp_stream second = co_await listening.accept();
        co_await reads_commands(second, 1);
        co_await says(second, "+fine\r\n");
        co_await reads_to_end(second);
      },
      [answer, code, word](options where) -> task<void> {
        where.max_reply_bytes = 1 << 20;
        auto client = co_await client::connect(where);
        try {
          co_await client.command("GET", "x");
          ADD_FAILURE() << "nothing was thrown for " << answer;
        } catch (const redis::error& why) {
          EXPECT_EQ(why.code(), code) << answer << ": " << why.what();
          EXPECT_NE(std::string(why.what()).find(word), std::string::npos) << why.what();
        }
        EXPECT_EQ((co_await client.command("GET", "x")).text(), "fine");
      });
}

TEST(redis_garbage, what_is_not_the_protocol_is_told_and_the_next_connection_is_good) {
  expect("HTTP/1.1 400 Bad Request\r\n\r\n", errc::protocol_error, "got \"H\" as reply type byte");
  expect(":12x\r\n", errc::protocol_error, "Bad integer value");
  expect("$-7\r\n", errc::protocol_error, "out of range");
  expect("*-2\r\n", errc::protocol_error, "out of range");
  expect("%1\r\n+a\r\n+b\r\n", errc::protocol_error, "as reply type byte");  // RESP3
}

TEST(redis_garbage, answers_nested_deeper_than_hiredis_reads_are_refused) {
  std::string deep;
  for (int each = 0; each < 20; ++each) deep += "*1\r\n";
  expect(deep, errc::protocol_error, "nested");
}

TEST(redis_garbage, what_is_announced_as_too_large_is_refused_before_it_comes) {
  expect("$1048577\r\nabc", errc::too_large, "1048576");
  expect("$999999999999\r\n", errc::too_large, "1048576");
  expect("*3\r\n$400000\r\n" + std::string(400'000, 'x') + "\r\n$700000\r\n", errc::too_large,
         "1048576");
  std::string many = "*2000000000\r\n";
  for (int each = 0; each < 20'000; ++each) many += ":1\r\n";
  expect(many, errc::too_large, "1048576");
}

TEST(redis_garbage, a_line_without_an_end_is_refused_at_the_limit) {
  expect("+" + std::string(2 << 20, 'x'), errc::too_large, "1048576");
}

TEST(redis_garbage, an_end_in_the_middle_of_an_answer_is_a_loss_whose_outcome_is_unknown) {
  for (const char* half : {"", "$5\r\nhel", "*2\r\n+a\r\n", "+O", "*"}) {
    against(
        [half](false_server& listening) -> task<void> {
          {
            io::tcp_stream first = co_await listening.accept_greeting();
            co_await reads_commands(first, 1);
            co_await says(first, half);
          }
          io::tcp_stream second = co_await listening.accept();
          co_await reads_commands(second, 1);
          co_await says(second, "+fine\r\n");
          co_await reads_to_end(second);
        },
        [half](options where) -> task<void> {
          auto client = co_await client::connect(where);
          EXPECT_EQ(co_await code_of(client.command("INCR", "x")), errc::connection_lost) << half;
          EXPECT_EQ((co_await client.command("GET", "x")).text(), "fine");
        });
  }
}

TEST(redis_garbage, answers_that_come_in_single_bytes_are_put_together) {
  against(
      [](false_server& listening) -> task<void> {
        io::tcp_stream stream = co_await listening.accept_greeting();
        co_await reads_commands(stream, 3);
        const std::string all = "*2\r\n$3\r\none\r\n*2\r\n:2\r\n$-1\r\n-ERR no\r\n$0\r\n\r\n";
        for (const char each : all) co_await says(stream, std::string(1, each));
        co_await reads_to_end(stream);
      },
      [](options where) -> task<void> {
        auto client = co_await client::connect(where);
        batch three;
        three.add("A").add("B").add("C");
        const replies got = co_await client.pipeline(std::move(three));
        EXPECT_EQ(got[0].to_string(), R"(["one", [2, (nil)]])");
        EXPECT_EQ(got[1].to_string(), "(error) ERR no");
        EXPECT_EQ(got[2].to_string(), R"("")");
      });
}

TEST(redis_garbage, an_answer_beyond_the_last_one_is_given_to_nobody) {
  against(
      [](false_server& listening) -> task<void> {
        {
          io::tcp_stream first = co_await listening.accept_greeting();
          co_await reads_commands(first, 1);
          co_await says(first, "+mine\r\n+nobody's\r\n");
          co_await reads_to_end(first);
        }
        io::tcp_stream second = co_await listening.accept();
        co_await reads_commands(second, 1);
        co_await says(second, "+yours\r\n");
        co_await reads_to_end(second);
      },
      [](options where) -> task<void> {
        auto client = co_await client::connect(where);
        EXPECT_EQ((co_await client.command("A")).text(), "mine");
        EXPECT_EQ((co_await client.command("B")).text(), "yours");
      });
}

TEST(redis_garbage, what_a_server_says_unasked_while_nobody_waits_is_given_to_nobody) {
  event connected;
  against(
      [&connected](false_server& listening) -> task<void> {
        {
          io::tcp_stream first = co_await listening.accept_greeting();
          co_await connected.wait();
          co_await says(first, "+nobody's\r\n");
          co_await reads_to_end(first);
        }
        io::tcp_stream second = co_await listening.accept();
        co_await reads_commands(second, 1);
        co_await says(second, "+yours\r\n");
        co_await reads_to_end(second);
      },
      [&connected](options where) -> task<void> {
        auto client = co_await client::connect(where);
        connected.set();
        co_await sleep_for(
            std::chrono::milliseconds(50));  // a client that has been idle looks first
        EXPECT_EQ((co_await client.command("B")).text(), "yours");
      });
}

TEST(redis_garbage, a_connection_that_ended_while_idle_costs_no_command) {
  against(
      [](false_server& listening) -> task<void> {
        for (int each = 0; each < 3; ++each) {
          task<io::tcp_stream> next = each == 0 ? listening.accept_greeting() : listening.accept();
          io::tcp_stream stream = co_await std::move(next);
          co_await reads_commands(stream, 1);
          co_await says(stream, "+fine\r\n");
        }
      },
      [](options where) -> task<void> {
        auto client = co_await client::connect(where);
        for (int each = 0; each < 3; ++each) {
          EXPECT_EQ((co_await client.command("GET", "x")).text(), "fine");
          co_await sleep_for(std::chrono::milliseconds(50));
        }
      });
}

TEST(redis_garbage, a_server_that_does_not_greet_is_given_up_after_the_limit) {
  against(
      [](false_server& listening) -> task<void> {
        io::tcp_stream stream = co_await listening.accept();
        co_await reads_to_end(stream);
      },
      [](options where) -> task<void> {
        where.password = "secret";
        where.connect_limit = std::chrono::milliseconds(20);
        EXPECT_EQ(co_await code_of(client::connect(where)), errc::refused);
      });
}

TEST(redis_garbage, a_subscriber_tells_garbage_once_and_then_the_gap) {
  against(
      [](false_server& listening) -> task<void> {
        const std::string confirmed = "*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n";
        const std::string hello = "*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$5\r\nhello\r\n";
        {
          io::tcp_stream first = co_await listening.accept_greeting();
          co_await reads_commands(first, 1);
          co_await says(first, confirmed + hello + "?\r\n");
          co_await reads_to_end(first);
        }
        io::tcp_stream second = co_await listening.accept();
        co_await reads_commands(second, 1);
        co_await says(second, hello + confirmed + hello);
        co_await reads_to_end(second);
      },
      [](options where) -> task<void> {
        auto news = co_await subscriber::connect(where);
        co_await news.subscribe("x");
        EXPECT_EQ((co_await news.next())->payload, "hello");
        const std::error_code code = co_await code_of(news.next());
        if (code != std::error_code()) {
          EXPECT_EQ(code, errc::protocol_error);
          EXPECT_TRUE((co_await news.next())->is_gap());
        }
        EXPECT_EQ((co_await news.next())->payload, "hello");
        EXPECT_EQ((co_await news.next())->payload, "hello");
      });
}

}  // namespace
}  // namespace tandem::test
