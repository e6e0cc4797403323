// parallel_search.cpp: a parallel search of one's own: knight's tours, all of them and the first.
// SPDX-License-Identifier: MIT
//
// runtime/parallel-search.md goes through it line by line.
#include <atomic>
#include <cstdint>
#include <iostream>
#include <tandem/fork_each.hpp>
#include <tandem/run.hpp>
#include <tandem/stop.hpp>
#include <vector>

constexpr int side = 5;

class tour {
 public:
  std::vector<int> jumps() const {
    std::vector<int> squares;
    for (int to = 0; to < side * side; ++to) {
      const int rows = to / side - at / side, columns = to % side - at % side;
      if (rows * rows + columns * columns == 5 && (visited >> to & 1) == 0) squares.push_back(to);
    }
    return squares;
  }
  tour jump(int to) const { return tour(visited | std::uint64_t{1} << to, to, left - 1); }

  explicit tour(std::uint64_t seen = 1, int square = 0, int still_free = side * side - 1)
      : visited(seen), at(square), left(still_free) {}

  std::uint64_t visited;
  int at, left;
};

long count_plainly(const tour& from) {
  if (from.left == 0) return 1;
  long sum = 0;
  for (const int to : from.jumps()) sum += count_plainly(from.jump(to));
  return sum;
}

tandem::task<long> count(tour from) {
  if (from.left < side * side / 2) co_return count_plainly(from);  // a leaf: some microseconds
  tandem::throw_if_stopped();
  const std::vector<int> jumps = from.jumps();
  auto below = [&](std::size_t i) { return count(from.jump(jumps[i])); };
  long sum = 0;
  for (const long tours : co_await tandem::fork_each(jumps.size(), below)) sum += tours;
  co_return sum;
}

class first_tour {
 public:
  std::atomic<bool> is_found{false};
  std::vector<int> squares;  // by the one that sets is_found
};

tandem::task<void> find(tour from, std::vector<int> squares, first_tour& first) {
  if (first.is_found.load(std::memory_order_relaxed)) co_return;  // too late
  tandem::throw_if_stopped();
  if (from.left == 0) {
    if (!first.is_found.exchange(true)) first.squares = std::move(squares);
    co_return;
  }
  const std::vector<int> jumps = from.jumps();
  co_await tandem::fork_each(jumps.size(), [&](std::size_t i) {
    std::vector<int> longer = squares;
    longer.push_back(jumps[i]);
    return find(from.jump(jumps[i]), std::move(longer), first);
  });
}

int main() {
  const long tours = tandem::run(count(tour()));
  first_tour first;
  tandem::run(find(tour(), {0}, first));
  std::cout << tours << " tours from the corner of a board of 5 x 5, one of them:";
  for (const int square : first.squares) std::cout << ' ' << square;
  std::cout << '\n';
  return tours == 304 && first.squares.size() == side * side ? 0 : 1;
}
