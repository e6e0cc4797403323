// suite.hpp: the cases of suite search, and how a search is sampled.
// SPDX-License-Identifier: MIT
//
// All figures are positions per second of the whole search, from the call to the answer. Small
// searches are repeated until a sample has some weight; how many positions one visits may differ
// between two runs (the first path found ends a search), which is why seconds are not compared.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <tandem/search.hpp>
#include <utility>
#include <vector>

#include "../bench.hpp"
#include "../workers.hpp"

namespace tandem::bench {

using case_list = std::vector<bench_case>;

/// What a search has visited, and what it found: moves, goals or nodes, which have to be right.
class visit_count {
 public:
  visit_count(std::uint64_t positions, std::uint64_t answer) : nodes(positions), found(answer) {}

  std::uint64_t nodes;
  std::uint64_t found;
};

/// For tests and profilers: samples end after a share of the positions that they would visit.
void set_share(long divisor);
std::uint64_t positions_of_a_sample();

/// Positions per second of `search()`, which is repeated until a sample has enough of them.
template <class Search>
double positions_per_second(std::uint64_t expected, Search&& search) {
  std::uint64_t nodes = 0;
  double nanoseconds = 0;
  do {
    visit_count got(0, 0);
    nanoseconds += nanoseconds_per(1, [&] { got = search(); });
    expect_equal(got.found, expected, "the answer");
    nodes += got.nodes;
  } while (nodes < positions_of_a_sample());
  return static_cast<double>(nodes) * 1e9 / nanoseconds;
}

/// What the rows of a case have in common.
class search_case {
 public:
  search_case(std::string case_name, std::string what, std::uint64_t answer, bool only_if_asked)
      : name(std::move(case_name)),
        input(std::move(what)),
        expected(answer),
        extra(only_if_asked) {}

  /// A row that is measured on one thread, or (`threads` empty) on each number of them.
  bench_case row(const char* impl, const char* role, std::vector<int> threads,
                 std::function<double(int)> sample) const {
    return {.name = name,
            .impl = impl,
            .role = role,
            .unit = "positions/s",
            .better = "higher",
            .input = input,
            .threads = std::move(threads),
            .sample = std::move(sample),
            .extra = extra};
  }

  /// A row of a solver of tandem's: `search(workers)` gives what it found.
  template <class Search>
  bench_case solver_row(const char* impl, std::vector<int> threads, Search search) const {
    return row(impl, "self", std::move(threads), [expected_answer = expected, search](int count) {
      workers on(count);
      return positions_per_second(expected_answer, [&] { return search(on); });
    });
  }

  /// A row of plain code.
  template <class Search>
  bench_case plain_row(const char* impl, Search search) const {
    return row(impl, "floor", {1}, [expected_answer = expected, search](int) {
      Search own = search;
      return positions_per_second(expected_answer, own);
    });
  }

  std::string name;
  std::string input;
  std::uint64_t expected;
  bool extra;
};

void add_deepening(case_list& cases);
void add_graphs(case_list& cases);
void add_trees(case_list& cases);

inline case_list search_cases() {
  case_list cases;
  add_deepening(cases);
  add_graphs(cases);
  add_trees(cases);
  return cases;
}

}  // namespace tandem::bench
