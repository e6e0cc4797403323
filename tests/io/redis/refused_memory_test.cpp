// refused_memory_test.cpp: whatever allocation is refused, whoever asks gets his own answer or an exception.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

#include <tandem/as_result.hpp>

#include "io/redis/redis_support.hpp"
#include "refusals.hpp"

namespace {

using namespace tandem::test;
using tandem::task;

class redis_refused_memory : public with_redis {
 protected:
  /// Runs `use(where)` once for each allocation that is refused. Whatever came of it, a new connection works, and no other
  /// one is left.
  void refuse_each(task<void> (*use)(redis::options)) {
    for_each_refusal(allocations, asker::anyone(), [&] {
      try {
        tandem::run(use(where()));
      } catch (...) {
        if (allocations.has_refused()) tandem::run(look(where()));
        throw;
      }
      if (allocations.has_refused()) tandem::run(look(where()));
    });
  }

 private:
  static task<void> look(redis::options where) {
    const granted free;
    redis::client fresh = co_await redis::client::connect(where);
    EXPECT_EQ(co_await fresh.command<std::string>("ECHO", "fresh"), "fresh");
    // The server learns of an end by itself, soon.
    std::string others = co_await fresh.command<std::string>("CLIENT", "LIST", "TYPE", "normal");
    while (others.find('\n') != others.size() - 1)
      others = co_await fresh.command<std::string>("CLIENT", "LIST", "TYPE", "normal");
    others = co_await fresh.command<std::string>("CLIENT", "LIST", "TYPE", "pubsub");
    while (!others.empty())
      others = co_await fresh.command<std::string>("CLIENT", "LIST", "TYPE", "pubsub");
  }
};

task<void> echo(redis::client by, int number) {
  // One that fails has had no answer; one that has an answer has its own.
  for (int i = 0; i < 3; ++i) {
    const std::string said =
        "number " + std::to_string(number) + ", for the time " + std::to_string(i);
    const auto heard = co_await by.command<std::string>("ECHO", said);
    EXPECT_EQ(heard, said);
  }
}

/// Each goes on although another one has failed.
task<void> echo_all(redis::client by) {
  const auto many = [&by](tandem::task_scope& scope) -> task<void> {
    for (int i = 0; i < 4; ++i) {
      const auto one = [](redis::client with, int number) -> task<void> {
        (void)co_await as_result(echo(std::move(with), number));
      };
      scope.spawn(one(by, i));
    }
    co_return;
  };
  co_await tandem::with_scope(many);
}

task<void> use_commands(redis::options where) {
  redis::client by = co_await redis::client::connect(where);
  co_await by.command("SET", "text", std::string(2000, 'x'));
  EXPECT_EQ((co_await by.command<std::string>("GET", "text")).size(), 2000U);
  co_await echo_all(by);
  co_await echo(by, 7);
  by.close();
}

task<void> use_batches(redis::options where) {
  redis::client by = co_await redis::client::connect(where);
  redis::batch some;
  for (int i = 0; i < 5; ++i) some.add("ECHO", "in the pipeline " + std::to_string(i));
  const redis::replies heard = co_await by.pipeline(std::move(some));
  EXPECT_EQ(heard.size(), 5U);
  for (std::size_t i = 0; i < heard.size(); ++i)
    EXPECT_EQ(heard[i].as<std::string>(), "in the pipeline " + std::to_string(i));
  co_await by.command("DEL", "count");
  redis::batch steps;
  steps.add("INCR", "count").add("ECHO", "in the transaction").add("INCR", "count");
  const redis::replies done = co_await by.transaction(std::move(steps));
  EXPECT_EQ(done.size(), 3U);
  EXPECT_EQ(done[1].as<std::string>(), "in the transaction");
  EXPECT_EQ(done[2].as<int>(), 2);
  const auto decide = [](redis::client& own) -> task<redis::batch> {
    const int seen = co_await own.command<int>("GET", "count");
    redis::batch writes;
    writes.add("SET", "count", seen + 1);
    co_return writes;
  };
  const std::vector<std::string> keys{"count"};
  (void)co_await redis::optimistic(by, keys, decide);
  EXPECT_EQ(co_await by.command<int>("GET", "count"), 3);
}

task<void> use_subscriber(redis::options where) {
  redis::client by = co_await redis::client::connect(where);
  redis::subscriber news = co_await redis::subscriber::connect(where);
  co_await news.subscribe("a channel that has a long name");
  co_await news.subscribe_patterns("pattern*");
  for (int i = 0; i < 3; ++i) {
    const std::string said = "message with a long text, number " + std::to_string(i);
    if (co_await by.command<int>("PUBLISH", "a channel that has a long name", said) != 1) break;
    const auto heard = co_await news.next();
    if (!heard || heard->is_gap()) break;
    EXPECT_EQ(heard->payload, said);
  }
  co_await news.unsubscribe("a channel that has a long name");
  news.close();
  EXPECT_FALSE((co_await news.next()).has_value());
}

/// The connection is lost on the way, and made anew.
task<void> use_lost(redis::options where) {
  where.initial_delay = std::chrono::milliseconds(1);
  redis::client by = co_await redis::client::connect(where);
  redis::client other = co_await redis::client::connect(where);
  const auto number = co_await by.command<std::int64_t>("CLIENT", "ID");
  co_await other.command("CLIENT", "KILL", "ID", number);
  co_await echo_all(by);
  co_await echo(by, 1);
  const auto late = [](redis::client& with) -> task<void> {
    with.close();
    (void)co_await as_result(with.command("PING"));
  };
  co_await late(by);
}

/// Nobody listens there.
task<void> use_nobody(redis::options where) {
  where.port = 1;
  where.commands = redis::while_disconnected::fail;
  redis::client by = redis::client::later(where);
  const std::error_code why = co_await code_of(by.command("PING"));
  EXPECT_TRUE(why == redis::errc::not_sent) << why.message();
  (void)co_await as_result(by.command("PING"));
}

TEST_F(redis_refused_memory, each_command_has_its_own_answer_or_an_exception) {
  refuse_each(use_commands);
}
TEST_F(redis_refused_memory, pipelines_and_transactions_have_their_own_answers_or_an_exception) {
  refuse_each(use_batches);
}
TEST_F(redis_refused_memory, subscriber_gets_what_is_published_or_an_exception_or_a_gap) {
  refuse_each(use_subscriber);
}
TEST_F(redis_refused_memory, lost_connection_is_made_anew_or_somebody_learns_of_it) {
  refuse_each(use_lost);
}
TEST_F(redis_refused_memory, attempt_in_vain_is_an_exception) { refuse_each(use_nobody); }

}  // namespace
