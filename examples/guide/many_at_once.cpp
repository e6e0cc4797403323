// many_at_once.cpp: several tasks at the same time, in the five shapes that one needs.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <tandem/for_each_concurrent.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/race.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/when_all.hpp>
#include <vector>

using namespace std::chrono_literals;
using tandem::task;

task<std::string> fetch(std::string page, std::chrono::milliseconds takes) {
  co_await tandem::sleep_for(takes);
  co_return "<" + page + ">";
}

// Both at once, and both results.
task<std::string> both() {
  auto [head, body] = co_await tandem::when_all(fetch("head", 5ms), fetch("body", 5ms));
  co_return head + body;
}

// The first one that ends. The other one is stopped.
task<std::string> quickest() {
  co_return co_await tandem::race(fetch("near", 5ms), fetch("far", 1h));
}

// As many as there are, but no more than eight at a time.
task<int> crawl(const std::vector<std::string>& pages) {
  std::atomic<int> bytes = 0;
  co_await tandem::for_each_concurrent(pages, 8, [&](const std::string& page) -> task<void> {
    bytes += static_cast<int>((co_await fetch(page, 1ms)).size());
  });
  co_return bytes;
}

// Children that come one by one. The scope ends when all of them have ended.
task<int> visitors() {
  std::atomic<int> seen = 0;
  const auto visit = [&](int number) -> task<void> {
    co_await fetch("visitor", 1ms);
    seen += number;
  };
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    for (int number = 1; number <= 10; ++number) scope.spawn(visit(number));
    co_return;
  });
  co_return seen;
}

// Work that only computes: a child costs hardly more than a call.
task<long> fibonacci(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await tandem::fork_join(fibonacci(n - 1), fibonacci(n - 2));
  co_return a + b;
}

task<int> all_of_them() {
  const std::vector<std::string> pages(100, "page");
  const std::string page = co_await both();
  const std::string near = co_await quickest();
  const int bytes = co_await crawl(pages);
  const int seen = co_await visitors();
  const long number = co_await fibonacci(20);
  std::printf("%s %s %d %d %ld\n", page.c_str(), near.c_str(), bytes, seen, number);
  co_return page == "<head><body>" && near == "<near>" && bytes == 600 && seen == 55 &&
          number == 6765
      ? 0
      : 1;
}

int main() { return tandem::run(all_of_them()); }
