// hello_task.cpp: the first program: tasks, what they return and what they throw.
// SPDX-License-Identifier: MIT
#include <iostream>
#include <stdexcept>
#include <string>
#include <tandem/run.hpp>
#include <tandem/task.hpp>

// A task is a coroutine. It starts when somebody awaits it, and hands its result back there.
tandem::task<int> twice(int number) { co_return 2 * number; }

tandem::task<std::string> greet(std::string name) {
  if (name.empty()) throw std::invalid_argument("nobody to greet");
  const int answer = co_await twice(21);
  co_return "Hello, " + name + ": " + std::to_string(answer);
}

tandem::task<int> hello() {
  std::cout << co_await greet("world") << '\n';
  try {
    std::cout << co_await greet("") << '\n';
  } catch (const std::invalid_argument& error) {
    // An exception comes out of the co_await, as it would come out of a call.
    std::cout << "caught: " << error.what() << '\n';
    co_return 0;
  }
  co_return 1;
}

// run() makes a runtime with a thread per CPU, runs the task on it and ends it again.
int main() { return tandem::run(hello()); }
