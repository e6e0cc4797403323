// fibonacci.cpp: a recursion on all processors.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <tandem/fork_join.hpp>
#include <tandem/run.hpp>

tandem::task<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await tandem::fork_join(fib(n - 1), fib(n - 2));  // both, on all workers
  co_return a + b;
}

int main() {
  const long found = tandem::run(fib(30));
  std::printf("%ld\n", found);
  return found == 832'040 ? 0 : 1;
}
