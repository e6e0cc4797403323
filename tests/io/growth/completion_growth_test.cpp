// completion_growth_test.cpp: pools whose threads come and go by themselves, and the options of that.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tandem/io/install.hpp>
#include <tandem/pool_decision.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "io/support/io_support.hpp"
#include "system.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::decision_reason;
using tandem::pool_action;
using tandem::pool_decision;
using tandem::task;
using tandem::io::completion_growth;
using tandem::io::completion_options;
using tandem::io::completion_pool;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::test_runtime;
using tandem::test::threads_between;

/// Whatever else it is to do, it decides often.
completion_options growing_between(unsigned least, unsigned most) {
  completion_options options = threads_between(least, most);
  options.adaptive = true;
  options.adaptive.period = 4ms;
  options.adaptive.looks = 4;
  return options;
}

/// Until then nothing that keeps the pool busy ends.
void wait_for_size(const completion_pool& pool, unsigned size) {
  while (pool.size() != size) std::this_thread::sleep_for(1ms);
}

/// At least so many. They are told of after they were done.
std::vector<pool_decision> decisions_of(const completion_pool& pool, std::size_t count) {
  while (pool.decisions().size() < count) std::this_thread::sleep_for(1ms);
  return pool.decisions();
}

TEST(completion_growth, a_thread_that_its_task_keeps_brings_another_one) {
  test_runtime rt;
  completion_options options = growing_between(1, 2);
  options.adaptive.saturated_periods = 1'000'000;
  options.adaptive.stalled_for = 1ms;
  options.adaptive.keep_alive = 24h;
  completion_pool& pool = tandem::io::install(*rt, options);
  rt->spawn(pool.thread(0).executor(),
            [](const completion_pool& io) -> task<void> {
              wait_for_size(io, 2);
              co_return;
            }(pool))
      .wait();
  const std::vector<pool_decision> all = decisions_of(pool, 1);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].action, pool_action::inject);
  EXPECT_EQ(all[0].reason, decision_reason::stalled);
  EXPECT_EQ(all[0].threads, 2U);
}

/// Never long at a time, but always.
task<void> busy_until(std::atomic<bool>& enough) {
  while (!enough.load()) co_await tandem::yield();
}

TEST(completion_growth, busy_threads_bring_others_up_to_max) {
  test_runtime rt;
  completion_options options = growing_between(1, 3);
  options.adaptive.stalled_for = 1h;
  options.adaptive.keep_alive = 24h;
  completion_pool& pool = tandem::io::install(*rt, options);
  std::atomic<bool> enough{false};
  std::vector<tandem::join_handle<void>> all;
  for (int i = 0; i < 6; ++i) all.push_back(rt->spawn(pool.executor(), busy_until(enough)));
  wait_for_size(pool, 3);
  EXPECT_EQ(pool.stats().threads, 3U);
  enough.store(true);
  for (auto& each : all) each.wait();
  for (const pool_decision& each : decisions_of(pool, 2)) {
    EXPECT_EQ(each.action, pool_action::inject);
    EXPECT_EQ(each.reason, decision_reason::saturated);
  }
  EXPECT_EQ(pool.decisions().size(), 2U);
}

task<void> echo_once(connection& of) {
  const std::byte sent{42};
  std::byte got{};
  EXPECT_EQ(co_await of.client.write(std::span(&sent, 1)), 1U);
  EXPECT_EQ(co_await of.server.read(std::span(&got, 1)), 1U);
  EXPECT_EQ(got, sent);
}

TEST(completion_growth, what_lives_on_a_thread_that_is_not_needed_any_more_goes_on_by_another_one) {
  test_runtime rt;
  completion_options options = growing_between(1, 2);
  options.adaptive.keep_alive = 1ms;
  completion_pool& pool = tandem::io::install(*rt, options);
  std::atomic<bool> enough{false};
  std::vector<tandem::join_handle<void>> busy;
  busy.push_back(rt->spawn(pool.thread(0).executor(), busy_until(enough)));
  wait_for_size(pool, 2);
  busy.push_back(rt->spawn(pool.thread(1).executor(), busy_until(enough)));
  std::vector<connection> connections(4);
  rt.run([](std::vector<connection>& made) -> task<void> {
    for (connection& each : made) {
      each = co_await make_connection();
      co_await echo_once(each);
    }
  }(connections));
  enough.store(true);
  for (auto& each : busy) each.wait();
  wait_for_size(pool, 1);
  while (pool.stats().threads != 1) std::this_thread::sleep_for(1ms);
  const auto has_gone = [&] {
    const std::vector<pool_decision> all = pool.decisions();
    return std::any_of(all.begin(), all.end(), [](const pool_decision& each) {
      return each.action == pool_action::retire && each.reason == decision_reason::idle &&
             each.threads == 1;
    });
  };
  while (!has_gone()) std::this_thread::sleep_for(1ms);
  rt.run([](std::vector<connection>& open) -> task<void> {
    for (connection& each : open) co_await echo_once(each);
  }(connections));
}

TEST(completion_growth, a_surplus_thread_of_a_pool_that_sleeps_retires_too) {
  test_runtime rt;
  completion_options options = growing_between(1, 3);
  options.adaptive.saturated_periods = 1'000'000;  // a thread that gets no CPU looks busy
  options.adaptive.keep_alive = 1500ms;            // after a second nobody looks any more
  completion_pool& pool = tandem::io::install(*rt, options);
  pool.resize(3);
  wait_for_size(pool, 1);
  const std::vector<pool_decision> all = decisions_of(pool, 3);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(to_string(all[0]).substr(0, 38), "goal 1->3 n=3 reason=outside_change t=");
  EXPECT_EQ(all[1].reason, decision_reason::idle);
  EXPECT_EQ(all[2].reason, decision_reason::idle);
}

bool has_decided(const completion_pool& pool, pool_action action, std::size_t before) {
  const std::vector<pool_decision> all = pool.decisions();
  return std::count_if(all.begin(), all.end(), [&](const pool_decision& each) {
           return each.action == action;
         }) > static_cast<std::ptrdiff_t>(before);
}

TEST(completion_growth, a_pool_that_is_resized_in_its_sleep_retires_what_it_does_not_need) {
  test_runtime rt;
  completion_options options = growing_between(1, 2);
  options.adaptive.saturated_periods = 1'000'000;
  options.adaptive.keep_alive = 1ms;
  options.adaptive.max_back_off = 1;
  completion_pool& pool = tandem::io::install(*rt, options);
  std::this_thread::sleep_for(
      1300ms);  // by now nobody looks any more; if somebody does, it holds too
  pool.resize(2);
  wait_for_size(pool, 1);
}

TEST(completion_growth, resizing_growing_and_retiring_at_once_lose_nothing) {
  test_runtime rt;
  completion_options options = growing_between(1, 4);
  options.adaptive.stalled_for = 1ms;
  options.adaptive.saturated_periods = 1;
  options.adaptive.keep_alive = 1ms;
  options.adaptive.max_back_off = 1;
  completion_pool& pool = tandem::io::install(*rt, options);
  std::vector<connection> connections(6);
  rt.run([](std::vector<connection>& made) -> task<void> {
    for (connection& each : made) each = co_await make_connection();
  }(connections));
  std::atomic<bool> enough{false};
  std::jthread resizes([&] {
    // Ever longer, so that the pool comes to a decision in between, however slow the machine is.
    for (unsigned round = 0; !enough.load(); ++round) {
      pool.resize(1 + round % 4);
      std::this_thread::sleep_for(round * 500us);
    }
  });
  for (std::size_t round = 0; round < 5; ++round) {
    std::atomic<bool> rests{false};
    std::vector<tandem::join_handle<void>> all;
    all.push_back(rt->spawn(pool.thread(0).executor(), busy_until(rests)));
    for (connection& each : connections) {
      all.push_back(
          rt->spawn(pool.executor(), [](connection& of, std::atomic<bool>& ends) -> task<void> {
            while (!ends.load()) co_await echo_once(of);
          }(each, rests)));
    }
    while (!has_decided(pool, pool_action::inject, round)) std::this_thread::sleep_for(1ms);
    rests.store(true);
    for (auto& each : all) each.wait();
    while (!has_decided(pool, pool_action::retire, round)) std::this_thread::sleep_for(1ms);
  }
  enough.store(true);
}

TEST(completion_growth, a_pool_that_is_not_adaptive_only_changes_by_resize) {
  test_runtime rt;
  std::atomic<int> told{0};
  completion_options options = growing_between(1, 2);
  options.adaptive = false;
  options.stall_threshold = 1ms;
  options.on_stall = [&told](const tandem::io::stall_report&) { told.fetch_add(1); };
  completion_pool& pool = tandem::io::install(*rt, options);
  rt->spawn(pool.thread(0).executor(),
            [](std::atomic<int>& count) -> task<void> {
              while (count.load() < 20) {
                const int before = count.load();
                while (count.load() == before) std::this_thread::yield();
                co_await tandem::yield();
              }
            }(told))
      .wait();
  EXPECT_EQ(pool.size(), 1U);
  EXPECT_EQ(pool.decisions(), std::vector<pool_decision>());
  pool.resize(2);
  ASSERT_EQ(pool.decisions().size(), 1U);
  EXPECT_EQ(pool.decisions()[0].reason, decision_reason::outside_change);
}

/// What validate() says of options that `change` has made wrong.
template <class Change>
std::string refusal_of(Change change) {
  completion_growth options;
  change(options);
  try {
    options.validate();
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return "nothing";
}

TEST(completion_growth, each_option_is_refused_by_its_own_name) {
  EXPECT_EQ(refusal_of([](auto&) {}), "nothing");
  EXPECT_EQ(refusal_of([](auto& o) { o.period = 0ms; }),
            "completion_growth::period is 0 ns: it has to be 1 ms to 1 h");
  EXPECT_EQ(refusal_of([](auto& o) { o.looks = 3; }),
            "completion_growth::looks is 3: it has to be 4 to 1000");
  EXPECT_EQ(refusal_of([](auto& o) { o.saturated_share = 1.5; }),
            "completion_growth::saturated_share is 1.500000: it has to be above 0, at most 1");
  EXPECT_EQ(refusal_of([](auto& o) { o.saturated_periods = 0; }),
            "completion_growth::saturated_periods is 0: it has to be 1 to 1000000");
  EXPECT_EQ(refusal_of([](auto& o) { o.stalled_for = 0ms; }),
            "completion_growth::stalled_for is 0 ns: it has to be 1 ms to 1 h");
  EXPECT_EQ(refusal_of([](auto& o) { o.fit_share = 0.9; }),
            "completion_growth::fit_share is 0.900000: it has to be above 0, and below "
            "saturated_share");
  EXPECT_EQ(refusal_of([](auto& o) { o.fit_backlog = std::numeric_limits<double>::quiet_NaN(); }),
            "completion_growth::fit_backlog is nan: it has to be at least 0, and finite");
  EXPECT_EQ(refusal_of([](auto& o) { o.load_smoothing = 0; }),
            "completion_growth::load_smoothing is 0.000000: it has to be above 0, at most 1");
  EXPECT_EQ(refusal_of([](auto& o) { o.keep_alive = 25h; }),
            "completion_growth::keep_alive is 90000000000000 ns: it has to be 1 ms to 24 h");
  EXPECT_EQ(refusal_of([](auto& o) { o.max_back_off = 0; }),
            "completion_growth::max_back_off is 0: it has to be 1 to 1000");
}

/// TANDEM_IO_ADAPTIVE with that value while it lives.
class io_adaptive_is {
 public:
  explicit io_adaptive_is(const char* value) {
    if (const char* const before = std::getenv(name)) before_ = before;
    tandem::test::set_variable(name, value);
  }
  io_adaptive_is(const io_adaptive_is&) = delete;
  io_adaptive_is& operator=(const io_adaptive_is&) = delete;
  ~io_adaptive_is() {
    if (before_) {
      tandem::test::set_variable(name, before_->c_str());
    } else {
      tandem::test::unset_variable(name);
    }
  }

 private:
  static constexpr const char* name = "TANDEM_IO_ADAPTIVE";
  std::optional<std::string> before_;
};

TEST(completion_growth, the_environment_turns_it_off_and_is_refused_if_it_says_neither) {
  {
    const io_adaptive_is empty("");
    EXPECT_TRUE(completion_options().adaptive.enabled);
  }
  {
    const io_adaptive_is off("off");
    EXPECT_FALSE(completion_options().adaptive.enabled);
  }
  const io_adaptive_is wrong("maybe");
  try {
    const completion_options options;
    ADD_FAILURE();
  } catch (const std::invalid_argument& refused) {
    EXPECT_STREQ(refused.what(), "TANDEM_IO_ADAPTIVE is \"maybe\": \"on\" or \"off\" is needed");
  }
}

TEST(completion_growth, install_refuses_wrong_options) {
  test_runtime rt;
  completion_options options;
  options.adaptive.looks = 0;
  EXPECT_THROW(tandem::io::install(*rt, options), std::invalid_argument);
}

}  // namespace
