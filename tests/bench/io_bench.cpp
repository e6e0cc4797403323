// io_bench.cpp: suite io: an echo over loopback inside one process, and I/O beside a search that holds the workers.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <chrono>
#include <tandem/fork_join.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/sleep.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

#include "bench.hpp"
#include "io/files.hpp"
#include "io/walks.hpp"

namespace {

using tandem::task;
using tandem::io::endpoint;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;

task<void> serve(tcp_stream stream) {
  std::vector<std::byte> buffer(4096);
  while (const std::size_t n = co_await stream.read(buffer)) {
    co_await stream.write_all(std::span(buffer).first(n));
  }
}

task<void> ask(tcp_stream& stream, int rounds) {
  std::byte message[64] = {};
  for (int i = 0; i < rounds; ++i) {
    co_await stream.write_all(message);
    std::size_t have = 0;
    while (have < sizeof message) have += co_await stream.read(std::span(message).subspan(have));
  }
}

enum class home { completion_thread, workers };

/// Client and server in one process: microseconds for a round trip of 64 bytes on each connection.
task<double> echo(home where, int connections, int rounds) {
  tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
  std::vector<tcp_stream> clients;
  double taken = 0;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    for (int i = 0; i < connections; ++i) {
      clients.push_back(co_await tcp_stream::connect(listener.local_endpoint()));
      tcp_stream server = co_await listener.accept();
      tandem::executor& thread = server.thread_executor();
      if (where == home::completion_thread) {
        scope.spawn(thread, serve(std::move(server)));
      } else {
        scope.spawn(serve(std::move(server)));
      }
    }
    const auto start = std::chrono::steady_clock::now();
    std::vector<task<void>> asking;
    for (tcp_stream& client : clients) asking.push_back(ask(client, rounds));
    co_await tandem::fork_join(std::move(asking));
    taken =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    clients.clear();
  });
  co_return taken / (static_cast<double>(rounds) * connections);
}

double run_echo(int threads, home where, int connections, int rounds) {
  tandem::runtime_options options;
  options.min_threads = static_cast<unsigned>(threads);
  tandem::runtime rt(options);
  tandem::io::install(rt);
  return tandem::sync_wait(rt.workers(), echo(where, connections, rounds));
}

task<void> endless(std::atomic<bool>& stop, int depth) {
  if (depth == 0 || stop.load(std::memory_order_relaxed)) co_return;
  co_await tandem::fork_join(endless(stop, depth - 1), endless(stop, depth - 1));
}

/// Worst of 100 round trips, in milliseconds, while a recursion without end holds all workers.
double beside_a_search(int threads, home where) {
  tandem::runtime_options options;
  options.min_threads = static_cast<unsigned>(threads);
  tandem::runtime rt(options);
  tandem::io::completion_pool& pool = tandem::io::install(rt);
  std::atomic<bool> stop{false};
  auto search = rt.spawn(endless(stop, 60));
  tandem::executor& place =
      where == home::workers ? static_cast<tandem::executor&>(rt.workers()) : pool.executor();
  const double worst = tandem::sync_wait(place, [](home w) -> task<double> {
    double most = 0;
    for (int i = 0; i < 100; ++i) {
      const double us = co_await echo(w, 1, 1);
      most = std::max(most, us / 1000);
      co_await tandem::sleep_for(std::chrono::milliseconds(1));
    }
    co_return most;
  }(where));
  stop.store(true);
  search.wait();
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  const auto confined = home::completion_thread;
  std::vector<tandem::bench::bench_case> cases = {
      {"echo_1",
       "tandem",
       "self",
       "us/round trip",
       "lower",
       "1 connection, 64 B, home: completion thread",
       {1},
       [=](int t) { return run_echo(t, confined, 1, 20'000); }},
      {"echo_64",
       "tandem",
       "self",
       "us/round trip",
       "lower",
       "64 connections, 64 B, home: completion thread",
       {1},
       [=](int t) { return run_echo(t, confined, 64, 1000); }},
      {"echo_1_workers",
       "tandem",
       "self",
       "us/round trip",
       "lower",
       "1 connection, 64 B, home: workers",
       {1},
       [](int t) { return run_echo(t, home::workers, 1, 20'000); }},
      {"beside_search",
       "tandem",
       "self",
       "ms, worst of 100",
       "lower",
       "completion pool beside a search",
       {2},
       [=](int t) { return beside_a_search(t, confined); }},
      {"beside_search_workers",
       "tandem",
       "self",
       "ms, worst of 100",
       "lower",
       "workers shared with a search",
       {2},
       [](int t) { return beside_a_search(t, home::workers); }},
  };
  for (auto& each : tandem::bench::file_cases()) cases.push_back(std::move(each));
  for (auto& each : tandem::bench::walk_cases()) cases.push_back(std::move(each));
  return tandem::bench::run_main(argc, argv, cases);
}
