// uts.hpp: Unbalanced Tree Search: trees that only their random numbers know.
// SPDX-License-Identifier: MIT
//
// A node is 20 random bytes; child number i has the SHA-1 of those bytes and of i. How many
// children there are follows from the bytes, by one of three laws, so no subtree's size is known
// before it is walked. Source: Olivier et al., "UTS: An Unbalanced Tree Search Benchmark" (2006),
// trees T1 to T5.
#pragma once

#include <array>
#include <cstdint>
#include <ranges>
#include <string_view>

namespace puzzles::uts {

enum class law { geometric, binomial, hybrid };      // of the number of children
enum class shape { linear, cyclic, fixed, unused };  // how a geometric law changes with the depth

/// A tree, and what a walk of it has to find.
struct tree {
  const char* name;
  law kind;
  shape form;
  std::uint32_t seed;
  double root_children;  // expected (geometric) or exact (binomial)
  int depth_limit;       // geometric
  double inner_share;    // binomial: probability of having children ...
  int inner_children;    // ... and how many
  int nodes;
  int leaves;
  int depth;
};

inline constexpr std::array<tree, 5> trees{{
    {"T1", law::geometric, shape::fixed, 19, 4, 10, 0, 0, 4'130'071, 3'305'118, 10},
    {"T2", law::geometric, shape::cyclic, 502, 6, 16, 0, 0, 4'117'769, 2'342'762, 81},
    {"T3", law::binomial, shape::unused, 42, 2000, 0, 0.124875, 8, 4'112'897, 3'599'034, 1572},
    {"T4", law::hybrid, shape::linear, 1, 6, 16, 0.234375, 4, 4'132'453, 3'108'986, 134},
    {"T5", law::geometric, shape::linear, 34, 4, 20, 0, 0, 4'147'582, 2'181'318, 20},
}};

struct node {
  std::array<std::uint32_t, 5> random;
  int depth;

  bool operator==(const node&) const = default;
};

node root_of(const tree& t);
node child_of(const node& parent, int index);
int count_children(const tree& t, const node& at);

}  // namespace puzzles::uts

namespace puzzles {

/// A tree as a puzzle of <tandem/puzzle.hpp>, for tandem::count_tree: a move is a child's number.
class uts_puzzle {
 public:
  using position = uts::node;
  using move = int;

  explicit uts_puzzle(const uts::tree& tree) : tree_(tree) {}

  position initial() const { return uts::root_of(tree_); }
  bool is_goal(const position&) const noexcept { return false; }
  std::uint64_t hash(const position& at) const noexcept {
    return std::uint64_t{at.random[0]} << 32 | at.random[1];
  }
  auto legal_moves(const position& at) const {
    return std::views::iota(0, uts::count_children(tree_, at));
  }
  position apply(const position& at, move child) const { return uts::child_of(at, child); }

 private:
  uts::tree tree_;
};

}  // namespace puzzles
