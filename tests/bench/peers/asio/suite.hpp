// suite.hpp: the cases of suite sync that Asio has, and the threads that run its coroutines.
// SPDX-License-Identifier: MIT
#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <exception>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "../../sync/problems.hpp"

namespace tandem::bench::peer {

void add_channels(case_list& cases);
void add_groups(case_list& cases);
void add_times(case_list& cases);

/// An io_context that this many threads run until it has nothing left to do.
class context {
 public:
  explicit context(int threads) : threads_(threads), io_(threads) {}

  void operator()(asio::awaitable<void> root) {
    std::exception_ptr failure;
    asio::co_spawn(io_, std::move(root),
                   [&failure](std::exception_ptr thrown) { failure = std::move(thrown); });
    io_.restart();
    {
      std::vector<std::jthread> others;
      for (int i = 1; i < threads_; ++i) others.emplace_back([this] { io_.run(); });
      io_.run();
    }
    if (failure) std::rethrow_exception(failure);
  }

 private:
  int threads_;
  asio::io_context io_;
};

/// A loop of coroutines that want to know how many threads there are.
using body = asio::awaitable<void> (*)(long n, int threads);

inline bench_case looped(const problem& of, body make) {
  const bool counts = std::string(of.unit) == "allocations/op";
  return row(of, "asio", "peer", [of, counts, make](int threads) {
    context on(threads);
    const loop work = [&](long n) { on(make(n, threads)); };
    return counts ? allocations(scaled(of.n), work) : nanoseconds(scaled(of.n), work);
  });
}

/// Lets the others that are ready go first.
inline asio::awaitable<void> yield() {
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
}

}  // namespace tandem::bench::peer
