// both_flavours_test.cpp: standalone Asio and Boost.Asio in one file, one task and one runtime.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

// Asio 1.22 looks for the coroutines of a draft where clang has those of the standard.
#if defined(__clang__)
#define ASIO_HAS_CO_AWAIT 1
#define ASIO_HAS_STD_COROUTINE 1
#define BOOST_ASIO_HAS_CO_AWAIT 1
#define BOOST_ASIO_HAS_STD_COROUTINE 1
#endif

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <future>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <tandem/as_result.hpp>
#include <tandem/asio.hpp>
#include <tandem/boost_asio.hpp>
#include <tandem/spawn.hpp>
#include <tandem/when_all.hpp>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::spawn_into;
using tandem::task;
using tandem::use_await;
using tandem::test::test_runtime;

using standalone_socket = asio::local::stream_protocol::socket;
using boost_socket = boost::asio::local::stream_protocol::socket;

/// What both namespaces have by the same names.
template <class Socket, class Buffer, class Write, class Read>
task<void> send_and_read(Socket& from, Socket& to, Buffer buffer, Write write, Read read) {
  static constexpr std::string_view text = "hello";
  const std::size_t sent = co_await write(from, buffer(text.data(), text.size()));
  EXPECT_EQ(sent, text.size());
  std::array<char, 5> room{};
  const std::size_t got = co_await read(to, buffer(room.data(), room.size()));
  EXPECT_EQ(std::string_view(room.data(), got), text);
}

template <class Executor>
task<void> talk_standalone(Executor at) {
  standalone_socket near(at);
  standalone_socket far(at);
  asio::local::connect_pair(near, far);
  const auto buffer = [](auto* data, std::size_t size) { return asio::buffer(data, size); };
  const auto write = [](auto& to, auto bytes) { return asio::async_write(to, bytes, use_await); };
  const auto read = [](auto& from, auto bytes) { return asio::async_read(from, bytes, use_await); };
  co_await send_and_read(far, near, buffer, write, read);
}

template <class Executor>
task<void> talk_boost(Executor at) {
  boost_socket near(at);
  boost_socket far(at);
  boost::asio::local::connect_pair(near, far);
  const auto buffer = [](auto* data, std::size_t size) { return boost::asio::buffer(data, size); };
  const auto write = [](auto& to, auto bytes) {
    return boost::asio::async_write(to, bytes, use_await);
  };
  const auto read = [](auto& from, auto bytes) {
    return boost::asio::async_read(from, bytes, use_await);
  };
  co_await send_and_read(far, near, buffer, write, read);
}

TEST(both_flavours, a_task_awaits_operations_of_each) {
  test_runtime rt;
  asio::thread_pool standalone(1);
  boost::asio::thread_pool boosts(1);
  rt.run([](asio::thread_pool& one, boost::asio::thread_pool& other) -> task<void> {
    for (int i = 0; i < 20; ++i) {
      asio::steady_timer first(one, 0ms);
      boost::asio::steady_timer second(other, 0ms);
      co_await first.async_wait(use_await);
      co_await second.async_wait(use_await);
      co_await tandem::when_all(talk_standalone(one.get_executor()),
                                talk_boost(other.get_executor()));
    }
  }(standalone, boosts));
}

TEST(both_flavours, an_error_is_of_its_own_librarys_category) {
  test_runtime rt;
  asio::thread_pool standalone(1);
  boost::asio::thread_pool boosts(1);
  rt.run([](asio::thread_pool& one, boost::asio::thread_pool& other) -> task<void> {
    const std::error_code ends = asio::error_code(asio::error::eof);
    const std::error_code boost_ends = boost::system::error_code(boost::asio::error::eof);
    EXPECT_NE(&ends.category(), &boost_ends.category());
    char byte = 0;
    standalone_socket near(one);
    {
      standalone_socket far(one);
      asio::local::connect_pair(near, far);
    }
    const auto got = co_await as_result(near.async_read_some(asio::buffer(&byte, 1), use_await));
    EXPECT_EQ(got.error(), ends);
    boost_socket boost_near(other);
    {
      boost_socket far(other);
      boost::asio::local::connect_pair(boost_near, far);
    }
    const auto boost_got =
        co_await as_result(boost_near.async_read_some(boost::asio::buffer(&byte, 1), use_await));
    EXPECT_EQ(boost_got.error(), boost_ends);
  }(standalone, boosts));
}

task<void> wait_for_both(task<void> one, task<void> other) {
  co_await tandem::when_all(std::move(one), std::move(other));
}

TEST(both_flavours, a_stop_ends_operations_of_each) {
  test_runtime rt;
  asio::thread_pool standalone(1);
  boost::asio::thread_pool boosts(1);
  std::atomic<int> waiting = 0;
  const auto wait_in = [](auto timer, std::atomic<int>& count) -> task<void> {
    ++count;
    co_await timer.async_wait(use_await);
  };
  auto both = rt->spawn(wait_for_both(wait_in(asio::steady_timer(standalone, 1h), waiting),
                                      wait_in(boost::asio::steady_timer(boosts, 1h), waiting)));
  while (waiting != 2) std::this_thread::yield();
  both.cancel();
  EXPECT_THROW(both.wait(), tandem::operation_cancelled);
}

TEST(both_flavours, tasks_live_in_contexts_of_each_and_await_the_other) {
  test_runtime rt;
  asio::io_context standalone;
  boost::asio::io_context boosts;
  auto standalone_work = asio::make_work_guard(standalone);
  auto boost_work = boost::asio::make_work_guard(boosts);
  const auto visit = [](auto here, auto timer) -> task<std::thread::id> {
    const auto home = std::this_thread::get_id();
    for (int i = 0; i < 20; ++i) {
      co_await timer.async_wait(use_await);  // of the other context
      EXPECT_TRUE(here.running_in_this_thread());
      EXPECT_EQ(std::this_thread::get_id(), home);
    }
    co_return home;
  };
  std::promise<std::thread::id> first;
  std::promise<std::thread::id> second;
  spawn_into(*rt, standalone,
             visit(standalone.get_executor(), boost::asio::steady_timer(boosts, 0ms)),
             [&](std::exception_ptr failed, std::thread::id id) {
               EXPECT_EQ(failed, nullptr);
               first.set_value(id);
             });
  spawn_into(*rt, boosts, visit(boosts.get_executor(), asio::steady_timer(standalone, 0ms)),
             [&](std::exception_ptr failed, std::thread::id id) {
               EXPECT_EQ(failed, nullptr);
               second.set_value(id);
             });
  std::thread standalone_thread([&] { standalone.run(); });
  std::thread boost_thread([&] { boosts.run(); });
  EXPECT_EQ(first.get_future().get(), standalone_thread.get_id());
  EXPECT_EQ(second.get_future().get(), boost_thread.get_id());
  standalone_work.reset();
  boost_work.reset();
  standalone_thread.join();
  boost_thread.join();
}

TEST(both_flavours, an_executor_of_one_runtime_serves_both) {
  test_runtime rt;
  rt.run([](test_runtime& on) -> task<void> {
    const tandem::asio_executor executor(on.workers());
    const asio::any_io_executor standalone(executor);
    const boost::asio::any_io_executor boosts(executor);
    const auto strand = asio::make_strand(executor);
    const auto boost_strand = boost::asio::make_strand(executor);
    std::atomic<int> ran = 0;
    const auto count = [&] {
      EXPECT_TRUE(on.workers().is_current());
      ++ran;
    };
    for (int i = 0; i < 20; ++i) {
      asio::post(standalone, count);
      asio::post(strand, count);
      boost::asio::post(boosts, count);
      boost::asio::post(boost_strand, count);
      co_await asio::post(standalone, use_await);
      co_await boost::asio::post(boosts, use_await);
    }
    const auto give = [](tandem::executor& home, int value) -> task<int> {
      EXPECT_TRUE(home.is_current());
      co_return value;
    };
    EXPECT_EQ(co_await spawn_into(*on, standalone, give(on.workers(), 3), use_await), 3);
    EXPECT_EQ(co_await spawn_into(*on, boosts, give(on.workers(), 4), use_await), 4);
    co_await talk_standalone(standalone);
    co_await talk_boost(boosts);
    while (ran != 80) co_await boost::asio::post(boosts, use_await);
  }(rt));
}

}  // namespace
