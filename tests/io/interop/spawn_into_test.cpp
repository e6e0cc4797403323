// spawn_into_test.cpp: tasks of tandem that live in contexts of Asio's, and how those end.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tandem/as_result.hpp>
#include <tandem/detail/token_callback.hpp>
#include <tandem/event.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/shielded.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/when_all.hpp>
#include <tandem/with_stop.hpp>
#include <tandem/yield.hpp>

#include "io/interop/asio_flavour.hpp"
#include "io/support/io_support.hpp"
#include "refusal_text.hpp"
#include "sanitized.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::spawn_into;
using tandem::task;
using tandem::use_await;
using tandem::test::running_context;
using tandem::test::test_runtime;

task<int> give(int value) { co_return value; }
task<int> fail() {
  throw std::runtime_error("task");
  co_return 0;
}
task<void> give_nothing() { co_return; }
task<void> sleep_long() { co_await tandem::sleep_for(1h); }

TEST(spawn_into, values_and_exceptions_come_to_every_kind_of_token) {
  test_runtime rt;
  net::io_context io;
  int told = 0;
  spawn_into(*rt, io, give(3), [&](std::exception_ptr failed, int value) {
    EXPECT_EQ(failed, nullptr);
    EXPECT_EQ(value, 3);
    ++told;
  });
  spawn_into(
      *rt, io, []() -> task<void> { co_return; }(),
      [&](std::exception_ptr failed) {
        EXPECT_EQ(failed, nullptr);
        ++told;
      });
  spawn_into(*rt, io, fail(), [&](std::exception_ptr failed, int) {
    EXPECT_THROW(std::rethrow_exception(failed), std::runtime_error);
    ++told;
  });
  bool ran = false;
  spawn_into(
      *rt, io,
      [](bool& flag) -> task<void> {
        flag = true;
        co_return;
      }(ran),
      net::detached);
  std::future<int> future = spawn_into(*rt, io, give(4), net::use_future);
  std::future<int> failing = spawn_into(*rt, io, fail(), net::use_future);
  int from_coroutine = 0;
  net::co_spawn(
      io,
      [](tandem::runtime& owner, net::io_context& at, int& value) -> net::awaitable<void> {
        value = co_await spawn_into(owner, at, give(5), net::use_awaitable);
      }(*rt, io, from_coroutine),
      net::detached);
  io.run();
  EXPECT_EQ(told, 3);
  EXPECT_TRUE(ran);
  EXPECT_EQ(future.get(), 4);
  EXPECT_THROW(failing.get(), std::runtime_error);
  EXPECT_EQ(from_coroutine, 5);
}

TEST(spawn_into, awaits_of_its_context_go_on_inside_the_handler) {
  test_runtime rt;
  net::io_context io;
  const auto here = std::this_thread::get_id();
  bool later = false;  // not the task's own: it may have ended when this is set
  spawn_into(
      *rt, io,
      [](net::io_context& at, std::thread::id loop, bool& after) -> task<void> {
        EXPECT_EQ(std::this_thread::get_id(), loop);
        net::steady_timer timer(at, 1ms);
        co_await timer.async_wait(use_await);
        EXPECT_EQ(std::this_thread::get_id(), loop);
        // Posted before the handler: if the task were posted on, that would come first.
        timer.expires_after(0ms);
        co_await tandem::test::operation_at<void()>(at.get_executor(), [&](auto handler) {
          net::post(at, [&at, &after, handler = std::move(handler)]() mutable {
            net::post(at, [&after] { after = true; });
            std::move(handler)();
          });
        });
        EXPECT_FALSE(after);
        co_await tandem::resume_on(tandem::workers());
        EXPECT_NE(std::this_thread::get_id(), loop);
        co_await tandem::yield();
        EXPECT_NE(std::this_thread::get_id(), loop);
        co_return;
      }(io, here, later),
      net::detached);
  bool back = false;
  spawn_into(
      *rt, io,
      [](std::thread::id loop, bool& flag) -> task<void> {
        co_await []() -> task<void> { co_await tandem::resume_on(tandem::workers()); }();
        EXPECT_EQ(std::this_thread::get_id(), loop);
        flag = true;
      }(here, back),
      net::detached);
  io.run();
  EXPECT_TRUE(back);
}

TEST(spawn_into, a_slot_stops_the_task) {
  test_runtime rt;
  for (const auto type : {net::cancellation_type::terminal, net::cancellation_type::partial,
                          net::cancellation_type::total}) {
    net::io_context io;
    net::cancellation_signal signal;
    bool told = false;
    spawn_into(*rt, io, sleep_long(),
               net::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr failed) {
                 EXPECT_THROW(std::rethrow_exception(failed), tandem::operation_cancelled);
                 told = true;
               }));
    net::post(io, [&] { signal.emit(type); });
    io.run();
    EXPECT_TRUE(told);
  }
  // Before it has begun.
  net::io_context io;
  net::cancellation_signal signal;
  bool told = false;
  spawn_into(*rt, io, sleep_long(),
             net::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr failed) {
               EXPECT_NE(failed, nullptr);
               told = true;
             }));
  signal.emit(net::cancellation_type::terminal);
  io.run();
  EXPECT_TRUE(told);
}

TEST(spawn_into, bad_use_is_told_of) {
  net::io_context io;
  const auto says = [](auto call, const char* part) {
    const std::string refusal = tandem::test::refusal_of<std::logic_error>(call);
    EXPECT_TRUE(tandem::test::has(refusal, part)) << refusal;
  };
  says([&] { spawn_into(io, give(1), net::detached); }, "spawn_into(runtime, context, ...)");
  test_runtime rt;
  io.run();
  says([&] { spawn_into(*rt, io, give(1), net::detached); }, "restart()");
}

/// Counts how many there are.
struct counted {
  explicit counted(std::atomic<int>& of) : live(&of) { ++*live; }
  counted(const counted& other) : live(other.live) { ++*live; }
  counted(counted&& other) noexcept : live(other.live) { ++*live; }
  counted& operator=(const counted&) = delete;
  ~counted() { --*live; }
  std::atomic<int>* live;
};

task<void> hold_and(task<void> inner, counted /*mine*/) { co_await std::move(inner); }

task<void> wait_for_timer(net::any_io_executor at) {
  net::steady_timer timer(at, 1h);
  co_await timer.async_wait(use_await);
}
task<void> wait_in_many() { co_await tandem::when_all(sleep_long(), sleep_long()); }
task<void> read_of_tandem(tandem::io::tcp_stream& stream) {
  std::array<std::byte, 8> bytes;
  (void)co_await stream.read(bytes);
}
/// Out of reach of the stop, but not over before it has come.
task<void> finish_shielded(std::atomic<int>& finished) {
  const auto body = [&](std::stop_token stop) -> task<void> {
    co_await tandem::shielded([](std::stop_token token, std::atomic<int>& done) -> task<void> {
      tandem::event stopped;
      const tandem::detail::token_callback<std::function<void()>> on_stop(token,
                                                                          [&] { stopped.set(); });
      co_await stopped.wait();
      co_await tandem::sleep_for(10ms);
      ++done;
    }(std::move(stop), finished));
  };
  co_await tandem::with_stop_token(body);
}
task<void> run_on_workers() {
  co_await tandem::resume_on(tandem::workers());
  co_await tandem::sleep_for(1h);
}

TEST(spawn_into, the_end_of_the_context_ends_its_tasks) {
  test_runtime rt;
  for (const bool runs : {true, false}) {
    for (int place = 0; place < 4; ++place) {
      std::atomic<int> live = 0;
      std::atomic<int> finished = 0;
      std::atomic<int> told = 0;
      auto pair = rt.run(tandem::test::make_connection());
      {
        net::io_context io;
        net::any_io_executor at = io.get_executor();
        if (place == 1) at = net::make_strand(io);
        if (place == 2) at = net::make_strand(net::any_io_executor(io.get_executor()));
        const auto into = [&](task<void> body) {
          const auto handler = [mine = counted(live), &told](std::exception_ptr) { ++told; };
          if (place == 3) {
            spawn_into(*rt, io.get_executor(), hold_and(std::move(body), counted(live)), handler);
          } else {
            spawn_into(*rt, at, hold_and(std::move(body), counted(live)), handler);
          }
        };
        into(wait_for_timer(at));
        into(sleep_long());
        into(wait_in_many());
        into(read_of_tandem(pair.server));
        into(finish_shielded(finished));
        into(run_on_workers());
        for (int i = 0; i < 10; ++i) into(give_nothing());
        while (runs && told < 10) io.run_for(2ms);
      }
      EXPECT_EQ(live, 0) << place;
      EXPECT_EQ(finished, 1);
      EXPECT_EQ(told, runs ? 10 : 0);
    }
  }
  EXPECT_EQ(rt->live_tasks(), 0u);
}

TEST(spawn_into, many_tasks_in_a_context_of_many_threads) {
  test_runtime rt;
  std::atomic<int> ended = 0;
  constexpr int tasks = 64;
  {
    running_context io(4);
    for (int i = 0; i < tasks; ++i) {
      spawn_into(
          *rt, *io,
          [](net::io_context& at, int number) -> task<void> {
            int count = 0;  // by the task's home, so that ThreadSanitizer sees who else does
            const auto step = [&]() -> task<void> {
              net::steady_timer timer(at);
              for (int k = 0; k < 20; ++k) {
                timer.expires_after(std::chrono::microseconds((number + k) % 3 * 10));
                co_await timer.async_wait(use_await);
                ++count;
              }
            };
            co_await tandem::when_all(step(), step(), step(), step());
            EXPECT_EQ(count, 80);
          }(*io, i),
          [&](std::exception_ptr failed) {
            EXPECT_EQ(failed, nullptr);
            ++ended;
          });
    }
  }
  EXPECT_EQ(ended, tasks);
}

TEST(spawn_into, at_an_executor_of_tandem_the_task_lives_there) {
  test_runtime rt;
  const tandem::asio_executor on(rt.workers());
  EXPECT_EQ(spawn_into(*rt, on, give(8), net::use_future).get(), 8);
  auto lives = spawn_into(
      *rt, on,
      [](tandem::executor& home) -> task<bool> { co_return home.is_current(); }(rt.workers()),
      net::use_future);
  EXPECT_TRUE(lives.get());
  auto nested = rt.run([](tandem::asio_executor at) -> task<int> {
    co_return co_await spawn_into(at, give(9), use_await);
  }(on));
  EXPECT_EQ(nested, 9);
}

}  // namespace
