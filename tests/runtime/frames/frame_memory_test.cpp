// frame_memory_test.cpp: what a burst has taken goes back once nobody runs, and then nothing happens any more.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <tandem/detail/frame_idle.hpp>
#include <tandem/detail/frame_memory.hpp>
#include <tandem/event.hpp>
#include <tandem/single_thread_executor.hpp>
#include <tandem/spawn.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/virtual_time.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "sanitized.hpp"
#include "system.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::detail::count_frame_store;
using tandem::detail::frame_idle;
using tandem::test::resident_bytes;
using tandem::test::rounds;
using tandem::test::test_runtime;
using tandem::test::with_threads;

constexpr std::size_t region_bytes = std::size_t{2} << 20;

class frame_memory : public testing::Test {
 protected:
  void SetUp() override {
    if (!TANDEM_KEEP_FRAMES) GTEST_SKIP() << "under AddressSanitizer no frame is kept";
  }
  void TearDown() override { set_idle_time(500ms); }

  static void set_idle_time(std::chrono::nanoseconds time) {
    tandem::detail::frame_idle_ns.store(time.count());
  }
};

/// So many tasks wait at once, then all end.
task<void> burst(int tasks) {
  tandem::event go;
  std::atomic<int> begun{0};
  const auto body = [&](tandem::task_scope& scope) -> task<void> {
    const auto waits = [](tandem::event& sign, std::atomic<int>& count) -> task<void> {
      ++count;
      co_await sign.wait();
    };
    for (int i = 0; i < tasks; ++i) scope.spawn(waits(go, begun));
    while (begun != tasks) co_await tandem::yield();
    go.set();
    co_return;
  };
  co_await tandem::with_scope(body);
}

/// Until whoever was awake last has given everything back. A hang is the failure.
void wait_until_given_back() {
  while (count_frame_store().mapped_bytes > region_bytes || tandem::detail::has_frames_to_trim()) {
    tandem::detail::trim_frame_cache();  // this thread is none of the runtime's
    std::this_thread::yield();
  }
}

TEST_F(frame_memory, after_a_million_tasks_the_process_is_as_small_as_before) {
  set_idle_time(1ms);
  test_runtime rt(2);
  rt.run(burst(1000));
  const std::size_t before = resident_bytes();
  const int tasks = rounds(1'000'000);
  rt.run(burst(tasks));
  const std::size_t mapped = count_frame_store().mapped_bytes;
  wait_until_given_back();
  const std::size_t after = resident_bytes();
  RecordProperty("before_kib", static_cast<int>(before / 1024));
  RecordProperty("after_kib", static_cast<int>(after / 1024));
  std::printf("resident: %zu KiB before, %zu KiB after; %zu KiB mapped at the end of the burst\n",
              before / 1024, after / 1024, mapped / 1024);
  if (!tandem::test::sanitized) {
    EXPECT_LE(after, 2 * before);
  }
}

/// Frames of this thread's, enough for several regions.
class many_frames {
 public:
  many_frames() : frames_(static_cast<std::size_t>(8) * region_bytes / bytes) {
    for (void*& each : frames_) each = tandem::detail::allocate_frame(bytes);
  }
  many_frames(const many_frames&) = delete;
  many_frames& operator=(const many_frames&) = delete;
  ~many_frames() {
    for (void* each : frames_) tandem::detail::free_frame(each, bytes);
  }

 private:
  static constexpr std::size_t bytes = 1000;
  std::vector<void*> frames_;
};

TEST_F(frame_memory, a_thread_that_lies_down_gives_back_once_and_then_lies_for_good) {
  constexpr std::int64_t now = 1'000;
  set_idle_time(500ns);
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    tandem::detail::trim_frame_store_for_good();
    frame_idle spell;
    spell.begin(now);
    EXPECT_EQ(spell.deadline_ns(), frame_idle::never) << "nothing is kept";
    { const many_frames gone; }
    EXPECT_GT(count_frame_store().mapped_bytes, region_bytes);
    spell.begin(now);
    EXPECT_EQ(spell.deadline_ns(), now + 500);
    EXPECT_FALSE(spell.is_due(now + 499));
    EXPECT_TRUE(spell.is_due(now + 500));
    for (int parts = 0; spell.is_due(now + 500) && parts < 100; ++parts) spell.give_back(true);
    EXPECT_EQ(count_frame_store().mapped_bytes, region_bytes);
    EXPECT_EQ(spell.deadline_ns(), frame_idle::never);
    spell.begin(now + 600);
    EXPECT_EQ(spell.deadline_ns(), frame_idle::never) << "it has given back everything";
    co_return;
  }());
}

TEST_F(frame_memory, what_a_thread_outside_frees_while_nobody_runs_goes_back_at_once) {
  auto held = std::make_unique<many_frames>();
  tandem::detail::trim_frame_store_for_good();
  EXPECT_GT(count_frame_store().mapped_bytes, 8 * region_bytes);
  // One that lives on, amid them: its region stays, but not what lies around it.
  void* const survivor = tandem::detail::allocate_frame(1000);
  held.reset();
  EXPECT_LE(count_frame_store().mapped_bytes, 2 * region_bytes);
  tandem::detail::free_frame(survivor, 1000);
  tandem::detail::trim_frame_store_for_good();
}

TEST_F(frame_memory, an_idle_thread_wakes_once_for_it_however_long_it_lies) {
  constexpr unsigned threads = 4;
  set_idle_time(1ms);
  test_runtime rt(threads);
  rt.run(burst(rounds(100'000)));
  wait_until_given_back();
  const std::uint64_t before = count_frame_store().idle_wakes;
  std::this_thread::sleep_for(100ms);  // too short, it only finds less
  EXPECT_LE(count_frame_store().idle_wakes - before, threads);
}

TEST_F(frame_memory, a_burst_again_and_again_costs_no_system_call_a_frame) {
  constexpr int bursts = 10;
  const int tasks = rounds(50'000);
  set_idle_time(1ms);
  test_runtime rt(2);
  const std::uint64_t before = count_frame_store().system_calls;
  for (int i = 0; i < bursts; ++i) {
    rt.run(burst(tasks));
    wait_until_given_back();  // the worst case: nothing is left of it when the next one comes
  }
  const std::uint64_t calls = count_frame_store().system_calls - before;
  EXPECT_GT(calls, 0U);
  EXPECT_LT(calls, static_cast<std::uint64_t>(bursts) * static_cast<std::uint64_t>(tasks) / 100);
}

TEST_F(frame_memory, while_tasks_run_a_load_that_swings_asks_the_system_for_nothing) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    const int tasks = rounds(20'000);
    co_await burst(tasks);
    const std::uint64_t before = count_frame_store().system_calls;
    for (int i = 0; i < 20; ++i) co_await burst(tasks);
    EXPECT_EQ(count_frame_store().system_calls, before);
  }());
}

TEST_F(frame_memory, a_single_thread_and_a_runtime_that_ends_give_back_too) {
  set_idle_time(1ms);
  {
    test_runtime rt(1);
    tandem::single_thread_executor own(*rt);
    tandem::sync_wait(own, burst(rounds(100'000)));
    wait_until_given_back();
  }
  set_idle_time(10h);
  {
    test_runtime rt(1);
    rt.run(burst(rounds(100'000)));
    EXPECT_GT(count_frame_store().mapped_bytes, region_bytes);
  }
  EXPECT_LE(count_frame_store().mapped_bytes, region_bytes);
}

TEST_F(frame_memory, a_worker_that_retires_before_it_has_lain_long_enough_gives_back_too) {
  set_idle_time(10h);
  tandem::runtime_options options = with_threads(1);
  options.keep_alive = 1ms;
  options.allow_core_timeout = true;
  test_runtime rt(options);
  rt.run(burst(rounds(100'000)));
  wait_until_given_back();
}

TEST_F(frame_memory, a_runtime_without_threads_gives_back_when_it_is_driven_again) {
  tandem::runtime rt(with_threads(0));
  set_idle_time(10h);
  auto ended = rt.spawn(burst(rounds(100'000)));
  while (!ended.is_done()) rt.run_until_idle();
  ended.wait();
  set_idle_time(0ns);
  rt.spawn(burst(1)).detach();
  rt.run_until_idle();  // it lies down
  EXPECT_GT(count_frame_store().mapped_bytes, region_bytes);
  // As often as its descriptor calls: until it has been said that nothing is left.
  while (tandem::detail::has_frames_to_trim()) (void)rt.poll();
  EXPECT_EQ(count_frame_store().mapped_bytes, region_bytes);
}

TEST_F(frame_memory, with_a_virtual_clock_a_run_that_ends_has_given_back) {
  set_idle_time(0ns);
  const std::uint64_t before = count_frame_store().idle_wakes;
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(1);
  tandem::runtime rt(options);
  tandem::sync_wait(rt.workers(), burst(rounds(100'000)));
  rt.run_until_idle();
  EXPECT_EQ(count_frame_store().mapped_bytes, region_bytes);
  EXPECT_EQ(count_frame_store().idle_wakes, before) << "nobody woke by the real clock";
}

}  // namespace
