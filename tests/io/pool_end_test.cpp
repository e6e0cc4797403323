// pool_end_test.cpp: what may still be asked of a completion pool that ends, or has ended.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <tandem/errors.hpp>
#include <tandem/io/install.hpp>
#include <tandem/runtime.hpp>
#include <tandem/runtime_metrics.hpp>
#include <thread>

#include "io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::completion_options;
using tandem::io::completion_pool;
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

}  // namespace
