// answer_keeper_test.cpp: no answer waits for a store, and none is lost while there is room for it.
// SPDX-License-Identifier: MIT
#include "answer_keeper.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/clock.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/timeout.hpp>
#include <utility>
#include <vector>

#include "keeper_fixture.hpp"

namespace {

using namespace std::chrono_literals;
using service::answer_keeper;
using service::database_state;
using service::keeper_options;
using service::kept_answer;
using service::known_answer;
using service::test::answer_to;
using service::test::asked;
using service::test::fixture;
using service::test::keys;
using tandem::task;

TEST(answer_keeper, what_was_kept_is_known_at_once_and_written) {
  fixture test;
  test.run([&]() -> task<void> {
    EXPECT_EQ(test.keeper.recall(asked(1)), nullptr);
    test.keeper.keep(answer_to(1));
    EXPECT_NE(test.keeper.recall(asked(1)), nullptr);
    co_await tandem::sleep_for(1s);
    EXPECT_EQ(test.mood.written, keys(1, 1));
  });
  const auto state = test.keeper.state();
  EXPECT_EQ(state.in_words(), "there");
  EXPECT_EQ(state.kept, 1U);
  EXPECT_EQ(state.from_memory, 1U);
  EXPECT_EQ(state.attempts, 1U);
  EXPECT_TRUE(test.log.empty());
}

TEST(answer_keeper, what_memory_has_forgotten_the_store_knows) {
  keeper_options options;
  options.recent_answers = 2;
  fixture test(options);
  test.run([&]() -> task<void> {
    for (unsigned number = 1; number <= 5; ++number) test.keeper.keep(answer_to(number));
    co_await tandem::sleep_for(1s);
    EXPECT_EQ(test.keeper.recall(asked(1)), nullptr);
    task<known_answer> looking = test.keeper.look_up(asked(1));
    const known_answer found = co_await std::move(looking);
    EXPECT_TRUE(found && found->request == "1");
    EXPECT_EQ(test.keeper.state().from_store, 1U);
    EXPECT_NE(test.keeper.recall(asked(1)), nullptr);
    task<known_answer> unknown = test.keeper.look_up(asked(9));
    EXPECT_EQ(co_await std::move(unknown), nullptr);
  });
}

TEST(answer_keeper, a_store_that_is_away_is_tried_less_and_less_often_and_then_has_all_in_order) {
  fixture test;
  test.mood.is_away = true;
  test.run([&]() -> task<void> {
    for (unsigned number = 1; number <= 9; ++number) test.keeper.keep(answer_to(number));
    co_await tandem::sleep_for(2s);
    EXPECT_GE(test.mood.prepares, 4U);
    const std::uint64_t before = test.mood.prepares;
    co_await tandem::sleep_for(1h);
    // Every 2.5 to 5 seconds.
    EXPECT_GE(test.mood.prepares - before, 700U);
    EXPECT_LE(test.mood.prepares - before, 1450U);
    const auto state = test.keeper.state();
    EXPECT_EQ(state.database, database_state::away);
    EXPECT_EQ(state.reason, "no route to host");
    EXPECT_EQ(state.waiting, 9U);
    test.mood.is_away = false;
    co_await tandem::sleep_for(6s);
    EXPECT_EQ(test.mood.written, keys(1, 9));
    EXPECT_EQ(test.keeper.state().in_words(), "there");
  });
  ASSERT_EQ(test.log.size(), 2U);
  EXPECT_EQ(test.log[0], "a moody store is away, and tried again: no route to host");
  EXPECT_EQ(test.log[1], "a moody store is there again");
}

TEST(answer_keeper, a_store_that_comes_back_is_noticed_though_nothing_is_to_be_written) {
  fixture test;
  test.mood.is_away = true;
  test.run([&]() -> task<void> {
    co_await tandem::sleep_for(1h);
    EXPECT_EQ(test.keeper.state().database, database_state::away);
    test.mood.is_away = false;
    co_await tandem::sleep_for(6s);
    EXPECT_EQ(test.keeper.state().database, database_state::there);
    const std::uint64_t before = test.mood.prepares;
    co_await tandem::sleep_for(1h);
    EXPECT_EQ(test.mood.prepares, before);  // nothing is asked of a store that is there
  });
}

TEST(answer_keeper, nobody_asks_a_store_that_is_away) {
  fixture test;
  test.mood.is_away = true;
  test.run([&]() -> task<void> {
    co_await tandem::sleep_for(1min);
    const auto began = tandem::now();
    task<known_answer> looking = test.keeper.look_up(asked(1));
    EXPECT_EQ(co_await std::move(looking), nullptr);
    EXPECT_EQ(tandem::now(), began);
    EXPECT_EQ(test.mood.finds, 0U);
    std::string why;
    try {
      task<service::kept_page> listing = test.keeper.list(service::kept_search());
      (void)co_await std::move(listing);
    } catch (const service::store_unavailable& away) {
      why = away.what();
    }
    EXPECT_TRUE(why.starts_with("the database is away since ")) << why;
    EXPECT_TRUE(why.ends_with("Z: no route to host")) << why;
  });
}

TEST(answer_keeper, a_question_ends_at_once_when_it_is_stopped_though_the_store_does_not) {
  fixture test;
  test.run([&]() -> task<void> {
    co_await tandem::sleep_for(1s);
    test.mood.is_deaf = true;
    for (int i = 0; i < 100; ++i) {  // more than there are clerks and places to wait
      const auto began = tandem::now();
      task<known_answer> looking = test.keeper.look_up(asked(1));
      auto outcome = co_await tandem::as_result(tandem::with_timeout(10ms, std::move(looking)));
      EXPECT_TRUE(outcome.is_cancelled() || outcome.value() == nullptr);
      EXPECT_LE(tandem::now() - began, 10ms);
    }
    EXPECT_LE(test.mood.finds, 4U);
    test.mood.is_deaf = false;
  });
}

TEST(answer_keeper, a_store_that_does_not_answer_is_away) {
  fixture test;
  test.run([&]() -> task<void> {
    co_await tandem::sleep_for(1s);
    test.mood.is_deaf = true;
    task<known_answer> looking = test.keeper.look_up(asked(1));
    auto outcome = co_await tandem::as_result(tandem::with_timeout(2h, std::move(looking)));
    EXPECT_TRUE(outcome && outcome.value() == nullptr);
    EXPECT_EQ(test.keeper.state().reason, "it does not answer");
    test.mood.is_deaf = false;
    co_await tandem::sleep_for(2h);
    EXPECT_EQ(test.keeper.state().database, database_state::there);
  });
}

TEST(answer_keeper, when_there_is_no_room_the_oldest_is_given_up_and_counted) {
  keeper_options options;
  options.waiting_answers = 3;
  options.answer_bytes = 4096;
  fixture test(options);
  test.mood.is_away = true;
  test.run([&]() -> task<void> {
    for (unsigned number = 1; number <= 5; ++number) test.keeper.keep(answer_to(number));
    kept_answer long_one = answer_to(6);
    long_one.answer.assign(4096, 'x');
    test.keeper.keep(std::move(long_one));
    EXPECT_EQ(test.keeper.recall(asked(6)), nullptr);
    EXPECT_EQ(test.keeper.state().given_up, 3U);
    test.mood.is_away = false;
    co_await tandem::sleep_for(10s);
    std::vector<std::string> written = test.mood.written;
    std::sort(written.begin(), written.end());
    std::vector<std::string> expected = keys(3, 5);
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(written, expected);
  });
}

TEST(answer_keeper, an_answer_that_the_store_refuses_holds_up_no_other) {
  fixture test;
  test.mood.refuses = asked(1).key;
  test.run([&]() -> task<void> {
    for (unsigned number = 1; number <= 5; ++number) test.keeper.keep(answer_to(number));
    co_await tandem::sleep_for(1min);
    EXPECT_EQ(test.mood.written, keys(2, 5));
    EXPECT_EQ(test.keeper.state().waiting, 1U);
    EXPECT_EQ(test.keeper.state().reason, "not this one");
  });
  EXPECT_EQ(test.keeper.state().waiting, 1U);
}

TEST(answer_keeper, at_the_end_all_that_waits_is_written) {
  fixture test;
  test.run([&]() -> task<void> {
    for (unsigned number = 1; number <= 100; ++number) test.keeper.keep(answer_to(number));
    co_return;
  });
  EXPECT_EQ(test.mood.written, keys(1, 100));
  EXPECT_EQ(test.keeper.state().waiting, 0U);
}

TEST(answer_keeper, at_the_end_what_is_being_written_stays_the_first_one) {
  fixture test;
  test.run([&]() -> task<void> {
    for (unsigned number = 1; number <= 3; ++number) test.keeper.keep(answer_to(number));
    co_await tandem::sleep_for(1500us);  // the store is reached, and has not answered yet
  });
  EXPECT_EQ(test.mood.written, keys(1, 3));
}

TEST(answer_keeper, at_the_end_a_store_that_is_away_is_tried_once_more_and_not_waited_for) {
  for (const bool comes_back : {false, true}) {
    fixture test;
    test.mood.is_away = true;
    test.run([&]() -> task<void> {
      for (unsigned number = 1; number <= 3; ++number) test.keeper.keep(answer_to(number));
      co_await tandem::sleep_for(1h);
      test.mood.is_away = !comes_back;
    });
    EXPECT_EQ(test.mood.written.size(), comes_back ? 3U : 0U);
    EXPECT_EQ(test.keeper.state().waiting, comes_back ? 0U : 3U);
    EXPECT_LE(test.took_to_finish, 10ms);
  }
}

TEST(answer_keeper, a_keeper_without_a_store_keeps_nothing) {
  answer_keeper keeper(nullptr);
  EXPECT_FALSE(keeper.keeps());
  keeper.keep(answer_to(1));
  EXPECT_EQ(keeper.recall(asked(1)), nullptr);
  EXPECT_EQ(keeper.state().in_words(), "none");
  const auto both = [&]() -> task<void> {
    co_await keeper.run();
    task<known_answer> looking = keeper.look_up(asked(1));
    EXPECT_EQ(co_await std::move(looking), nullptr);
  };
  tandem::run(both());
}

TEST(answer_keeper, whatever_the_store_does_each_answer_is_written_or_waits_or_was_given_up) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    keeper_options options;
    options.waiting_answers = 20;
    options.recent_answers = 5;
    fixture test(options);
    std::mt19937_64 random(seed);
    constexpr unsigned count = 200;
    test.run(
        [&]() -> task<void> {
          for (unsigned number = 1; number <= count; ++number) {
            test.keeper.keep(answer_to(number));
            if (random() % 8 == 0) test.mood.is_away = random() % 2 == 0;
            if (random() % 4 == 0) {
              task<known_answer> looking =
                  test.keeper.look_up(asked(static_cast<unsigned>(random() % count)));
              const std::chrono::milliseconds patience(random() % 3);
              (void)co_await tandem::as_result(tandem::with_timeout(patience, std::move(looking)));
            }
            const std::chrono::milliseconds pause(random() % 300);
            co_await tandem::sleep_for(pause);
          }
        },
        seed);
    const auto state = test.keeper.state();
    EXPECT_EQ(state.kept, test.mood.written.size()) << seed;
    EXPECT_EQ(state.kept + state.waiting + state.given_up, count) << seed;
  }
}

}  // namespace
