// times.cpp: coroutines that wait for a steady_timer each; a limit is `child() || timer` of awaitable_operators.
// SPDX-License-Identifier: MIT
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <variant>

#include "suite.hpp"

namespace tandem::bench::peer {

namespace {

using asio::use_awaitable;

asio::awaitable<void> sleep_for(std::chrono::nanoseconds limit) {
  asio::steady_timer timer(co_await asio::this_coro::executor, limit);
  co_await timer.async_wait(use_awaitable);
}

/// The context runs until all of them have ended.
asio::awaitable<void> sleeps(long n) {
  const auto executor = co_await asio::this_coro::executor;
  random_durations random;
  for (long i = 0; i < n; ++i) {
    asio::co_spawn(executor, sleep_for(std::chrono::nanoseconds(random.next_nanoseconds())),
                   [](std::exception_ptr) {});
  }
}

double sleep_cpu(int threads) {
  context on(threads);
  const long n = scaled(problems::sleep_1m.n);
  on(sleeps(1000));
  const double before = cpu_nanoseconds();
  on(sleeps(n));
  return (cpu_nanoseconds() - before) / static_cast<double>(n);
}

asio::awaitable<void> sleep_long(long& asleep) {
  asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::hours(1));
  ++asleep;
  co_await timer.async_wait(use_awaitable);
}

double sleep_memory(int) {
  asio::io_context io(1);
  const long n = scaled(problems::sleep_1m_memory.n);
  long asleep = 0;
  for (long i = 0; i < n; ++i) {
    asio::co_spawn(io, sleep_long(asleep), [](std::exception_ptr) {});
  }
  io.poll();
  expect_equal(asleep, n, "the number of sleeping tasks");
  return resident_megabytes();
}

asio::awaitable<long> ready(long value) { co_return value; }

asio::awaitable<long> yielding(long value) {
  co_await yield();
  co_return value;
}

template <auto Make>
asio::awaitable<void> limited(long n, int) {
  using namespace asio::experimental::awaitable_operators;
  asio::steady_timer timer(co_await asio::this_coro::executor);
  for (long i = 0; i < n; ++i) {
    timer.expires_after(std::chrono::hours(1));
    const auto first = co_await (Make(i) || timer.async_wait(use_awaitable));
    expect_equal(std::get<0>(first), i, "the result");
  }
}

}  // namespace

void add_times(case_list& cases) {
  cases.push_back(row(problems::sleep_1m, "asio", "peer", sleep_cpu));
  cases.push_back(row(problems::sleep_1m_memory, "asio", "peer", sleep_memory));
  cases.push_back(looped(problems::timeout_ready, limited<ready>));
  cases.push_back(looped(problems::timeout_yield, limited<yielding>));
  cases.push_back(looped(problems::allocs_timeout, limited<yielding>));
}

}  // namespace tandem::bench::peer
