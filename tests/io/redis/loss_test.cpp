// loss_test.cpp: servers that are killed, restarted, paused, or not there.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <chrono>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/blocking.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <thread>
#include <vector>

#include "io/redis/redis_support.hpp"
#include "refusing_port.hpp"

namespace tandem::test {
namespace {

using namespace std::chrono_literals;
using redis::batch;
using redis::client;
using redis::errc;
using redis::options;
using redis::replies;
using redis::subscriber;

class redis_loss : public with_redis {};

TEST_F(redis_loss, a_port_where_nobody_listens_refuses_with_its_name) {
  const refusing_port nobody;
  test_runtime rt;
  rt.run([](std::uint16_t port) -> task<void> {
    options where;
    where.host = "127.0.0.1";
    where.port = port;
    try {
      (void)co_await client::connect(where);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const redis::error& why) {
      EXPECT_EQ(why.code(), errc::refused);
      EXPECT_NE(std::string(why.what()).find("127.0.0.1:" + std::to_string(port)),
                std::string::npos);
    }
    where.initial_delay = 1ms;
    where.max_attempts = 3;
    client lazy = client::later(where);
    EXPECT_EQ(co_await code_of(lazy.command("PING")), errc::not_sent);
    where.max_attempts = 0;
    where.limit = 30ms;
    client patient = client::later(where);
    EXPECT_EQ(co_await code_of(patient.command("PING")), errc::timed_out);
    where.limit.reset();
    where.initial_delay = where.max_delay = 1h;
    where.commands = redis::while_disconnected::fail;
    client impatient = client::later(where);
    EXPECT_EQ(co_await code_of(impatient.command("PING")), errc::not_sent);
    EXPECT_EQ(co_await code_of(impatient.command("PING")), errc::not_sent);  // and not in an hour
    where.host = "no such name";
    EXPECT_EQ(co_await code_of(client::connect(where)), errc::refused);
    where.path = "/nowhere/redis.sock";
    EXPECT_EQ(co_await code_of(client::connect(where)), errc::refused);
  }(nobody.where().port()));
}

TEST_F(redis_loss, a_server_that_is_full_refuses_and_lets_wait_in_until_it_is_not) {
  run([](options where) -> task<void> {
    auto admin = co_await client::connect(where);
    co_await admin.command("CONFIG", "SET", "maxclients", 1);
    where.initial_delay = where.max_delay = 1ms;
    where.username = "default";
    where.password = "anything";  // a greeting, to which its refusal looks like the answer
    try {
      (void)co_await client::connect(where);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const redis::error& why) {
      EXPECT_EQ(why.code(), errc::refused);
      EXPECT_EQ(why.server_text(), "ERR max number of clients reached");
    }
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([&]() -> task<void> {
        client lazy = client::later(where);
        EXPECT_EQ((co_await lazy.command("PING")).text(), "PONG");
      });
      co_await sleep_for(10ms);
      co_await admin.command("CONFIG", "SET", "maxclients", 10'000);
    });
  });
}

TEST_F(redis_loss, close_ends_who_waits_for_a_connection_that_never_comes) {
  const refusing_port nobody;
  test_runtime rt;
  rt.run([](std::uint16_t port) -> task<void> {
    options where;
    where.host = "127.0.0.1";
    where.port = port;
    where.initial_delay = where.max_delay = 1h;
    client lazy = client::later(where);
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (int each = 0; each < 3; ++each) {
        scope.spawn([&]() -> task<void> {
          EXPECT_EQ(co_await code_of(lazy.command("PING")), errc::closed);
        });
      }
      co_await sleep_for(5ms);
      lazy.close();
    });
  }(nobody.where().port()));
}

TEST_F(redis_loss, commands_wait_for_a_server_that_comes_back) {
  auto& redis = server();
  run([&redis](options where) -> task<void> {
    where.initial_delay = 1ms;
    where.max_delay = 20ms;
    auto client = co_await client::connect(where);
    co_await client.command("SET", "x", 1);
    for (int round = 0; round < 3; ++round) {
      co_await blocking([&] { redis.kill(); });
      co_await with_scope([&](task_scope& scope) -> task<void> {
        for (int each = 0; each < 20; ++each) {
          scope.spawn(
              [&]() -> task<void> { EXPECT_EQ((co_await client.command("PING")).text(), "PONG"); });
        }
        co_await blocking([&] { redis.start(); });
      });
    }
  });
}

TEST_F(redis_loss, each_command_ends_once_though_the_server_is_killed_again_and_again) {
  auto& redis = server();
  run([&redis](options where) -> task<void> {
    where.initial_delay = 1ms;
    where.max_delay = 20ms;
    auto client = co_await client::connect(where);
    std::atomic<bool> goes_on{true};
    std::atomic<int> answered{0};
    std::atomic<int> lost{0};
    std::atomic<int> begun{0};
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (int number = 0; number < 32; ++number) {
        scope.spawn([&, number]() -> task<void> {
          for (int each = 0; goes_on; ++each) {
            ++begun;
            batch some;
            const std::string said = std::to_string(number) + "." + std::to_string(each);
            const int count = 1 + (number + each) % 50;
            for (int in = 0; in < count; ++in) some.add("ECHO", said);
            const auto got = co_await as_result(client.pipeline(std::move(some)));
            if (got.has_value()) {
              ++answered;
              EXPECT_EQ(got.value().size(), static_cast<std::size_t>(count));
              for (const auto& one : got.value()) EXPECT_EQ(one.text(), said);
            } else {
              ++lost;
              EXPECT_EQ(got.error(), errc::connection_lost);
            }
          }
        });
      }
      for (int round = 0; round < 5; ++round) {
        const int before = answered;
        while (answered < before + 100) co_await sleep_for(1ms);
        co_await blocking([&] { redis.kill(); });
        co_await blocking([&] { redis.start(); });
      }
      goes_on = false;
    });
    EXPECT_EQ(begun, answered + lost);
    EXPECT_GT(lost.load(), 0);
  });
}

TEST_F(redis_loss, a_transaction_whose_connection_is_killed_is_done_whole_or_not_at_all) {
  run([](options where) -> task<void> {
    where.initial_delay = 1ms;
    auto client = co_await client::connect(where);
    auto killer = co_await client::connect(where);
    int done = 0;
    int unknown = 0;
    std::atomic<bool> goes_on{true};
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([&]() -> task<void> {
        while (goes_on) {
          co_await killer.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
          co_await sleep_for(300us);
        }
      });
      for (int each = 0; each < 300; ++each) {
        batch both;
        both.add("INCR", "a").add("INCR", "b").add("INCR", "c");
        const auto got = co_await as_result(client.transaction(std::move(both)));
        if (got.has_value()) {
          ++done;
        } else {
          EXPECT_EQ(got.error(), errc::connection_lost);
          ++unknown;
        }
      }
      goes_on = false;
    });
    const replies all = (co_await killer.command("MGET", "a", "b", "c")).as<replies>();
    EXPECT_EQ(all[0], all[1]);
    EXPECT_EQ(all[1], all[2]);
    EXPECT_GE(all[0].as<int>(), done);
    EXPECT_LE(all[0].as<int>(), done + unknown);
  });
}

template <class T>
task<T> in_time(client& limited, auto... words) {
  while (true) {
    auto got = co_await as_result(limited.command<T>(words...));
    if (got.has_value() || got.error() != errc::timed_out) co_return std::move(got).value();
  }
}

TEST_F(redis_loss, a_server_that_stands_still_costs_whoever_has_a_limit_only_that) {
  auto& redis = server();
  run([&redis](options where) -> task<void> {
    where.limit = 30ms;
    auto limited = co_await client::connect(where);
    where.limit.reset();
    auto patient = co_await client::connect(where);
    co_await patient.command("SET", "x", 0);
    co_await blocking([&] { redis.pause(); });
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([&]() -> task<void> {
        EXPECT_GE(co_await patient.command<int>("INCRBY", "x", 100), 100);
      });
      for (int each = 0; each < 3; ++each) {
        EXPECT_EQ(co_await code_of(limited.command("INCR", "x")), errc::timed_out);
      }
      const auto outside = co_await as_result(with_timeout(10ms, limited.command("PING")));
      EXPECT_EQ(outside.reason(), stop_reason::deadline);
      co_await blocking([&] { redis.resume(); });
    });
    // What came late is dropped. On a busy machine these may be too late, too: then they are asked again.
    const std::string mine = co_await in_time<std::string>(limited, "ECHO", "mine");
    EXPECT_EQ(mine, "mine");
    const int sum = co_await in_time<int>(limited, "GET", "x");
    EXPECT_EQ(sum, 103);
  });
}

TEST_F(redis_loss, without_reconnect_a_loss_is_for_good) {
  change().reconnect = false;
  run([](options where) -> task<void> {
    auto client = co_await client::connect(where);
    auto killer = co_await client::connect(where);
    EXPECT_EQ(co_await killer.command<int>("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"), 1);
    const std::error_code first = co_await code_of(client.command("PING"));
    EXPECT_TRUE(first == errc::connection_lost || first == errc::not_sent) << first;
    EXPECT_EQ(co_await code_of(client.command("PING")), errc::not_sent);
    EXPECT_FALSE(client.is_connected());
  });
}

TEST_F(redis_loss, a_subscriber_outlives_its_server_and_tells_the_gap) {
  auto& redis = server();
  run([&](options where) -> task<void> {
    where.initial_delay = 1ms;
    where.max_delay = 10ms;
    auto client = co_await client::connect(where);
    auto news = co_await subscriber::connect(where);
    co_await news.subscribe("weather");
    co_await blocking([&] { redis.kill(); });
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([&]() -> task<void> {
        const auto gap = co_await news.next();
        EXPECT_TRUE(gap && gap->is_gap());
        const auto after = co_await news.next();
        EXPECT_TRUE(after && after->payload == "rain");
      });
      co_await blocking([&] { redis.start(); });
      while (co_await client.command<int>("PUBLISH", "weather", "rain") == 0)
        co_await sleep_for(1ms);
    });
  });
}

}  // namespace
}  // namespace tandem::test
