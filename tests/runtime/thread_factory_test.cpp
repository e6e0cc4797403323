// thread_factory_test.cpp: who makes a pool's threads, how they are called, and what they do first and last (line 4).
// SPDX-License-Identifier: MIT
#include <tandem/thread_options.hpp>

#include <pthread.h>
#include <sched.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "recording_runtime.hpp"
#include "submit_support.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::cpu_placement;
using tandem::growth_order;
using tandem::join_handle;
using tandem::runtime_options;
using tandem::task;
using tandem::worker_pool;

std::string name_of_this_thread() {
  char name[16] = {};
  pthread_getname_np(pthread_self(), name, sizeof name);
  return name;
}

std::vector<unsigned> cpus_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<unsigned> cpus;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

/// What happened, in order; from any thread.
class journal {
 public:
  void write(std::string line) {
    const std::lock_guard guard(lock_);
    lines_.push_back(std::move(line));
  }
  std::vector<std::string> read() {
    const std::lock_guard guard(lock_);
    return lines_;
  }

 private:
  std::mutex lock_;
  std::vector<std::string> lines_;
};

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

TEST(thread_factory, line_4_workers_are_named_after_the_pool_and_their_number) {
  runtime_options options = pool_of(3, 3, growth_order::demand);
  options.name = "press";
  journal names;
  options.threads.on_start = [&](unsigned worker) {
    names.write(name_of_this_thread() + " is " + std::to_string(worker));
  };
  test_runtime rt(options);
  EXPECT_EQ(rt.workers().prestart_all_core_threads(), 3U);
  wait_until([&] { return names.read().size() == 3; });
  auto seen = names.read();
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (std::vector<std::string>{"press-0 is 0", "press-1 is 1", "press-2 is 2"}));
}

TEST(thread_factory, line_4_hooks_run_first_and_last_on_each_worker) {
  journal lines;
  {
    runtime_options options = pool_of(1, 1, growth_order::demand);
    options.threads.on_start = [&](unsigned worker) {
      lines.write("start " + std::to_string(worker));
    };
    options.threads.on_exit = [&](unsigned worker) {
      lines.write("exit " + std::to_string(worker));
    };
    options.on_terminated = [&] { lines.write("terminated"); };
    test_runtime rt(options);
    rt.run([](journal& to) -> task<void> {
      to.write("item");
      co_return;
    }(lines));
  }
  EXPECT_EQ(lines.read(), (std::vector<std::string>{"start 0", "item", "exit 0", "terminated"}));
}

TEST(thread_factory, line_4_every_thread_that_started_exits_before_the_pool_has_terminated) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> started{0};
    std::atomic<int> exited{0};
    int exited_at_end = -1;
    runtime_options options = pool_of(1, 6, growth_order::threads_first);
    options.keep_alive = 1us;  // some retire meanwhile
    options.threads.on_start = [&](unsigned) { ++started; };
    options.threads.on_exit = [&](unsigned) { ++exited; };
    options.on_terminated = [&] { exited_at_end = exited; };
    test_runtime rt(options);
    std::atomic<int> ran{0};
    std::vector<join_handle<void>> handles;
    for (int i = 0; i < 40; ++i) handles.push_back(rt.workers().submit(count_up(ran)));
    for (auto& each : handles) each.wait();
    rt.workers().shutdown();
    ASSERT_TRUE(rt.workers().await_termination(1h));
    EXPECT_GE(started.load(), 1);
    EXPECT_EQ(exited.load(), started.load());
    EXPECT_EQ(exited_at_end, started.load());
  }
}

TEST(thread_factory, line_4_a_thread_that_retires_exits_before_its_number_is_used_again) {
  std::atomic<int> inside{0};
  std::atomic<bool> twice{false};
  runtime_options options = pool_of(1, 1, growth_order::demand);
  options.allow_core_timeout = true;
  options.keep_alive = 1us;
  options.threads.on_start = [&](unsigned worker) {
    if (worker == 0 && ++inside != 1) twice = true;
  };
  options.threads.on_exit = [&](unsigned worker) {
    if (worker == 0) --inside;
  };
  test_runtime rt(options);
  std::atomic<int> ran{0};
  for (int i = 0; i < 50; ++i) {
    rt.workers().submit(count_up(ran)).wait();
    wait_until([&] { return rt.workers().stats().threads == 0; });
  }
  EXPECT_FALSE(twice.load());
}

TEST(thread_factory, line_4_what_a_hook_throws_is_reported_and_kills_no_worker) {
  runtime_options options = pool_of(1, 1, growth_order::demand);
  options.allow_core_timeout = true;
  options.keep_alive = 1ms;
  options.threads.on_start = [](unsigned) { throw std::runtime_error("start"); };
  options.threads.on_exit = [](unsigned) { throw std::runtime_error("exit"); };
  recording_runtime rt(options);
  std::atomic<int> ran{0};
  rt.run(count_up(ran));
  EXPECT_EQ(ran.load(), 1);
  wait_until([&] { return rt.suppressed() == std::vector<std::string>{"exit", "start"}; });
  rt.run(count_up(ran));
  EXPECT_EQ(ran.load(), 2);
}

TEST(thread_factory, line_4_what_hooks_spawn_runs) {
  std::atomic<int> ran{0};
  {
    std::atomic<tandem::runtime*> owner{nullptr};
    runtime_options options = pool_of(2, 2, growth_order::demand);
    options.allow_core_timeout = true;
    options.keep_alive = 1ms;
    const auto spawn_one = [&](unsigned) {
      if (ran.load() > 20) return;
      try {
        owner.load()->spawn(count_up(ran)).detach();
      } catch (const tandem::runtime_stopped&) {
        return;  // it had looked before the test was over
      }
    };
    options.threads.on_start = spawn_one;
    options.threads.on_exit = spawn_one;
    test_runtime rt(options);
    owner = &*rt;
    rt.workers().prestart_core_thread();
    wait_until([&] { return ran.load() > 20; });  // each brings the next
  }
}

TEST(thread_factory, line_4_a_hook_that_waits_for_the_runtime_is_told_so) {
  std::atomic<int> told{0};
  {
    std::atomic<tandem::runtime*> owner{nullptr};
    runtime_options options = pool_of(1, 1, growth_order::demand);
    const auto wait_for_all = [&](unsigned) {
      try {
        owner.load()->drain(1h);
      } catch (const tandem::would_deadlock&) {
        ++told;
      }
    };
    options.threads.on_start = wait_for_all;
    options.threads.on_exit = wait_for_all;
    test_runtime rt(options);
    owner = &*rt;
    rt.workers().prestart_core_thread();
  }
  EXPECT_EQ(told.load(), 2);
}

TEST(thread_factory, line_4_workers_run_where_they_are_told_to) {
  const std::vector<unsigned> allowed = cpus_of_this_thread();
  runtime_options options = pool_of(3, 3, growth_order::demand);
  options.threads.placement = cpu_placement::one_each;
  options.threads.cpus = {allowed.back(), allowed.front()};
  std::mutex lock;
  std::vector<std::pair<unsigned, std::vector<unsigned>>> seen;
  options.threads.on_start = [&](unsigned worker) {
    const std::lock_guard guard(lock);
    seen.emplace_back(worker, cpus_of_this_thread());
  };
  const auto count = [&] {
    const std::lock_guard guard(lock);
    return seen.size();
  };
  {
    test_runtime rt(options);
    EXPECT_EQ(rt.workers().prestart_all_core_threads(), 3U);
    wait_until([&] { return count() == 3; });
  }
  for (const auto& [worker, cpus] : seen) {
    EXPECT_EQ(cpus, std::vector<unsigned>{options.threads.cpus[worker % 2]});
  }
  seen.clear();
  options.threads.placement = cpu_placement::within;
  options.threads.cpus = {allowed.front()};
  test_runtime rt(options);
  EXPECT_TRUE(rt.workers().prestart_core_thread());
  wait_until([&] { return count() == 1; });
  EXPECT_EQ(seen.front().second, std::vector<unsigned>{allowed.front()});
  EXPECT_EQ(cpus_of_this_thread(), allowed);
}

TEST(thread_factory, line_4_cpus_that_do_not_exist_are_refused_by_name) {
  const auto refused = [](cpu_placement placement, std::vector<unsigned> cpus) {
    return refused_options([&](runtime_options& options) {
      options.threads.placement = placement;
      options.threads.cpus = std::move(cpus);
    });
  };
  EXPECT_NE(refused(cpu_placement::one_each, {999'999}).find("threads.cpus names CPU 999999"),
            std::string::npos);
  EXPECT_NE(refused(cpu_placement::within, {cpus_of_this_thread().front(), 100'000})
                .find("threads.cpus names CPU 100000"),
            std::string::npos);
  EXPECT_NE(refused(cpu_placement::within, {}).find("needs threads.cpus"), std::string::npos);
  EXPECT_NE(refused(cpu_placement::anywhere, {0}).find("threads.placement"), std::string::npos);
}

TEST(thread_factory, line_4_a_factory_makes_the_threads_and_gets_their_names) {
  journal names;
  runtime_options options = pool_of(2, 2, growth_order::demand);
  options.threads.factory = [&](std::function<void()> body, const std::string& name) {
    names.write(name);
    return std::thread(std::move(body));
  };
  journal inside;
  options.threads.on_start = [&](unsigned) {
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    const bool all = sigismember(&blocked, SIGPIPE) == 1 && sigismember(&blocked, SIGTERM) == 1;
    inside.write(name_of_this_thread() + (all ? " blocks signals" : " gets signals"));
  };
  test_runtime rt(options);
  EXPECT_EQ(rt.workers().prestart_all_core_threads(), 2U);
  EXPECT_EQ(names.read(), (std::vector<std::string>{"tandem-0", "tandem-1"}));
  wait_until([&] { return inside.read().size() == 2; });
  auto seen = inside.read();
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (std::vector<std::string>{"tandem-0 blocks signals", "tandem-1 blocks signals"}));
  sigset_t own;
  pthread_sigmask(SIG_BLOCK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGTERM), 0);
}

TEST(thread_factory, line_4_a_factory_that_fails_leaves_fewer_threads_and_all_counts_right) {
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

TEST(thread_factory, line_4_the_gate_asks_again_for_a_thread_that_could_not_be_made) {
  moody_factory factory(0);
  runtime_options options = pool_of(2, 8, growth_order::demand);
  options.adaptive.enabled = true;
  options.adaptive.gate_period = 5ms;
  options.adaptive.starvation_delay = 1h;  // nothing but the missing thread
  options.adaptive.starvation_busy_delay_per_thread = 1h;
  options.on_starvation = [](const tandem::starvation_report&) {};
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

TEST(thread_factory, line_4_a_pool_that_gets_no_thread_at_all_makes_one_itself) {
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

TEST(thread_factory, line_4_a_body_whose_factory_failed_does_nothing_wherever_it_runs) {
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

TEST(thread_factory, line_3_another_factory_and_other_hooks_are_for_threads_that_start_later) {
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
