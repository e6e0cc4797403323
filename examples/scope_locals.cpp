// scope_locals.cpp: variables that children refer to: inside of a scope's body, or outside of it.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <iostream>
#include <numeric>
#include <tandem/invoke.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

tandem::task<void> measure(int number, int& length) {
  co_await tandem::sleep_for(1ms);
  length = number * number;
}

// A scope ends after its children, but the variables of its body end with the body, which is
// earlier. Where children refer to them, the body joins the children first.
tandem::task<int> inside() {
  co_return co_await tandem::with_scope([](tandem::task_scope& scope) -> tandem::task<int> {
    std::vector<int> lengths(10);
    for (int i = 0; i < 10; ++i) scope.spawn(measure(i, lengths[static_cast<std::size_t>(i)]));
    co_await scope.join();  // without it `lengths` would be gone, and the children write to it
    co_return std::accumulate(lengths.begin(), lengths.end(), 0);
  });
}

// What stands outside of the body lives until the scope has ended: no join is needed.
tandem::task<int> outside() {
  std::vector<int> lengths(10);
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    for (int i = 0; i < 10; ++i) scope.spawn(measure(i, lengths[static_cast<std::size_t>(i)]));
    co_return;
  });
  co_return std::accumulate(lengths.begin(), lengths.end(), 0);
}

// A child that owns what it uses needs neither; invoke() keeps a lambda's captures with the child.
tandem::task<int> owned() {
  int sum = 0;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    std::vector<int> numbers{1, 2, 3};
    const auto add = [&sum, numbers]() -> tandem::task<void> {
      co_await tandem::sleep_for(1ms);
      sum += std::accumulate(numbers.begin(), numbers.end(), 0);
    };
    scope.spawn(tandem::invoke(add));  // scope.spawn(add()) would need `add` after the body's end
    co_return;
  });
  co_return sum;
}

tandem::task<int> all() {
  const int first = co_await inside();
  const int second = co_await outside();
  const int third = co_await owned();
  std::cout << "inside " << first << ", outside " << second << ", owned " << third << '\n';
  co_return first == 285 && second == 285 && third == 6 ? 0 : 1;
}

int main() { return tandem::run(all()); }
