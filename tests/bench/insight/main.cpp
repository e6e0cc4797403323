// main.cpp: suite insight: what dumps and recording cost those that go on meanwhile, and how long dumps take.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <tandem/io/io.hpp>
#include <tandem/tandem.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "bench.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem;
using bench_clock = std::chrono::steady_clock;

runtime_options with_workers(int threads) {
  runtime_options options;
  options.min_threads = static_cast<unsigned>(threads);
  options.max_threads = options.min_threads;
  options.deadlock_after = 0ms;
  return options;
}

enum class looked_at : unsigned char { not_at_all, by_dumps, by_recorder };

/// Dumps ten times a second, or records, while it lives.
class dumper {
 public:
  dumper(runtime& of, looked_at how) {
    if (how == looked_at::by_recorder) of.trace_to("");
    if (how == looked_at::by_dumps) {
      thread_ = std::thread([this, &of] {
        auto next = bench_clock::now();
        while (!over_.load()) {
          (void)of.dump();
          next += 100ms;
          std::this_thread::sleep_until(next);
        }
      });
    }
  }
  dumper(const dumper&) = delete;
  dumper& operator=(const dumper&) = delete;
  ~dumper() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

task<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await fork_join(fib(n - 1), fib(n - 2));
  co_return a + b;
}

double forks(int threads, looked_at how) {
  runtime rt(with_workers(threads));
  (void)rt.spawn(fib(25)).wait();
  const dumper beside(rt, how);
  constexpr int n = 36;
  constexpr double children = 48'315'633;
  return bench::nanoseconds_per(
      children, [&] { bench::expect_equal(rt.spawn(fib(n)).wait(), 14'930'352L, "fib(36)"); });
}

/// So many tasks that wait for each other in pairs, each round another wait.
task<void> ping(event& mine, event& others, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await mine.wait();
    mine.reset();
    others.set();
  }
}

double waits(int threads, looked_at how) {
  constexpr int pairs = 256;
  constexpr int rounds = 4000;
  runtime rt(with_workers(threads));
  const dumper beside(rt, how);
  std::vector<std::unique_ptr<event>> events;
  for (int i = 0; i < 2 * pairs; ++i) events.push_back(std::make_unique<event>(i % 2 == 0));
  const auto all = [&]() -> task<void> {
    const auto body = [&](task_scope& scope) -> task<void> {
      for (std::size_t i = 0; i < events.size(); i += 2) {
        scope.spawn(ping(*events[i], *events[i + 1], rounds));
        scope.spawn(ping(*events[i + 1], *events[i], rounds));
      }
      co_return;
    };
    co_await with_scope(body);
  };
  return bench::nanoseconds_per(2.0 * pairs * rounds, [&] { rt.spawn(all()).wait(); });
}

task<void> echo_back(io::tcp_stream client) {
  std::vector<std::byte> buffer(512);
  while (const std::size_t got = co_await client.read(buffer)) {
    co_await client.write_all(std::span(buffer).first(got));
  }
}

task<void> ask(io::endpoint where, int requests) {
  io::tcp_stream peer = co_await io::tcp_stream::connect(where);
  std::vector<std::byte> buffer(64);
  for (int i = 0; i < requests; ++i) {
    co_await peer.write_all(buffer);
    std::size_t got = 0;
    while (got < buffer.size()) got += co_await peer.read(std::span(buffer).subspan(got));
  }
}

task<void> echo_soak(int connections, int requests) {
  io::tcp_listener listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  const io::endpoint where = listener.local_endpoint();
  const auto body = [&](task_scope& scope) -> task<void> {
    scope.spawn(io::serve(std::move(listener), echo_back));
    const auto clients = [&](task_scope& inner) -> task<void> {
      for (int i = 0; i < connections; ++i) inner.spawn(ask(where, requests));
      co_return;
    };
    co_await with_scope(clients);
    scope.request_stop();
  };
  (void)co_await as_result(with_scope(body));
}

/// Requests a second of clients and server in one process.
double echoes(int threads, looked_at how) {
  constexpr int connections = 64;
  constexpr int requests = 3000;
  runtime rt(with_workers(threads));
  const dumper beside(rt, how);
  const auto start = bench_clock::now();
  rt.spawn(echo_soak(connections, requests)).wait();
  const std::chrono::duration<double> taken = bench_clock::now() - start;
  return connections * requests / taken.count();
}

/// A million tasks sleep. @param stall the longest that a spawn and join beside it takes, in
/// milliseconds; else how long the dump takes
double dump_of_a_million(int threads, bool stall, bool dumps = true) {
  runtime rt(with_workers(threads));
  const auto sleeps = []() -> task<void> { co_await sleep_for(1h); };
  const auto all = [&sleeps](event& made, event& over) -> task<void> {
    const auto body = [&](task_scope& scope) -> task<void> {
      for (int i = 0; i < 1'000'000; ++i) scope.spawn(sleeps());
      made.set();
      co_await over.wait();
      scope.request_stop();
    };
    (void)co_await as_result(with_scope(body));
  };
  event made;
  event over;
  auto running = rt.spawn(all(made, over));
  const auto wait = [](event& e) -> task<void> { co_await e.wait(); };
  rt.spawn(wait(made)).wait();
  while (rt.workers().stats().queued != 0) std::this_thread::sleep_for(1ms);
  std::atomic<bool> ends{false};
  std::atomic<bool> resets{false};
  double longest_ms = 0;
  const auto nothing = []() -> task<void> { co_return; };
  const auto probe = [&]() -> task<void> {
    auto last = bench_clock::now();
    while (!ends.load()) {
      co_await spawn(nothing());
      const auto now = bench_clock::now();
      if (resets.exchange(false)) longest_ms = 0;
      longest_ms =
          std::max(longest_ms, std::chrono::duration<double, std::milli>(now - last).count());
      last = now;
    }
  };
  auto probing = stall ? rt.spawn(probe()) : rt.spawn(nothing());
  (void)rt.dump();  // names are found
  resets = true;
  const auto start = bench_clock::now();
  const std::string said = dumps ? rt.dump() : "1,000,000 tasks like this";
  if (!dumps) std::this_thread::sleep_for(300ms);  // about as long
  const std::chrono::duration<double, std::milli> taken = bench_clock::now() - start;
  ends = true;
  probing.wait();
  bench::expect_equal(said.find("1,000,000 tasks like this") != std::string::npos, true,
                      "that a million are alike");
  over.set();
  running.wait();
  return stall ? longest_ms : taken.count();
}

bench::bench_case make_case(const char* name, const char* impl, const char* unit,
                            const char* better, const char* input,
                            std::function<double(int)> sample) {
  bench::bench_case made;
  made.name = name;
  made.impl = impl;
  made.role = "self";
  made.unit = unit;
  made.better = better;
  made.input = input;
  made.threads = {2};
  made.sample = std::move(sample);
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<tandem::bench::bench_case> cases;
  using row = std::pair<looked_at, const char*>;
  for (const auto& [how, impl] :
       {row(looked_at::not_at_all, "alone"), row(looked_at::by_dumps, "ten_dumps_a_second"),
        row(looked_at::by_recorder, "recorded")}) {
    cases.push_back(make_case("fib_36", impl, "ns/task", "lower", "forks",
                              [how = how](int threads) { return forks(threads, how); }));
    cases.push_back(make_case("waits", impl, "ns/wait", "lower", "512 tasks, events",
                              [how = how](int threads) { return waits(threads, how); }));
    cases.push_back(make_case("echo_64", impl, "req/s", "higher", "64 connections, one process",
                              [how = how](int threads) { return echoes(threads, how); }));
  }
  cases.push_back(make_case("dump_1m", "dump", "ms", "lower", "1,000,000 tasks that sleep",
                            [](int threads) { return dump_of_a_million(threads, false); }));
  cases.push_back(make_case("dump_1m", "longest_spawn_and_join", "ms", "lower", "beside that dump",
                            [](int threads) { return dump_of_a_million(threads, true); }));
  cases.push_back(make_case("dump_1m", "longest_without_a_dump", "ms", "lower",
                            "the same, for 300 ms without",
                            [](int threads) { return dump_of_a_million(threads, true, false); }));
  return tandem::bench::run_main(argc, argv, cases);
}
