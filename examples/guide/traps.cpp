// traps.cpp: the forms that go wrong in C++ coroutines, each written so that it goes right.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <string>
#include <tandem/invoke.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/with_stop.hpp>
#include <utility>
#include <vector>

using tandem::task;

task<std::size_t> length(std::string text) {
  co_await tandem::sleep_for(std::chrono::milliseconds(1));
  co_return text.size();
}

// g++ 12: no `b ? x : y` that makes a new object inside of a co_await expression.
task<std::size_t> choose(bool loud, std::string name) {
  auto chosen = loud ? name + "!" : std::string("nobody");
  co_return co_await length(std::move(chosen));
}

// g++ 12: a lambda that captures something with a destructor by value has a name first.
task<std::size_t> named(std::string text) {
  std::size_t found = 0;
  auto body = [text, &found](tandem::task_scope& scope) -> task<void> {
    scope.spawn([text, &found]() -> task<void> { found = co_await length(text); });
    co_return;
  };
  co_await tandem::with_scope(body);
  co_return found;
}

// Every compiler: a coroutine lambda refers to its captures, so it has to live as long as its task.
// spawn() keeps the lambda that it is given; invoke() keeps one elsewhere.
task<std::size_t> kept(std::string text) {
  auto measure = [text]() -> task<std::size_t> { co_return co_await length(text); };
  const std::size_t first = co_await tandem::spawn(measure);
  co_return first + co_await tandem::invoke(measure);
}

task<void> measure(std::size_t& into) { into = co_await length("abc"); }

// Every compiler: the body's variables end with the body, so what children refer to stands outside.
task<std::size_t> outside() {
  std::vector<std::size_t> lengths(3);
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    for (std::size_t& each : lengths) scope.spawn(measure(each));
    co_return;
  });
  co_return lengths[0] + lengths[1] + lengths[2];
}

task<int> all_of_them() {
  const std::size_t chosen = co_await choose(true, "Ada") + co_await choose(false, "Ada");
  const std::size_t found = co_await named("text");
  const std::size_t twice = co_await kept("text");
  const std::size_t sum = co_await outside();
  std::printf("%zu %zu %zu %zu\n", chosen, found, twice, sum);
  co_return chosen == 10 && found == 4 && twice == 8 && sum == 9 ? 0 : 1;
}

int main() { return tandem::run(all_of_them()); }
