// completion_pool_test.cpp: set-up, batches, timers, start/stop without residue.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <source_location>
#include <stdexcept>
#include <string>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "io/support/io_support.hpp"
#include "system.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::completion_options;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::open_descriptors;
using tandem::test::test_runtime;

TEST(completion_pool, is_made_once_with_the_asked_number_of_threads) {
  test_runtime rt;
  tandem::io::completion_options options;
  options.min_threads = 3;
  options.adaptive = false;
  tandem::io::completion_pool& pool = tandem::io::install(*rt, options);
  EXPECT_EQ(pool.size(), 3U);
  EXPECT_EQ(&tandem::io::install(*rt), &pool);
  EXPECT_EQ(pool.stats().threads, 3U);
}

/// What install() says of options that `change` has made wrong.
template <class Change>
std::string refusal_of(Change change) {
  completion_options options;
  change(options);
  test_runtime rt;
  try {
    tandem::io::install(*rt, options);
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return "nothing";
}

task<std::string> file_that_spawned() {
  co_return tandem::current_environment()->spawned_at().file_name();
}

TEST(completion_pool, what_a_plain_thread_runs_is_named_after_its_own_line) {
  test_runtime rt;
  const std::string here = std::source_location::current().file_name();
  EXPECT_EQ(tandem::sync_wait(rt.workers(), file_that_spawned()), here);
  EXPECT_EQ(tandem::run(file_that_spawned()), here);
}

TEST(completion_pool, each_option_is_refused_by_its_own_name) {
  EXPECT_EQ(refusal_of([](auto& o) { o.min_threads = 0; }),
            "completion_options::min_threads is 0: it has to be between 1 and 1024");
  EXPECT_EQ(
      refusal_of([](auto& o) { o.min_threads = 3, o.max_threads = 2; }),
      "completion_options::max_threads is 2: it has to be between min_threads (3) and 1024, or "
      "0 for the usable CPUs");
  EXPECT_EQ(refusal_of([](auto& o) { o.ring_entries = 0; }),
            "completion_options::ring_entries is 0: it has to be at least 1");
  EXPECT_EQ(
      refusal_of([](auto& o) { o.receive_buffers = 12; }),
      "completion_options::receive_buffers is 12: it has to be a power of two of at most 32768");
  EXPECT_EQ(
      refusal_of([](auto& o) { o.max_receive_buffers = 8; }),
      "completion_options::max_receive_buffers is 8: it has to be between receive_buffers (512) "
      "and 65536");
  EXPECT_EQ(refusal_of([](auto& o) { o.receive_buffer_bytes = 0; }),
            "completion_options::receive_buffer_bytes is 0: it has to be at least 1");
  EXPECT_EQ(refusal_of([](auto& o) { o.stall_threshold = -1ms; }),
            "completion_options::stall_threshold is -1 ms: it has to be at least 0 (no watch)");
}

TEST(completion_pool, its_executors_run_jobs_where_they_say) {
  test_runtime rt;
  tandem::io::completion_options options;
  options.min_threads = 2;
  tandem::io::completion_pool& pool = tandem::io::install(*rt, options);
  for (unsigned i = 0; i < 2; ++i) {
    rt->spawn(pool.thread(i).executor(),
              [](unsigned expected) -> task<void> {
                for (int k = 0; k < 100; ++k) {
                  EXPECT_EQ(tandem::io::current_completion_index(), static_cast<int>(expected));
                  co_await tandem::sleep_for(10us);
                }
              }(i))
        .wait();
  }
  rt->spawn(pool.executor(),
            []() -> task<void> {
              EXPECT_GE(tandem::io::current_completion_index(), 0);
              EXPECT_THROW(tandem::run([]() -> task<void> { co_return; }()),
                           tandem::would_deadlock);
              co_return;
            }())
      .wait();
}

// Found by measuring: the child of a scope began at its parent's home, whatever executor was given.
TEST(completion_pool, a_child_of_a_scope_lives_where_it_was_spawned) {
  test_runtime rt;
  tandem::io::completion_options options;
  options.min_threads = 2;
  tandem::io::completion_pool& pool = tandem::io::install(*rt, options);
  const auto stays = [](int expected) -> task<void> {
    for (int k = 0; k < 100; ++k) {
      EXPECT_EQ(tandem::io::current_completion_index(), expected);
      co_await tandem::sleep_for(10us);
    }
  };
  rt.run([](tandem::io::completion_pool& where, auto child) -> task<void> {
    co_await tandem::with_scope([&where, &child](tandem::task_scope& scope) -> task<void> {
      scope.spawn(where.thread(0).executor(), child(0));
      co_await scope.spawn_when_free(where.thread(1).executor(), child(1));
      scope.spawn(child(-1));
    });
  }(pool, stays));
}

TEST(completion_pool, timers_are_driven_by_it_and_by_the_monitor_before) {
  test_runtime rt;
  rt.run([]() -> task<void> { co_await tandem::sleep_for(1ms); }());
  auto before = rt->spawn([]() -> task<void> { co_await tandem::sleep_for(30ms); }());
  tandem::io::install(*rt);
  auto after = rt->spawn([]() -> task<void> { co_await tandem::sleep_for(10ms); }());
  before.wait();
  after.wait();
}

// Found by review: the monitor, asleep until an old deadline, overwrote the new driver's state when
// it woke, and no timer fired any more.
TEST(completion_pool, takes_the_timers_over_from_a_monitor_that_sleeps) {
  test_runtime rt;
  auto old = rt->spawn([]() -> task<void> { co_await tandem::sleep_for(60ms); }());
  std::this_thread::sleep_for(10ms);  // the monitor sleeps until then
  tandem::io::install(*rt);
  (void)old.cancel();
  std::this_thread::sleep_for(100ms);  // past the monitor's wake; the completion thread sleeps
  rt->spawn([]() -> task<void> { co_await tandem::sleep_for(5ms); }()).wait();
}

// Never wake per completion: what one reap brings for the workers is one post.
TEST(completion_pool, a_batch_of_completions_is_handed_over_by_one_post) {
  test_runtime rt(1);
  tandem::io::completion_pool& pool = tandem::io::install(*rt, tandem::test::threads_between(1, 1));
  rt.run([](tandem::io::completion_pool& io) -> task<void> {
    constexpr std::size_t connections = 32;
    std::vector<connection> made;
    for (std::size_t i = 0; i < connections; ++i) made.push_back(co_await make_connection());
    std::uint64_t posts = 0;
    std::uint64_t completions = 0;
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      for (connection& each : made) {
        scope.spawn([](tcp_stream& s) -> task<void> {
          // Not a read, for which the worker would wait itself.
          co_await tandem::io::readable(s.native_handle());
        }(each.server));
      }
      while (io.stats().in_flight < connections) co_await tandem::yield();
      const auto before = io.stats();
      // The completion thread is kept busy while all bytes arrive, so one reap finds them all.
      std::atomic<bool> all_sent{false};
      auto busy = tandem::spawn(io.thread(0).executor(), [](std::atomic<bool>& sent) -> task<void> {
        while (!sent.load()) std::this_thread::yield();
        co_return;
      }(all_sent));
      for (connection& each : made) {
        const std::byte byte{7};
        EXPECT_EQ(co_await each.client.write(std::span(&byte, 1)),
                  1U);  // from the worker, directly
      }
      all_sent.store(true);
      co_await busy;
      co_await scope.join();
      const auto after = io.stats();
      posts = after.handed_over - before.handed_over;
      completions = after.completed - before.completed;
    });
    EXPECT_EQ(completions, connections);
    EXPECT_LE(posts, 3U);  // one for the batch; the helper task's own end may be among them
  }(pool));
}

TEST(completion_pool, start_stop_cycles_leave_no_thread_and_no_descriptor) {
  const auto cycle = [] {
    tandem::run(
        []() -> task<void> {
          connection c = co_await make_connection();
          std::byte byte{};
          co_await c.client.write_all(std::span(&byte, 1));
          co_await c.server.read(std::span(&byte, 1));
        }(),
        tandem::test::with_threads(2));
  };
  for (int i = 0; i < 20; ++i) cycle();
  const std::size_t descriptors = open_descriptors();
  const int cycles = tandem::test::cheap_threads() ? 500 : 20;
  for (int i = 0; i < cycles; ++i) cycle();
  EXPECT_EQ(open_descriptors(), descriptors);
}

}  // namespace
