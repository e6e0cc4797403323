// pool_end_test.cpp: what may still be asked of a completion pool that ends, or has ended.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <tandem/errors.hpp>
#include <tandem/io/install.hpp>
#include <tandem/runtime.hpp>
#include <tandem/runtime_metrics.hpp>
#include <tandem/sleep.hpp>
#include <thread>
#include <vector>

#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::completion_options;
using tandem::io::completion_pool;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::threads_between;

TEST(completion_pool, tells_its_numbers_after_its_end) {
  tandem::runtime rt;
  completion_pool& pool = tandem::io::install(rt);
  const std::string backend(pool.backend_name());
  rt.shutdown();
  EXPECT_EQ(pool.stats().threads, 0U);
  EXPECT_EQ(pool.stats().backend, backend);
  const auto families = rt.metrics().services;
  EXPECT_TRUE(std::any_of(families.begin(), families.end(), [](const auto& each) {
    return each.name == "tandem_completion_threads";
  }));
}

TEST(completion_pool, starts_no_thread_after_its_end) {
  tandem::runtime rt;
  completion_pool& pool = tandem::io::install(rt, threads_between(1, 3));
  rt.shutdown();
  EXPECT_THROW(pool.resize(3), tandem::runtime_stopped);
  EXPECT_EQ(pool.stats().threads, 0U);
}

TEST(completion_pool, who_is_told_of_a_stall_may_resize_it_even_while_it_ends) {
  std::atomic<bool> is_told{false};
  std::atomic<bool> ending{false};
  std::atomic<bool> refused{false};
  std::atomic<completion_pool*> pool{nullptr};
  {
    tandem::runtime rt;
    completion_options options = threads_between(1, 2);
    options.on_stall = [&](const tandem::io::stall_report&) {
      if (is_told.exchange(true)) return;
      pool.load()->resize(2);
      while (!ending) std::this_thread::sleep_for(1ms);
      std::this_thread::sleep_for(20ms);  // most likely the end waits for us by then
      try {
        pool.load()->resize(1);
      } catch (const tandem::runtime_stopped&) {
        refused = true;
      }
    };
    pool = &tandem::io::install(rt, options);
    rt.spawn(pool.load()->executor(),
             [](const std::atomic<bool>& told) -> task<void> {
               while (!told) std::this_thread::sleep_for(1ms);
               co_return;
             }(is_told))
        .wait();
    ending = true;
  }
  EXPECT_TRUE(refused || is_told);
}

/// Says that it waits, and how that ended.
task<void> read_one(tcp_stream& from, std::atomic<int>& began, std::atomic<int>& got,
                    std::atomic<int>& stopped) {
  std::array<std::byte, 1> one{};
  ++began;
  try {
    got += static_cast<int>(co_await from.read(one));
  } catch (const tandem::operation_cancelled&) {
    ++stopped;
  }
}

TEST(completion_pool, serves_tasks_that_wait_for_it_after_the_worker_pool_was_shut_down) {
  tandem::test::test_runtime rt;
  connection both = rt.run(make_connection());
  std::atomic<int> began{0};
  std::atomic<int> got{0};
  std::atomic<int> stopped{0};
  auto handle = rt->spawn(read_one(both.server, began, got, stopped));
  auto writes = rt->spawn(
      [](tcp_stream& to, std::atomic<int>& reader_began, tandem::worker_pool& pool) -> task<void> {
        while (reader_began == 0) co_await tandem::sleep_for(1ms);
        pool.shutdown();
        const std::array<std::byte, 1> one{};
        co_await to.write_all(one);
      }(both.client, began, rt.workers()));
  writes.wait();
  handle.wait();
  EXPECT_EQ(got.load(), 1);
  EXPECT_EQ(stopped.load(), 0);
  EXPECT_TRUE(rt.workers().await_termination(1h));
}

TEST(completion_pool, who_waits_for_it_after_a_shutdown_is_stopped_by_the_end_of_the_runtime) {
  for (const bool on_workers : {true, false}) {
    std::atomic<int> began{0};
    std::atomic<int> got{0};
    std::atomic<int> stopped{0};
    std::vector<connection> all;
    {
      tandem::test::test_runtime rt;
      completion_pool& pool = tandem::io::install(*rt, tandem::test::steady_threads());
      for (int i = 0; i < 10; ++i) all.push_back(rt.run(make_connection()));
      for (connection& each : all) {
        tandem::executor& home =
            on_workers ? static_cast<tandem::executor&>(rt.workers()) : pool.executor();
        rt->spawn(home, read_one(each.server, began, got, stopped)).detach();
      }
      while (began != 10) std::this_thread::sleep_for(1ms);
      rt.workers().shutdown();
      EXPECT_EQ(rt.workers().state(), tandem::pool_state::shutdown);
    }
    EXPECT_EQ(got.load(), 0);
    EXPECT_EQ(stopped.load(), 10);
  }
}

}  // namespace
