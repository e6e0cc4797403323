// server.cpp: suite scaling's echo server, with nothing set. scaling_server PORT HOME [busy]
// SPDX-License-Identifier: MIT
//
// HOME is thread, pool or workers; with `busy` a fork/join without end keeps all workers. When it
// is told to end (SIGTERM) it prints one line of JSON: what happened inside since the start.
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <tandem/as_result.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/run.hpp>
#include <tandem/runtime.hpp>
#include <tandem/stop.hpp>
#include <tandem/task_scope.hpp>

#include "failed_cas.hpp"

namespace {

namespace io = tandem::io;
using tandem::task;

std::atomic<std::uint64_t> requests{0};

task<void> echo(io::tcp_stream client) {
  std::array<std::byte, 4096> buffer;
  std::uint64_t served = 0;
  while (true) {
    auto got = co_await tandem::as_result(client.read(buffer));
    if (!got || got.value() == 0) break;
    auto sent = co_await tandem::as_result(client.write_all(std::span(buffer).first(got.value())));
    if (!sent) break;
    ++served;
  }
  requests.fetch_add(served, std::memory_order_relaxed);
}

task<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await tandem::fork_join(fib(n - 1), fib(n - 2));
  co_return a + b;
}

/// All workers, some ten milliseconds a time, until it is stopped.
task<void> keep_workers_busy() {
  while (!tandem::stop_requested()) (void)co_await fib(27);
}

task<void> serve_until_told(std::uint16_t port, io::handler_home home, bool busy) {
  io::signal_set told({SIGTERM, SIGINT});
  auto listener = io::tcp_listener::bind(io::endpoint::loopback_v4(port));
  io::serve_options options;
  options.home = home;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(io::serve(std::move(listener), echo, options));
    if (busy) scope.spawn(keep_workers_busy());
    co_await told.wait();
    scope.request_stop();
  });
}

void print_counts(tandem::runtime& owner, const io::completion_pool& pool) {
  const auto io_side = pool.stats();
  const auto workers = owner.workers().stats();
  std::printf(
      "{\"requests\": %llu, \"completion_threads\": %u, \"workers\": %u, \"posts\": %llu, "
      "\"wakes\": %llu, \"steals\": %llu, \"by_ring\": %llu, \"by_workers\": %llu, "
      "\"failed_cas\": %llu, \"backend\": \"%s\"}\n",
      static_cast<unsigned long long>(requests.load()), io_side.goal, workers.threads,
      static_cast<unsigned long long>(io_side.handed_over + workers.injected),
      static_cast<unsigned long long>(io_side.wakes + workers.wakes),
      static_cast<unsigned long long>(io_side.stolen + workers.steals),
      static_cast<unsigned long long>(io_side.submitted),
      static_cast<unsigned long long>(io_side.by_workers),
      static_cast<unsigned long long>(failed_cas()), std::string(io_side.backend).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc >= 3 ? argv[2] : "";
  const int port = argc >= 3 ? std::atoi(argv[1]) : 0;
  const bool busy = argc >= 4 && std::strcmp(argv[3], "busy") == 0;
  io::handler_home home = io::handler_home::connection_thread;
  if (name == "pool") home = io::handler_home::completion_pool;
  if (name == "workers") home = io::handler_home::workers;
  if (port <= 0 || (home == io::handler_home::connection_thread && name != "thread")) {
    std::fprintf(stderr, "usage: %s PORT thread|pool|workers [busy]\n", argv[0]);
    return 2;
  }
  tandem::runtime owner;
  io::completion_pool& pool = io::install(owner);
  owner.spawn(serve_until_told(static_cast<std::uint16_t>(port), home, busy)).wait();
  print_counts(owner, pool);
  return 0;
}
