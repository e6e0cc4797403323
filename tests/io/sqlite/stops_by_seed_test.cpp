// stops_by_seed_test.cpp: a stop at any point, and what was told is what is stored.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>
#include <stop_token>
#include <tandem/blocking.hpp>
#include <tandem/stop.hpp>
#include <tandem/when_all.hpp>
#include <tandem/with_stop.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "io/sqlite/sqlite_support.hpp"
#include "seeded.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::database_room;

namespace sqlite = tandem::io::sqlite;

/// Each unit of work inserts two rows of its number: both are there if it has said so, else none.
class ledger {
 public:
  explicit ledger(const sqlite::database& db) noexcept : db_(db) {}

  task<void> step(int number, std::uint64_t how) {
    switch (how % 4) {
      case 0: {
        const auto plain = [number](sqlite::session& on) {
          on.execute("INSERT INTO t VALUES (?)", number);
          on.execute("INSERT INTO t VALUES (?)", number);
        };
        co_await db_.write(plain);
        break;
      }
      case 1: co_await db_.execute("INSERT INTO t VALUES (?1), (?1)", number); break;
      case 2: {
        const auto body = [number](sqlite::transaction& tx) -> task<void> {
          co_await tx.execute("INSERT INTO t VALUES (?)", number);
          co_await tx.execute("INSERT INTO t VALUES (?)", number);
        };
        co_await db_.with_transaction(body);
        break;
      }
      default: {
        (void)co_await db_.query<int>("SELECT n FROM t LIMIT 10");
        const auto changed =
            co_await db_.query<int>("INSERT INTO t VALUES (?1), (?1) RETURNING n", number);
        EXPECT_EQ(changed.size(), 2U);
      }
    }
    told_.insert(number);
  }

  /// Of one task: units until it is stopped.
  task<void> work(int first, std::uint64_t seed) {
    for (int i = 0; i != 40; ++i)
      co_await step(first + i, tandem::test::mix(seed + static_cast<std::uint64_t>(i)));
  }

  task<void> check() const {
    const auto counts = co_await db_.query<int, int>("SELECT n, count(*) FROM t GROUP BY n");
    std::set<int> stored;
    for (const auto& [number, count] : counts) {
      EXPECT_EQ(count, 2);
      stored.insert(number);
    }
    EXPECT_EQ(stored, told_);
  }

 private:
  const sqlite::database& db_;
  std::set<int> told_;
};

/// A stop from another thread, after some hops and turns of somebody else's: no clock says when.
task<void> stop_after(std::stop_source source, std::uint64_t number) {
  for (std::uint64_t i = 0; i != number % 128; ++i) {
    co_await tandem::blocking([] {});
  }
  for (std::uint64_t i = 0; i != number / 128 % 512; ++i) co_await tandem::yield();
  source.request_stop();
}

task<void> one_run(const sqlite::database& db, std::uint64_t seed) {
  co_await db.execute("DELETE FROM t");
  ledger first(db);
  const std::stop_source source;
  const auto stopped = [&]() -> task<void> {
    const auto ended =
        co_await tandem::as_result(tandem::with_stop(source.get_token(), first.work(1, seed)));
    EXPECT_TRUE(ended.has_value() || ended.reason() == tandem::stop_reason::user);
  };
  co_await tandem::when_all(stopped(), stop_after(source, tandem::test::mix(seed)));
  co_await first.check();
  // And it goes on.
  co_await first.step(1000, seed);
  co_await first.check();
}

TEST(sqlite_stops, what_was_told_is_stored_and_nothing_else_wherever_a_stop_comes) {
  database_room room;
  sqlite::options options;
  options.synchronous = sqlite::sync_mode::off;
  options.steps_between_looks = 5;
  room.run(
      [](const sqlite::database& db) -> task<void> {
        co_await db.execute("CREATE TABLE t (n INTEGER)");
        const std::uint64_t seed = tandem::test::stress_seed();
        const std::uint64_t runs = tandem::test::is_nightly() ? 2000 : 60;
        for (std::uint64_t i = 0; i != runs && !::testing::Test::HasFailure(); ++i) {
          co_await one_run(db, seed + i);
        }
      },
      options);
}

}  // namespace
