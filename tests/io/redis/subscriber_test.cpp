// subscriber_test.cpp: messages from a Redis server, as a stream.
// SPDX-License-Identifier: MIT
#include <optional>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <vector>

#include "io/redis/redis_support.hpp"

namespace tandem::test {
namespace {

using redis::client;
using redis::errc;
using redis::message;
using redis::options;
using redis::subscriber;

class redis_subscriber : public with_redis {};

task<std::string> next_text(subscriber& from) {
  const std::optional<message> got = co_await from.next();
  if (!got) co_return "(closed)";
  if (got->is_gap()) co_return "(gap)";
  co_return got->pattern + "|" + got->channel + "|" + got->payload;
}

TEST_F(redis_subscriber, what_is_published_after_the_confirmation_comes_in_order) {
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    auto news = co_await subscriber::connect(where);
    co_await news.subscribe("weather");
    EXPECT_EQ(co_await client.command<int>("PUBLISH", "weather", "rain"), 1);
    EXPECT_EQ(co_await client.command<int>("PUBLISH", "sports", "draw"), 0);
    for (int each = 0; each < 1000; ++each) co_await client.command("PUBLISH", "weather", each);
    EXPECT_EQ(co_await next_text(news), "|weather|rain");
    for (int each = 0; each < 1000; ++each) {
      EXPECT_EQ(co_await next_text(news), "|weather|" + std::to_string(each));
    }
  });
}

TEST_F(redis_subscriber, patterns_and_channels_come_and_go_while_messages_come) {
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    auto news = co_await subscriber::connect(where);
    const std::vector<std::string> names{"a", "b"};
    co_await news.subscribe(names);
    co_await news.subscribe_patterns("a*");
    EXPECT_EQ(co_await client.command<int>("PUBLISH", "a", "1"), 2);
    co_await news.unsubscribe("a");
    EXPECT_EQ(co_await client.command<int>("PUBLISH", "a", "2"), 1);
    co_await news.unsubscribe_patterns("a*");
    EXPECT_EQ(co_await client.command<int>("PUBLISH", "a", "3"), 0);
    EXPECT_EQ(co_await client.command<int>("PUBLISH", "b", "4"), 1);
    EXPECT_EQ(co_await next_text(news), "|a|1");
    EXPECT_EQ(co_await next_text(news), "a*|a|1");
    EXPECT_EQ(co_await next_text(news), "a*|a|2");
    EXPECT_EQ(co_await next_text(news), "|b|4");
    EXPECT_EQ(code_thrown([&] { return news.subscribe(std::vector<std::string>()); }),
              errc::bad_option);
  });
}

TEST_F(redis_subscriber, nothing_is_lost_between_a_publisher_and_a_slow_listener) {
  run([](options where) -> task<void> {
    auto news = co_await subscriber::connect(where);
    co_await news.subscribe("numbers");
    constexpr int count = 20'000;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([&where]() -> task<void> {
        auto client = co_await client::connect(where);
        for (int each = 0; each < count;) {
          redis::batch some;
          for (int in = 0; in < 500; ++in) some.add("PUBLISH", "numbers", each++);
          co_await client.pipeline(std::move(some));
        }
      });
      for (int each = 0; each < count; ++each) {
        const std::optional<message> got = co_await news.next();
        if (!got || got->payload != std::to_string(each)) {
          ADD_FAILURE() << each;
          break;
        }
        if (each % 1000 == 0) {  // others go on meanwhile
          co_await news.subscribe("more");
        }
      }
    });
  });
}

TEST_F(redis_subscriber, a_stop_of_next_loses_no_message) {
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    auto news = co_await subscriber::connect(where);
    co_await news.subscribe("numbers");
    int seen = 0;
    int tries = 0;
    for (int each = 0; each < 200; ++each) {
      co_await client.command("PUBLISH", "numbers", each);
      while (seen <= each) {
        const auto got =
            co_await as_result(with_timeout(std::chrono::microseconds(++tries % 50), news.next()));
        if (got.is_cancelled()) continue;
        EXPECT_EQ(got.value()->payload, std::to_string(seen++));
      }
    }
  });
}

TEST_F(redis_subscriber, after_a_reconnect_all_is_subscribed_again_and_the_gap_is_told) {
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    where.client_name = "listener";
    auto news = co_await subscriber::connect(where);
    co_await news.subscribe("weather");
    co_await news.subscribe_patterns("sport.*");
    co_await client.command("PUBLISH", "weather", "before");
    EXPECT_EQ(co_await next_text(news), "|weather|before");
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(co_await client.command<int>("CLIENT", "KILL", "TYPE", "pubsub"), 1);
      EXPECT_EQ(co_await next_text(news), "(gap)");
      EXPECT_EQ(co_await client.command<int>("PUBLISH", "weather", "after"), 1);
      EXPECT_EQ(co_await client.command<int>("PUBLISH", "sport.ski", "win"), 1);
      EXPECT_EQ(co_await next_text(news), "|weather|after");
      EXPECT_EQ(co_await next_text(news), "sport.*|sport.ski|win");
    }
  });
}

TEST_F(redis_subscriber, without_reconnect_the_loss_is_told_after_what_has_come) {
  change().reconnect = false;
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    auto news = co_await subscriber::connect(where);
    co_await news.subscribe("weather");
    co_await client.command("PUBLISH", "weather", "last");
    EXPECT_EQ(co_await client.command<int>("CLIENT", "KILL", "TYPE", "pubsub"), 1);
    EXPECT_EQ(co_await next_text(news), "|weather|last");
    EXPECT_EQ(co_await code_of(news.next()), errc::connection_lost);
    EXPECT_EQ(co_await code_of(news.next()), errc::not_sent);
    EXPECT_EQ(co_await code_of(news.subscribe("x")), errc::not_sent);
  });
}

TEST_F(redis_subscriber, close_ends_the_one_who_waits) {
  run([](options where) -> task<void> {
    auto news = co_await subscriber::connect(where);
    co_await news.subscribe("weather");
    std::string got;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([&]() -> task<void> { got = co_await next_text(news); });
      news.close();
      co_return;
    });
    EXPECT_EQ(got, "(closed)");
    EXPECT_EQ(co_await next_text(news), "(closed)");
    EXPECT_EQ(co_await code_of(news.subscribe("x")), errc::closed);
    subscriber none;
    EXPECT_EQ(code_thrown([&] { return none.next(); }), errc::closed);
  });
}

TEST_F(redis_subscriber, channels_that_the_server_refuses_are_refused_together_with_its_words) {
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    co_await client.command("ACL", "SETUSER", "listener", "on", ">secret", "~*", "+@all",
                            "resetchannels", "&weather");
    where.username = "listener";
    where.password = "secret";
    auto news = co_await subscriber::connect(where);
    const std::vector<std::string> names{"weather", "sports", "politics"};
    EXPECT_EQ(co_await code_of(news.subscribe(names)), errc::no_auth);
    EXPECT_EQ(co_await code_of(news.subscribe_patterns(names)), errc::no_auth);
    co_await news.subscribe("weather");
    EXPECT_EQ(co_await client.command<int>("PUBLISH", "weather", "rain"), 1);
    EXPECT_EQ(co_await next_text(news), "|weather|rain");
  });
}

TEST_F(redis_subscriber, more_messages_than_may_be_kept_end_the_connection_with_a_clear_error) {
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    auto news = co_await subscriber::connect("redis://" + where.place(), 4096);
    co_await news.subscribe("weather");
    redis::batch many;
    for (int each = 0; each < 100; ++each) many.add("PUBLISH", "weather", std::string(100, 'x'));
    co_await client.pipeline(std::move(many));
    // Who looks first whether the connection still stands finds it before anything is sent.
    const std::error_code code = co_await code_of(news.subscribe("sports"));
    EXPECT_TRUE(code == errc::overflow || code == std::error_code()) << code;
    int kept = 0;
    while (co_await next_text(news) != "(gap)") ++kept;
    EXPECT_GT(kept, 0);
    EXPECT_LT(kept, 100);
    EXPECT_EQ(co_await client.command<int>("PUBLISH", "weather", "again"), 1);
    EXPECT_EQ(co_await next_text(news), "|weather|again");
  });
}

}  // namespace
}  // namespace tandem::test
