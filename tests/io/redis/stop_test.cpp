// stop_test.cpp: stops at any await, of anything that a client or a subscriber was asked for.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/blocking.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <vector>

#include "io/redis/redis_support.hpp"
#include "refusing_port.hpp"
#include "seeded.hpp"

namespace tandem::test {
namespace {

using namespace std::chrono_literals;
using redis::batch;
using redis::client;
using redis::errc;
using redis::options;
using redis::replies;
using redis::subscriber;

class redis_stop : public with_redis {};

/// Stops most of what it is given after up to so many microseconds. @returns whether it had ended before
template <class T>
task<bool> stopped_somewhere(std::uint64_t dice, task<T> asked) {
  const auto limit = std::chrono::microseconds(dice % 8 == 0 ? 100'000'000 : dice % 1500);
  const result<T> got = co_await as_result(with_timeout(limit, std::move(asked)));
  if (!got.has_value() && !got.is_cancelled()) {
    EXPECT_EQ(got.error(), errc::connection_lost) << got.error().message();
  }
  co_return got.has_value();
}

/// What optimistic() decides.
task<batch> adds_one(redis::client& own) {
  const auto count = co_await own.command<std::optional<int>>("GET", "optimistic");
  batch writes;
  writes.add("SET", "optimistic", count.value_or(0) + 1);
  co_return writes;
}

/// One thing of each kind that can be awaited.
task<bool> asks_something(client& client, const options& where, std::uint64_t dice) {
  batch some;
  some.add("INCR", "a").add("INCR", "b").add("ECHO", std::string(dice % 20'000, 'x'));
  switch (dice >> 32U & 7U) {
    case 0: co_return co_await stopped_somewhere(dice, client.transaction(std::move(some)));
    case 1: co_return co_await stopped_somewhere(dice, client.pipeline(std::move(some)));
    case 2: co_return co_await stopped_somewhere(dice, client::connect(where));
    case 3: co_return co_await stopped_somewhere(dice, client.own_connection());
    case 4: {
      const std::vector<std::string> keys{"optimistic"};
      co_return co_await stopped_somewhere(dice, redis::optimistic(client, keys, adds_one, 1000));
    }
    case 5: {
      const auto pops = [](redis::client& own) -> task<bool> {
        co_return (co_await own.command("BLPOP", "nothing", 0)).is_nil();
      };
      co_return co_await stopped_somewhere(dice | 1U, redis::with_connection(client, pops));
    }
    default: co_return co_await stopped_somewhere(dice, client.command("INCR", "c"));
  }
}

TEST_F(redis_stop, who_is_stopped_at_any_moment_leaves_the_answers_of_the_others_alone) {
  std::mt19937_64 random(stress_seed());
  for (const unsigned threads : {1U, 3U}) {
    test_runtime rt(threads);
    rt.run([](options where, std::uint64_t seed) -> task<void> {
      auto client = co_await client::connect(where);
      std::atomic<int> stopped{0};
      co_await with_scope([&](task_scope& scope) -> task<void> {
        for (std::uint64_t number = 0; number < 64; ++number) {
          scope.spawn([&, number]() -> task<void> {
            for (std::uint64_t each = 0; each < 100; ++each) {
              const std::string said = std::to_string(number) + "." + std::to_string(each);
              const std::uint64_t dice = mix(seed + number * 1000 + each);
              const auto limit = std::chrono::microseconds(dice % 3 == 0 ? dice % 400 : 10'000'000);
              const auto got =
                  co_await as_result(with_timeout(limit, client.command("ECHO", said)));
              if (got.has_value()) {
                EXPECT_EQ(got.value().text(), said);
              } else {
                ++stopped;
                EXPECT_TRUE(got.is_cancelled()) << got.error().message();
              }
            }
          });
        }
        co_return;
      });
      EXPECT_GT(stopped.load(), 0);
      EXPECT_EQ(co_await client.command<std::string>("ECHO", "still good"), "still good");
    }(where(), random()));
  }
}

TEST_F(redis_stop, who_is_stopped_in_the_midst_of_a_long_write_leaves_the_rest_to_the_others) {
  std::mt19937_64 random(stress_seed());
  run([&](options where) -> task<void> {
    auto client = co_await client::connect(where);
    const std::uint64_t seed = random();
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (std::uint64_t number = 0; number < 12; ++number) {
        scope.spawn([&, number]() -> task<void> {
          for (std::uint64_t each = 0; each < 25; ++each) {
            const std::uint64_t dice = mix(seed + number * 1000 + each);
            const std::string said = std::to_string(dice) + std::string(dice % 300'000, '.');
            const auto limit = std::chrono::microseconds(dice % 2 == 0 ? dice % 900 : 100'000'000);
            const auto got = co_await as_result(with_timeout(limit, client.command("ECHO", said)));
            if (got.has_value()) {
              EXPECT_TRUE(got.value().text() == said);
            } else {
              EXPECT_TRUE(got.is_cancelled()) << got.error().message();
            }
          }
        });
      }
      co_return;
    });
    EXPECT_EQ(co_await client.command<std::string>("ECHO", "still good"), "still good");
  });
}

TEST_F(redis_stop, a_command_that_was_stopped_before_it_was_sent_is_never_sent) {
  const refusing_port nobody;
  run([&](options where) -> task<void> {
    options broken = where;
    broken.port = nobody.where().port();
    broken.initial_delay = 1ms;
    broken.max_delay = 1ms;
    client lazy = client::later(broken);
    const auto got = co_await as_result(with_timeout(5ms, lazy.command("SET", "never", 1)));
    EXPECT_TRUE(got.is_cancelled());
    auto client = co_await client::connect(where);
    EXPECT_FALSE(co_await client.command<bool>("EXISTS", "never"));
  });
}

TEST_F(redis_stop, a_stop_while_attempts_to_connect_fail_is_a_stop) {
  const refusing_port nobody;
  std::mt19937_64 random(stress_seed());
  run([&](options where) -> task<void> {
    where.port = nobody.where().port();
    where.initial_delay = where.max_delay = 0ms;
    client lazy = client::later(where);
    for (int each = 0; each < 2000; ++each) {
      const auto limit = std::chrono::microseconds(random() % 300);
      const auto got = co_await as_result(with_timeout(limit, lazy.command("PING")));
      EXPECT_TRUE(got.is_cancelled()) << got.error().message();
    }
  });
}

TEST_F(redis_stop, stops_while_the_server_comes_and_goes_leave_nobody_hanging) {
  auto& redis = server();
  std::mt19937_64 random(stress_seed());
  run([&](options where) -> task<void> {
    where.initial_delay = 1ms;
    where.max_delay = 5ms;
    auto client = co_await client::connect(where);
    std::atomic<bool> goes_on{true};
    const std::uint64_t seed = random();
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (std::uint64_t number = 0; number < 16; ++number) {
        scope.spawn([&, number]() -> task<void> {
          for (std::uint64_t each = 0; goes_on; ++each) {
            const std::uint64_t dice = mix(seed + number * 100'000 + each);
            const std::string said = std::to_string(dice);
            const auto limit = std::chrono::microseconds(dice % 2 == 0 ? dice % 3000 : 100'000'000);
            const auto got = co_await as_result(with_timeout(limit, client.command("ECHO", said)));
            if (got.has_value()) {
              EXPECT_EQ(got.value().text(), said);
            } else if (!got.is_cancelled()) {
              EXPECT_EQ(got.error(), errc::connection_lost) << got.error().message();
            }
          }
        });
      }
      for (int round = 0; round < 4; ++round) {
        co_await sleep_for(10ms);
        co_await blocking([&] { redis.kill(); });
        co_await sleep_for(10ms);
        co_await blocking([&] { redis.start(); });
      }
      goes_on = false;
    });
    EXPECT_EQ(co_await client.command<std::string>("ECHO", "still good"), "still good");
  });
}

TEST_F(redis_stop, whatever_is_asked_for_can_be_stopped_anywhere_and_the_client_goes_on) {
  std::mt19937_64 random(stress_seed());
  change().database = 3;  // so that there is a greeting
  for (const unsigned threads : {1U, 3U}) {
    test_runtime rt(threads);
    rt.run([](options where, std::uint64_t seed) -> task<void> {
      auto client = co_await client::connect(where);
      std::atomic<int> done{0};
      std::atomic<int> stopped{0};
      co_await with_scope([&](task_scope& scope) -> task<void> {
        for (std::uint64_t number = 0; number < 16; ++number) {
          scope.spawn([&, number]() -> task<void> {
            for (std::uint64_t each = 0; each < 60; ++each) {
              const bool ended =
                  co_await asks_something(client, where, mix(seed + number * 1000 + each));
              ++(ended ? done : stopped);
            }
          });
        }
        co_return;
      });
      EXPECT_GT(done.load(), 0);
      EXPECT_GT(stopped.load(), 0);
      const replies both = (co_await client.command("MGET", "a", "b")).as<replies>();
      EXPECT_EQ(both[0], both[1]);
    }(where(), random()));
  }
}

TEST_F(redis_stop,
       a_subscriber_that_is_stopped_anywhere_while_it_is_thrown_out_again_and_again_goes_on) {
  std::mt19937_64 random(stress_seed());
  change().initial_delay = 1ms;
  change().max_delay = 5ms;
  run([&](options where) -> task<void> {
    auto client = co_await client::connect(where);
    auto news = co_await subscriber::connect(where);
    co_await news.subscribe("weather");
    const std::uint64_t seed = random();
    std::atomic<bool> goes_on{true};
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([&]() -> task<void> {
        for (std::uint64_t each = 0; goes_on; ++each) {
          co_await stopped_somewhere(mix(seed + each) | 1U, news.next());
        }
      });
      for (std::uint64_t number = 1; number < 4; ++number) {
        scope.spawn([&, number]() -> task<void> {
          for (std::uint64_t each = 0; goes_on; ++each) {
            const std::uint64_t dice = mix(seed + number * 100'000 + each);
            const std::string name = std::to_string(dice >> 32U & 7U);
            task<void> change =
                (dice >> 40U & 1U) != 0 ? news.subscribe(name) : news.unsubscribe(name);
            co_await stopped_somewhere(dice, std::move(change));
            co_await client.command("PUBLISH", name, "something");
          }
        });
      }
      for (int round = 0; round < 60; ++round) {
        co_await client.command("CLIENT", "KILL", "TYPE", "pubsub");
        co_await sleep_for(5ms);
      }
      goes_on = false;
    });
    co_await news.subscribe("last");
    EXPECT_EQ(co_await client.command<int>("PUBLISH", "weather", "rain"), 1);
    EXPECT_EQ(co_await client.command<int>("PUBLISH", "last", "the end"), 1);
    std::string last;
    while (last != "the end") last = (co_await news.next())->payload;
  });
}

TEST_F(redis_stop, a_close_at_any_moment_ends_all_that_wait) {
  std::mt19937_64 random(stress_seed());
  run([&](options where) -> task<void> {
    where.database = 3;
    for (int round = 0; round < 200; ++round) {
      client lazy = client::later(where);
      const std::uint64_t dice = random();
      co_await with_scope([&](task_scope& scope) -> task<void> {
        for (int each = 0; each < 8; ++each) {
          scope.spawn([&lazy, each]() -> task<void> {
            const std::string said(static_cast<std::size_t>(each) * 20'000, '.');
            const auto got = co_await as_result(lazy.command("ECHO", said));
            if (got.has_value()) {
              EXPECT_TRUE(got.value().text() == said);
            } else {
              EXPECT_TRUE(got.error() == errc::closed || got.error() == errc::connection_lost)
                  << got.error().message();
            }
          });
        }
        co_await sleep_for(std::chrono::microseconds(dice % 1000));
        lazy.close();
      });
    }
  });
}

}  // namespace
}  // namespace tandem::test
