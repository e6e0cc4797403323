// parallel_search.cpp: a parallel search of one's own: knight's tours, all of them and the first.
// SPDX-License-Identifier: MIT
//
// runtime/parallel-search.md goes through it line by line.
#include <atomic>
#include <cstdint>
#include <iostream>
#include <span>
#include <tandem/fork_each.hpp>
#include <tandem/parallel_invoke.hpp>
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

long count_invoked(const tour& from);

long count_below(const tour& from, std::span<const int> jumps) {
  if (jumps.empty()) return 0;
  if (jumps.size() == 1) return count_invoked(from.jump(jumps[0]));
  const std::size_t half = jumps.size() / 2;
  const auto [a, b] =
      tandem::parallel_invoke([&] { return count_below(from, jumps.first(half)); },
                              [&] { return count_below(from, jumps.subspan(half)); });
  return a + b;
}

long count_invoked(const tour& from) {
  return from.left == 0 ? 1 : count_below(from, from.jumps());
}

tandem::task<long> count_without_tasks() { co_return count_invoked(tour()); }

int main() {
  const long tours = tandem::run(count(tour()));
  const long again = tandem::run(count_without_tasks());
  first_tour first;
  tandem::run(find(tour(), {0}, first));
  std::cout << tours << " tours from the corner of a board of 5 x 5, one of them:";
  for (const int square : first.squares) std::cout << ' ' << square;
  std::cout << '\n';
  return tours == 304 && again == tours && first.squares.size() == side * side ? 0 : 1;
}
