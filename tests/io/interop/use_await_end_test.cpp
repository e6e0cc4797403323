// use_await_end_test.cpp: how awaits of operations of Asio start and end: calls, drops, and contexts that go or are stopped.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <tandem/as_result.hpp>
#include <tandem/spawn.hpp>

#include "io/interop/asio_flavour.hpp"
#include "runtime/support/sync_support.hpp"
#include "sanitized.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::use_await;
using tandem::test::net_code;
using tandem::test::operation;
using tandem::test::operation_at;
using tandem::test::test_runtime;

TEST(use_await, what_the_start_throws_is_thrown_by_the_await) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    bool thrown = false;
    try {
      co_await operation<void(int)>([](auto) { throw std::runtime_error("start"); });
    } catch (const std::runtime_error& error) {
      thrown = std::string(error.what()) == "start";
    }
    EXPECT_TRUE(thrown);
  }());
}

TEST(use_await, what_the_start_throws_waits_for_a_handler_that_is_under_way) {
  test_runtime rt;
  std::atomic<bool> may_call = false;
  std::atomic<bool> has_called = false;
  std::thread other;
  rt.run([&]() -> task<void> {
    try {
      (void)co_await operation<void(int)>([&](auto handler) {
        using kept = std::decay_t<decltype(handler)>;
        other = std::thread([&, held = std::make_unique<kept>(std::move(handler))] {
          while (!may_call) std::this_thread::yield();
          has_called = true;
          std::move (*held)(1);
        });
        may_call = true;
        throw std::runtime_error("late");
      });
      ADD_FAILURE();
    } catch (const std::runtime_error&) {
      EXPECT_TRUE(has_called);
    }
  }());
  other.join();
}

TEST(use_await, the_handler_may_be_called_by_any_thread_and_at_any_time) {
  test_runtime rt;
  rt.run([](test_runtime& at) -> task<void> {
    for (int i = 0; i < tandem::test::rounds(2000); ++i) {
      std::thread other;
      const int got = co_await operation<void(int)>([&](auto handler) {
        using kept = std::decay_t<decltype(handler)>;
        auto held = std::make_unique<kept>(std::move(handler));
        if (i % 2 != 0) return std::move(*held)(i);
        other = std::thread([i, mine = std::move(held)] { std::move (*mine)(i); });
      });
      if (other.joinable()) other.join();
      EXPECT_EQ(got, i);
      EXPECT_TRUE(at.workers().is_current());
    }
  }(rt));
}

TEST(use_await, a_handler_that_is_dropped_ends_the_await) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    auto got = co_await as_result(operation<void(int)>([](auto /*dropped*/) {}));
    EXPECT_EQ(got.error(), tandem::errc::callback_dropped);
    EXPECT_FALSE(got.is_cancelled());
    try {
      (void)co_await operation<void(int)>([](auto /*dropped*/) {});
      ADD_FAILURE();
    } catch (const std::system_error& error) {
      EXPECT_NE(std::string(error.what()).find("use_await"), std::string::npos);
    }
  }());
}

TEST(use_await, the_end_of_the_context_ends_the_await) {
  test_runtime rt(tandem::test::with_threads(1));
  std::vector<tandem::join_handle<void>> all;
  std::atomic<int> started = 0;
  {
    net::io_context io;
    const net::any_io_executor places[] = {
        io.get_executor(), net::make_strand(io),
        net::make_strand(net::any_io_executor(io.get_executor()))};
    for (const auto& place : places) {
      all.push_back(
          rt->spawn([](const net::any_io_executor& at, std::atomic<int>& count) -> task<void> {
            auto got = co_await as_result(operation_at<void()>(at, [&](auto handler) {
              net::post(at, std::move(handler));
              ++count;
            }));
            EXPECT_EQ(got.error(), tandem::errc::callback_dropped);
            EXPECT_FALSE(got.is_cancelled());
          }(place, started)));
    }
    all.push_back(rt->spawn([](net::io_context& at) -> task<void> {
      auto legacy = []() -> net::awaitable<int> {
        net::steady_timer timer(co_await net::this_coro::executor, 1h);
        co_await timer.async_wait(net::use_awaitable);
        co_return 1;
      };
      auto got = co_await as_result(net::co_spawn(at, legacy(), use_await));
      EXPECT_EQ(got.error(), tandem::errc::callback_dropped);
    }(io)));
    rt.run(tandem::test::settle());  // one thread: all of them wait now
    EXPECT_EQ(started, 1);           // those of strands start there, and never do
  }
  for (auto& each : all) each.wait();
}

TEST(use_await, the_end_of_the_context_after_a_stop_is_a_cancellation) {
  test_runtime rt;
  std::optional<net::io_context> io(std::in_place);
  std::atomic<bool> started = false;
  auto waits = rt->spawn([](net::io_context& at, std::atomic<bool>& has_started) -> task<void> {
    co_await operation_at<void()>(at.get_executor(), [&](auto handler) {
      net::post(at, std::move(handler));
      has_started = true;
    });
  }(*io, started));
  while (!started) std::this_thread::yield();
  waits.cancel();
  io.reset();
  EXPECT_THROW(waits.wait(), tandem::operation_cancelled);
}

/// What Asio's services are to an operation: the handler lies there, a stop reaches in, and at its
/// end it destroys handlers first, and itself then.
template <class Handler>
struct small_service {
  std::optional<Handler> handler;
  int asked = 0;
};

TEST(use_await, a_stop_never_reaches_into_a_context_that_has_dropped_the_handler) {
  test_runtime rt;
  for (int i = 0; i < tandem::test::rounds(4000); ++i) {
    std::atomic<std::function<void()>*> end = nullptr;
    auto waits = rt->spawn([](std::atomic<std::function<void()>*>& told) -> task<void> {
      std::function<void()> ends;
      co_await operation<void(net_code)>([&](auto handler) {
        using service = small_service<std::decay_t<decltype(handler)>>;
        auto* const own = new service();
        net::get_associated_cancellation_slot(handler).assign(
            [own](net::cancellation_type) { ++own->asked; });
        own->handler.emplace(std::move(handler));
        ends = [own] {
          own->handler.reset();
          delete own;
        };
        told = &ends;
      });
    }(end));
    std::function<void()>* ends = nullptr;
    while ((ends = end) == nullptr) std::this_thread::yield();
    std::thread ender([call = *ends] { call(); });
    waits.cancel();
    ender.join();
    EXPECT_ANY_THROW(waits.wait());
  }
}

/// An executor that whoever has sent it something leaves late: if it can, when the await is over.
class executor_left_late {
 public:
  struct state {
    std::atomic<bool> lasts = false;  // it does so from now on
    std::atomic<int> inside = 0;
    std::atomic<bool> over = false;
  };
  executor_left_late(net::io_context& io, state& of) noexcept : io_(&io), state_(&of) {}

  net::execution_context& query(net::execution::context_t /*which*/) const noexcept { return *io_; }
  executor_left_late require(net::execution::blocking_t::never_t /*how*/) const noexcept {
    return *this;
  }
  template <class F>
  void execute(F&& f) const {
    const bool lasts = state_->lasts;
    ++state_->inside;
    net::post(*io_, std::forward<F>(f));
    const auto until = std::chrono::steady_clock::now() + 200ms;
    while (lasts && !state_->over && std::chrono::steady_clock::now() < until) {
      std::this_thread::yield();
    }
    --state_->inside;
  }
  [[maybe_unused]] friend bool operator==(executor_left_late a, executor_left_late b) noexcept {
    return a.io_ == b.io_;
  }

 private:
  net::io_context* io_;
  state* state_;
};

TEST(use_await, is_not_over_before_whoever_has_started_it_has_left_the_context) {
  test_runtime rt(tandem::test::with_threads(2));
  tandem::test::running_context io;
  executor_left_late::state at_executor;
  rt.run([](net::io_context& own, executor_left_late::state& state) -> task<void> {
    const executor_left_late late(own, state);
    co_await operation_at<void()>(late, [&](auto handler) {
      auto executor = net::get_associated_executor(handler, late);
      executor.execute(std::move(handler));
      // It comes to the one thread of the context, and waits for the turn, which is the start's.
      std::atomic<bool> has_come = false;
      net::post(own, [&] { has_come = true; });
      while (!has_come) std::this_thread::yield();
      state.lasts = true;
    });
    EXPECT_EQ(state.inside, 0);
    state.over = true;
  }(*io, at_executor));
}

TEST(use_await, a_context_that_is_stopped_is_told_of) {
  test_runtime rt;
  net::io_context io;
  io.run();
  ASSERT_TRUE(io.stopped());
  const net::any_io_executor places[] = {io.get_executor(), net::make_strand(io),
                                         net::make_strand(net::any_io_executor(io.get_executor()))};
  for (const auto& place : places) {
    rt.run([](net::any_io_executor at) -> task<void> {
      net::steady_timer timer(at, 1ms);
      try {
        co_await timer.async_wait(use_await);
        ADD_FAILURE();
      } catch (const std::logic_error& error) {
        EXPECT_NE(std::string(error.what()).find("restart()"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("executor_work_guard"), std::string::npos);
      }
      auto got = co_await as_result(timer.async_wait(use_await));
      EXPECT_THROW(got.value(), std::logic_error);
    }(place));
  }
}

}  // namespace
