// parallel_loops.cpp: a loop, a sum and running sums in parallel: where primes lie.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <functional>
#include <iostream>
#include <tandem/parallel_for.hpp>
#include <tandem/parallel_reduce.hpp>
#include <tandem/parallel_scan.hpp>
#include <tandem/run.hpp>
#include <vector>

constexpr int limit = 200'000;

bool is_prime(int n) {
  for (int d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n >= 2;
}

tandem::task<bool> count_primes() {
  // Some numbers cost a thousand times as much as others: the pieces even that out.
  std::vector<int> prime(limit);
  co_await tandem::parallel_for(
      0, limit, [&](int n) { prime[static_cast<std::size_t>(n)] = is_prime(n) ? 1 : 0; });

  const int count = co_await tandem::parallel_reduce(prime, 0, std::identity(), std::plus<>());

  // below[n]: how many primes are less than n, which is where the prime n goes in the list.
  std::vector<int> below(limit);
  co_await tandem::parallel_exclusive_scan(prime, below.begin(), 0);
  std::vector<int> list(static_cast<std::size_t>(count));
  co_await tandem::parallel_for(std::size_t{0}, prime.size(), [&](std::size_t n) {
    if (prime[n] == 1) list[static_cast<std::size_t>(below[n])] = static_cast<int>(n);
  });

  std::cout << count << " primes below " << limit << ", the last one is " << list.back() << '\n';
  co_return count == 17'984 && list.front() == 2 && list.back() == 199'999;
}

int main() { return tandem::run(count_primes()) ? 0 : 1; }
