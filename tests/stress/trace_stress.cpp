// trace_stress.cpp: traces are written a thousand times a second while tasks of every kind run.
// SPDX-License-Identifier: MIT
//
// The laws: a trace is sound whenever it is written, nobody waits for it, and recording may be
// turned on and off at any moment.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <tandem/blocking.hpp>
#include <tandem/channel.hpp>
#include <tandem/environment.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "seeded.hpp"
#include "test_runtime.hpp"
#include "trace_lines.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::stress;
using tandem::test::test_runtime;

task<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await tandem::fork_join(fib(n - 1), fib(n - 2));
  co_return a + b;
}

task<int> part(int number) {
  co_await tandem::yield();
  co_return number;
}

task<void> sender(tandem::channel<int>& into, int count) {
  for (int i = 0; i < count; ++i) co_await into.send(i);
}

task<void> mixed(std::uint64_t bits) {
  tandem::current_environment()->set_name(bits % 2 == 0 ? "even" : "odd");
  tandem::channel<int> numbers(2);
  const int count = 1 + static_cast<int>(bits % 8);
  auto sends = tandem::spawn(sender(numbers, count));
  for (int i = 0; i < count; ++i) (void)co_await numbers.receive();
  if (bits & 16) (void)co_await tandem::when_all(part(1), part(2));
  if (bits & 32) (void)co_await fib(8);
  if (bits & 64) co_await tandem::sleep_for(10us);
  if (bits & 128) (void)co_await tandem::blocking([] { return 1; });
  tandem::current_environment()->set_name("about to end");
  co_await std::move(sends);
}

task<void> load(std::uint64_t seed, int tasks) {
  std::vector<tandem::join_handle<void>> all;
  for (int i = 0; i < tasks; ++i) {
    all.push_back(tandem::spawn(mixed(tandem::test::mix(seed + static_cast<std::uint64_t>(i)))));
  }
  for (tandem::join_handle<void>& each : all) co_await std::move(each);
}

TEST(trace_stress, a_trace_is_sound_whenever_it_is_written) {
  stress([](auto& random) {
    test_runtime rt(1 + static_cast<unsigned>(random() % 3));
    tandem::trace_options options;
    options.events_per_thread = std::size_t{64} << random() % 6;
    rt->trace_to("", options);
    std::atomic<bool> done{false};
    std::vector<std::string> wrong;
    int written = 0;
    std::thread reader([&] {
      do {
        const auto lines = tandem::test::trace_lines(tandem::test::trace_of(*rt));
        if (wrong.empty()) wrong = tandem::test::offences(lines);
        ++written;
        std::this_thread::sleep_for(1ms);
      } while (!done);
    });
    // Foreign threads spawn, too, and end while they are recorded.
    std::vector<std::thread> outside;
    for (int i = 0; i < 2; ++i) {
      outside.emplace_back([&rt, seed = random()] { rt->spawn(load(seed, 20)).wait(); });
    }
    rt.run(load(random(), 50));
    for (std::thread& each : outside) each.join();
    if (random() % 2 == 0) {
      rt->stop_trace();
      rt.run(load(random(), 10));
      rt->trace_to("", options);
      rt.run(load(random(), 10));
    }
    done = true;
    reader.join();
    EXPECT_EQ(wrong, std::vector<std::string>());
    EXPECT_GT(written, 0);
  });
}

}  // namespace
