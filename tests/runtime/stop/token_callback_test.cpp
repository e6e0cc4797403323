// token_callback_test.cpp: functions that the stop of a std::stop_token calls, and their ends.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <tandem/detail/token_callback.hpp>

#include "waits.hpp"

namespace {

using tandem::detail::shared_token_callback;
using tandem::detail::watched_stop_states;
using tandem::test::flag;

/// Calls a function of the test's.
class callback {
 public:
  callback(const std::stop_token& token, std::function<void()> called)
      : called_(std::move(called)), inside_(std::in_place, token, &callback::call, this) {}
  void end() { inside_.reset(); }

 private:
  static void call(void* self) noexcept { static_cast<callback*>(self)->called_(); }

  std::function<void()> called_;
  std::optional<shared_token_callback> inside_;
};

TEST(token_callback, a_stop_calls_all_that_hang_there_once) {
  int calls = 0;
  std::stop_source source;
  {
    callback first(source.get_token(), [&] { ++calls; });
    callback gone(source.get_token(), [&] { calls += 100; });
    callback last(source.get_token(), [&] { ++calls; });
    gone.end();
    EXPECT_EQ(watched_stop_states(), 1u);
    source.request_stop();
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(watched_stop_states(), 0u);
    callback late(source.get_token(), [&] { ++calls; });
    EXPECT_EQ(calls, 3);
  }
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(watched_stop_states(), 0u);
}

TEST(token_callback, no_state_and_one_that_nobody_can_stop_call_nothing) {
  int calls = 0;
  callback none(std::stop_token(), [&] { ++calls; });
  std::optional<std::stop_source> source(std::in_place);
  const std::stop_token token = source->get_token();
  source.reset();
  callback nobody(token, [&] { ++calls; });
  EXPECT_EQ(watched_stop_states(), 0u);
  EXPECT_EQ(calls, 0);
}

TEST(token_callback, states_that_nobody_can_stop_any_more_are_not_watched) {
  std::optional<std::stop_source> source(std::in_place);
  std::optional<callback> one(std::in_place, source->get_token(), [] {});
  one.reset();
  EXPECT_EQ(watched_stop_states(), 1u);  // a stop might come
  source.reset();
  EXPECT_EQ(watched_stop_states(), 0u);
  std::vector<std::stop_source> many(500);
  for (auto& each : many) callback(each.get_token(), [] {}).end();
  EXPECT_EQ(watched_stop_states(), 500u);
  for (auto& each : many) callback(each.get_token(), [] {}).end();
  EXPECT_EQ(watched_stop_states(), 500u);
  many.clear();
  EXPECT_EQ(watched_stop_states(), 0u);
}

TEST(token_callback, one_may_be_ended_and_another_made_by_its_function) {
  std::stop_source source;
  int calls = 0;
  std::optional<callback> other;
  std::optional<callback> self;
  std::optional<callback> nested;
  other.emplace(source.get_token(), [&] { ++calls; });
  self.emplace(source.get_token(), [&] {
    ++calls;
    nested.emplace(source.get_token(), [&] { ++calls; });
    self->end();
  });
  source.request_stop();
  EXPECT_EQ(calls, 3);
}

TEST(token_callback, its_end_waits_for_its_function_on_another_thread) {
  std::stop_source source;
  flag began = false;
  flag may_end = false;
  std::atomic<bool> has_ended = false;
  std::optional<callback> slow(std::in_place, source.get_token(), [&] {
    began = true;
    may_end.wait(false);
    has_ended = true;
  });
  std::thread stopper([&] { source.request_stop(); });
  began.wait(false);
  std::thread lets_go([&] { may_end = true; });
  slow.reset();
  EXPECT_TRUE(has_ended);
  stopper.join();
  lets_go.join();
  EXPECT_EQ(watched_stop_states(), 0u);
}

}  // namespace
