// groups.cpp: make_parallel_group for a fixed number of children, else co_spawn and a count; cancellation signals.
// SPDX-License-Identifier: MIT
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/deferred.hpp>
#include <asio/experimental/parallel_group.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <list>
#include <tuple>

#include "suite.hpp"

namespace tandem::bench::peer {

namespace {

using asio::use_awaitable;
using asio::experimental::deferred;
using asio::experimental::make_parallel_group;
using asio::experimental::wait_for_all;

asio::awaitable<long> ready(long value) { co_return value; }

asio::awaitable<long> yielding(long value) {
  co_await yield();
  co_return value;
}

template <class Make, std::size_t... I>
asio::awaitable<long> all_of(Make make, std::index_sequence<I...>) {
  const auto executor = co_await asio::this_coro::executor;
  auto group = make_parallel_group(asio::co_spawn(executor, make(I), deferred)...);
  auto ended = co_await group.async_wait(wait_for_all(), use_awaitable);
  // The order of completion, then an exception and a value of each child.
  co_return (std::get<2 * I + 2>(ended) + ...);
}

template <auto Make>
asio::awaitable<void> groups_of(long n, int) {
  for (long i = 0; i < n; ++i) {
    const long sum = co_await all_of(Make, std::make_index_sequence<8>());
    expect_equal(sum, 28L, "the sum");
  }
}

asio::awaitable<void> store(long& at, long value) {
  at = value;
  co_return;
}

asio::awaitable<void> scopes(long n, int) {
  const auto executor = co_await asio::this_coro::executor;
  std::vector<long> values(problems::scope_size);
  for (long i = 0; i < n / problems::scope_size; ++i) {
    std::atomic<long> left{problems::scope_size};
    for (long value = 0; value < problems::scope_size; ++value) {
      asio::co_spawn(executor, store(values[static_cast<std::size_t>(value)], value),
                     [&](std::exception_ptr) { left.fetch_sub(1); });
    }
    // On one thread as on several: whoever joins gives way until the children are done.
    while (left.load() != 0) co_await yield();
    long sum = 0;
    for (const long value : values) sum += value;
    expect_equal(sum, problems::scope_size * (problems::scope_size - 1) / 2, "the sum");
  }
}

asio::awaitable<void> sleep_long(long& asleep) {
  asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::hours(1));
  ++asleep;
  co_await timer.async_wait(asio::experimental::as_tuple(use_awaitable));
}

/// A signal for each task, since an operation has one slot. One thread: signals are not
/// thread-safe.
asio::awaitable<void> cancel_once(long total, double& taken) {
  const auto executor = co_await asio::this_coro::executor;
  std::list<asio::cancellation_signal> signals;
  long asleep = 0, left = total;
  for (long i = 0; i < total; ++i) {
    asio::co_spawn(executor, sleep_long(asleep),
                   asio::bind_cancellation_slot(signals.emplace_back().slot(),
                                                [&left](std::exception_ptr) { --left; }));
  }
  while (asleep < total) co_await yield();
  co_await yield();
  const auto start = std::chrono::steady_clock::now();
  for (asio::cancellation_signal& signal : signals) signal.emit(asio::cancellation_type::terminal);
  while (left != 0) co_await yield();
  taken +=
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

bench_case cancel(problem of, int passes) {
  of.threads = 1;
  return row(of, "asio", "peer", [of, passes](int threads) {
    context on(threads);
    double taken = 0;
    on(cancel_once(scaled(of.n), taken));
    taken = 0;
    for (int i = 0; i < passes; ++i) on(cancel_once(scaled(of.n), taken));
    return taken / (static_cast<double>(scaled(of.n)) * passes);
  });
}

}  // namespace

void add_groups(case_list& cases) {
  cases.push_back(looped(problems::when_all_8_ready, groups_of<ready>));
  cases.push_back(looped(problems::when_all_8_yield, groups_of<yielding>));
  cases.push_back(looped(problems::scope_1000, scopes));
  cases.push_back(cancel(problems::cancel_10k, 20));
  cases.push_back(cancel(problems::cancel_100k, 3));
  cases.push_back(looped(problems::allocs_when_all, groups_of<yielding>));
  cases.push_back(looped(problems::allocs_scope, scopes));
}

}  // namespace tandem::bench::peer
