// wire_test.cpp: a real server that stands still, or behind a wire that cuts, delays, fragments and resets.
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

#include "fault_proxy.hpp"
#include "io/redis/redis_support.hpp"
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

class redis_wire : public with_redis {};

/// Tasks that ask for as long as `goes_on`, some of them only for a while: each answer is its own.
task<void> ask_and_stop(client& client, const std::atomic<bool>& goes_on, std::uint64_t seed,
                        std::size_t most_bytes) {
  co_await with_scope([&](task_scope& scope) -> task<void> {
    for (std::uint64_t number = 0; number < 16; ++number) {
      scope.spawn([&, number]() -> task<void> {
        for (std::uint64_t each = 0; goes_on; ++each) {
          const std::uint64_t dice = mix(seed + number * 100'000 + each);
          const std::string said = std::to_string(dice) + std::string(dice % most_bytes, '.');
          batch two;
          two.add("ECHO", said).add("INCR", "count");
          const auto limit = std::chrono::microseconds(dice % 2 == 0 ? dice % 5000 : 100'000'000);
          const auto got =
              co_await as_result(with_timeout(limit, client.transaction(std::move(two))));
          if (got.has_value()) {
            EXPECT_TRUE(got.value()[0].text() == said);
          } else if (!got.is_cancelled()) {
            EXPECT_TRUE(got.error() == errc::connection_lost || got.error() == errc::timed_out)
                << got.error().message();
          }
        }
      });
    }
    co_return;
  });
}

TEST_F(redis_wire, stops_while_the_server_stands_still_again_and_again_leave_nobody_hanging) {
  auto& redis = server();
  std::mt19937_64 random(stress_seed());
  for (const std::size_t most_unanswered : {std::size_t{1000}, std::size_t{16} << 20}) {
    run([&](options where) -> task<void> {
      where.limit = 100ms;
      where.max_unanswered_bytes = most_unanswered;
      auto client = co_await client::connect(where);
      std::atomic<bool> goes_on{true};
      const std::uint64_t seed = random();
      co_await with_scope([&](task_scope& scope) -> task<void> {
        scope.spawn(ask_and_stop(client, goes_on, seed, 200'000));
        for (int round = 0; round < 8; ++round) {
          co_await sleep_for(5ms);
          co_await blocking([&] { redis.pause(); });
          co_await sleep_for(20ms);
          co_await blocking([&] { redis.resume(); });
        }
        goes_on = false;
      });
      std::error_code late = errc::timed_out;  // on a busy machine its limit may be over once more
      while (late == errc::timed_out) {
        const auto got = co_await as_result(client.command<std::string>("ECHO", "still good"));
        late = got.error();
        if (!late) {
          EXPECT_EQ(got.value(), "still good");
        }
      }
      EXPECT_FALSE(late) << late.message();
    });
  }
}

TEST_F(redis_wire, whatever_the_wire_does_each_answer_is_its_own_and_nobody_hangs) {
  std::mt19937_64 random(stress_seed());
  for (int round = 0; round < 6; ++round) {
    fault_plan plan;
    plan.most_piece_bytes = 1 + random() % 3000;
    plan.most_pause_us = static_cast<unsigned>(random() % 30);
    plan.cuts = plan.resets = plan.stalls = 30;
    plan.within_bytes = 300'000;
    const std::uint64_t seed = random();
    const fault_proxy wire(server().port(), seed, plan);
    run([&](options where) -> task<void> {
      where.port = wire.port();
      where.database = 2;
      where.initial_delay = where.max_delay = 1ms;
      client lazy = client::later(where);
      std::atomic<bool> goes_on{true};
      co_await with_scope([&](task_scope& scope) -> task<void> {
        scope.spawn(ask_and_stop(lazy, goes_on, seed, 5000));
        co_await sleep_for(150ms);
        goes_on = false;
      });
      lazy.close();
    });
  }
}

TEST_F(redis_wire, what_a_subscriber_misses_behind_a_bad_wire_is_told_by_a_gap) {
  std::mt19937_64 random(stress_seed());
  fault_plan plan;
  plan.most_piece_bytes = 200;
  plan.cuts = plan.resets = 50;
  plan.within_bytes = 3000;
  const fault_proxy wire(server().port(), random(), plan);
  run([&](options where) -> task<void> {
    auto client = co_await client::connect(where);
    where.port = wire.port();
    where.initial_delay = where.max_delay = 1ms;
    auto news = co_await subscriber::connect(where);
    result<void> begun = co_await as_result(news.subscribe("numbers"));
    while (!begun) begun = co_await as_result(news.subscribe("numbers"));
    std::atomic<bool> goes_on{true};
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn([&]() -> task<void> {
        for (int each = 0; goes_on; ++each) {
          co_await client.command("PUBLISH", "numbers", each);
          if (each % 10 == 0) co_await sleep_for(100us);
        }
      });
      int expected = -1;
      for (int each = 0; each < 2000; ++each) {
        const auto got = co_await news.next();
        if (got->is_gap()) {
          expected = -1;
          continue;
        }
        const int number = std::stoi(got->payload);
        EXPECT_TRUE(expected < 0 || number == expected) << number << " instead of " << expected;
        expected = number + 1;
      }
      goes_on = false;
    });
  });
}

}  // namespace
}  // namespace tandem::test
