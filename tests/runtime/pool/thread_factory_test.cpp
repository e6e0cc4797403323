// thread_factory_test.cpp: who makes a pool's threads, and what becomes of it when none is made.
// SPDX-License-Identifier: MIT
#include <tandem/thread_options.hpp>


#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <tandem/runtime.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/pool/thread_support.hpp"
#include "runtime/support/submit_support.hpp"
#include "waits.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::growth_order;
using tandem::join_handle;
using tandem::runtime_options;
using tandem::worker_pool;

/// A factory that fails as often as it is told.
class moody_factory {
 public:
  explicit moody_factory(int failures) : failures_(failures) {}

  tandem::thread_options::factory_function function() {
    return [this](std::function<void()> body, const std::string& name) -> std::thread {
      ++asked_;
      if (failures_.fetch_sub(1) > 0) {
        if (asked_ % 2 == 0) return {};  // says nothing
        throw std::runtime_error("no thread for " + name);
      }
      ++made_;
      return std::thread(std::move(body));
    };
  }
  void fail(int times) { failures_ = times; }
  int asked() const { return asked_; }
  int made() const { return made_; }

 private:
  std::atomic<int> failures_;
  std::atomic<int> asked_{0};
  std::atomic<int> made_{0};
};

TEST(thread_factory, a_factory_makes_the_threads_and_gets_their_names) {
  journal names;
  runtime_options options = pool_of(2, 2, growth_order::demand);
  options.threads.factory = [&](std::function<void()> body, const std::string& name) {
    names.write(name);
    return std::thread(std::move(body));
  };
  journal inside;
  options.threads.on_start = [&](unsigned) {
    inside.write(name_of_this_thread() + (blocks_signals() ? " blocks signals" : " gets signals"));
  };
  test_runtime rt(options);
  EXPECT_EQ(rt.workers().prestart_all_core_threads(), 2U);
  EXPECT_EQ(names.read(), (std::vector<std::string>{"tandem-0", "tandem-1"}));
  wait_until([&] { return inside.read().size() == 2; });
  auto seen = inside.read();
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (std::vector<std::string>{"tandem-0 blocks signals", "tandem-1 blocks signals"}));
  EXPECT_TRUE(!blocks_signals() || !has_signals());
}

// Found by review: a thread counted as searching while its hook ran, and nobody else was woken
// meanwhile.
TEST(thread_factory, nobody_waits_for_the_start_hook_of_another_thread) {
  tandem::test::latch all_start(4);
  runtime_options options = pool_of(4, 4, growth_order::demand);
  options.threads.on_start = [&](unsigned) { all_start.arrive_and_wait(); };
  test_runtime rt(options);
  std::atomic<int> ran{0};
  std::vector<join_handle<void>> handles;
  for (int i = 0; i < 4; ++i) handles.push_back(rt->spawn(count_up(ran)));
  for (auto& each : handles) each.wait();
  EXPECT_EQ(ran, 4);
}

TEST(thread_factory, a_factory_that_fails_leaves_fewer_threads_and_all_counts_right) {
  for (const growth_order growth :
       {growth_order::demand, growth_order::queue_first, growth_order::threads_first}) {
    moody_factory factory(0);
    runtime_options options = pool_of(4, 4, growth);
    options.threads.factory = factory.function();
    test_runtime rt(options);
    worker_pool& pool = rt.workers();
    EXPECT_TRUE(pool.prestart_core_thread());
    factory.fail(1'000'000'000);
    // More often than there are numbers for workers: none is lost.
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(pool.prestart_core_thread());
    gate closed;
    std::vector<join_handle<void>> handles;
    for (int i = 0; i < 4; ++i) handles.push_back(pool.submit(closed.block()));
    wait_until([&] { return closed.inside() == 1; });
    const auto fewer = pool.stats();
    EXPECT_EQ(fewer.threads, 1U);
    EXPECT_EQ(fewer.idle, 0U);
    EXPECT_EQ(fewer.submissions, 3U);
    EXPECT_EQ(factory.made(), 1);
    EXPECT_GE(factory.asked(), 21);

    factory.fail(0);
    std::atomic<int> ran{0};
    wait_until([&] {  // whoever posts asks again
      handles.push_back(pool.submit(count_up(ran)));
      return pool.stats().threads == 4;
    });
    wait_until([&] { return closed.inside() == 4; });
    closed.open();
    for (auto& each : handles) each.wait();
    wait_until([&] { return pool.stats().idle == 4; });
    EXPECT_EQ(pool.stats().searching, 0U);
    EXPECT_EQ(pool.stats().threads, 4U);
    EXPECT_EQ(factory.made(), 4);
  }
}

TEST(thread_factory, the_gate_asks_again_for_a_thread_that_could_not_be_made) {
  moody_factory factory(0);
  runtime_options options = pool_of(2, 8, growth_order::demand);
  options.adaptive.enabled = true;
  options.adaptive.gate_period = 5ms;
  options.adaptive.starvation_delay = 1h;  // nothing but the missing thread
  options.adaptive.starvation_busy_delay_per_thread = 1h;
  options.log_starvation = false;
  options.threads.factory = factory.function();
  test_runtime rt(options);
  EXPECT_TRUE(rt.workers().prestart_core_thread());
  factory.fail(3);
  gate closed;
  auto first = rt.workers().submit(closed.block());
  wait_until([&] { return closed.inside() == 1; });
  auto second = rt.workers().submit(closed.block());  // nobody posts any more
  wait_until([&] { return closed.inside() == 2; });
  closed.open();
  first.wait();
  second.wait();
}

TEST(thread_factory, a_pool_that_gets_no_thread_at_all_makes_one_itself) {
  moody_factory factory(1'000'000'000);
  runtime_options options = pool_of(2, 2, growth_order::demand);
  options.threads.factory = factory.function();
  test_runtime rt(options);
  std::atomic<int> ran{0};
  for (int i = 0; i < 10; ++i) rt.run(count_up(ran));
  EXPECT_EQ(ran.load(), 10);
  EXPECT_EQ(rt.workers().stats().threads, 1U);
  EXPECT_EQ(factory.made(), 0);
}

TEST(thread_factory, a_body_whose_factory_failed_does_nothing_wherever_it_runs) {
  std::function<void()> kept;
  std::thread stray;
  runtime_options options = pool_of(2, 2, growth_order::demand);
  std::atomic<int> asked{0};
  options.threads.factory = [&](std::function<void()> body, const std::string&) -> std::thread {
    const int before = asked++;
    if (before == 0) return std::thread(body);
    if (before == 1) {
      kept = body;
      stray = std::thread(body);  // already runs when the factory gives up
    }
    throw std::runtime_error("changed its mind");
  };
  {
    test_runtime rt(options);
    EXPECT_TRUE(rt.workers().prestart_core_thread());
    EXPECT_FALSE(rt.workers().prestart_core_thread());
    EXPECT_EQ(rt.workers().stats().threads, 1U);
    kept();
    stray.join();
    EXPECT_EQ(rt.workers().stats().threads, 1U);
    std::atomic<int> ran{0};
    rt.run(count_up(ran));
  }
  kept();  // the pool is gone
}

TEST(thread_factory, another_factory_and_other_hooks_are_for_threads_that_start_later) {
  journal lines;
  const auto hooks = [&](const std::string& name) {
    tandem::thread_options made;
    made.on_start = [&lines, name](unsigned) { lines.write(name + " start"); };
    made.on_exit = [&lines, name](unsigned) { lines.write(name + " exit"); };
    return made;
  };
  runtime_options options = pool_of(1, 1, growth_order::demand);
  options.allow_core_timeout = true;
  options.threads = hooks("old");
  test_runtime rt(options);
  std::atomic<int> ran{0};
  rt.run(count_up(ran));
  tandem::pool_change change;
  change.threads = hooks("new");
  change.keep_alive = 1ms;
  rt.workers().reconfigure(change);
  wait_until([&] { return lines.read().size() == 2; });
  change = tandem::pool_change();
  change.keep_alive = 1h;
  rt.workers().reconfigure(change);
  rt.run(count_up(ran));
  EXPECT_EQ(lines.read(), (std::vector<std::string>{"old start", "old exit", "new start"}));
}

}  // namespace
