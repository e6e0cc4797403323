// uts.cpp: the random numbers and the laws of the trees of uts.hpp.
// SPDX-License-Identifier: MIT
//
// SHA-1 after FIPS 180-4, section 6.1, for messages of one block: a node's 20 bytes, taken as five
// big-endian words, and a child's number make 24 bytes.
#include "uts.hpp"

#include <bit>
#include <cmath>
#include <numbers>
#include <tandem/config.hpp>
#include <utility>

namespace puzzles::uts {

namespace {

using words = std::array<std::uint32_t, 5>;
using block = std::array<std::uint32_t, 16>;

constexpr int most_children = 100;  // of a node that is no binomial root
constexpr std::uint32_t end_mark = 0x80000000;

struct compression {
  block w;
  std::uint32_t a, b, c, d, e;

  template <std::size_t Round>
  TANDEM_ALWAYS_INLINE void step() {
    if constexpr (Round >= 16) {
      w[Round % 16] = std::rotl(
          w[(Round - 3) % 16] ^ w[(Round - 8) % 16] ^ w[(Round - 14) % 16] ^ w[Round % 16], 1);
    }
    std::uint32_t mixed;
    if constexpr (Round < 20) {
      mixed = ((b & c) | (~b & d)) + 0x5a827999;
    } else if constexpr (Round < 40) {
      mixed = (b ^ c ^ d) + 0x6ed9eba1;
    } else if constexpr (Round < 60) {
      mixed = ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    } else {
      mixed = (b ^ c ^ d) + 0xca62c1d6;
    }
    const std::uint32_t next = std::rotl(a, 5) + mixed + e + w[Round % 16];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
};

words sha1_of_block(const block& message) {
  constexpr words start{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  compression s{message, start[0], start[1], start[2], start[3], start[4]};
  [&]<std::size_t... Round>(std::index_sequence<Round...>) {
    (s.step<Round>(), ...);
  }(std::make_index_sequence<80>());
  return {start[0] + s.a, start[1] + s.b, start[2] + s.c, start[3] + s.d, start[4] + s.e};
}

/// The node's number in [0, 1).
double chance(const node& at) { return (at.random[4] & 0x7fffffff) / 2147483648.0; }

double expected_children(const tree& t, int depth) {
  if (depth == 0) return t.root_children;
  switch (t.form) {
    case shape::linear: return t.root_children * (1.0 - static_cast<double>(depth) / t.depth_limit);
    case shape::cyclic:
      if (depth > 5 * t.depth_limit) return 0;
      return std::pow(t.root_children, std::sin(2 * std::numbers::pi * depth / t.depth_limit));
    case shape::fixed: return depth < t.depth_limit ? t.root_children : 0;
    case shape::unused: break;
  }
  return 0;
}

/// As the source has it: where none is expected, p is 1 and the logarithm of 0 gives 0 children.
int count_geometric(const tree& t, const node& at) {
  const double expected = expected_children(t, at.depth);
  const double p = 1 / (1 + expected);
  return static_cast<int>(std::floor(std::log(1 - chance(at)) / std::log(1 - p)));
}

int count_binomial(const tree& t, const node& at) {
  return chance(at) < t.inner_share ? t.inner_children : 0;
}

}  // namespace

node root_of(const tree& t) {
  block message{};
  message[4] = t.seed;
  message[5] = end_mark;
  message[15] = 20 * 8;
  return {sha1_of_block(message), 0};
}

node child_of(const node& parent, int index) {
  block message{};
  for (std::size_t i = 0; i < 5; ++i) message[i] = parent.random[i];
  message[5] = static_cast<std::uint32_t>(index);
  message[6] = end_mark;
  message[15] = 24 * 8;
  return {sha1_of_block(message), parent.depth + 1};
}

int count_children(const tree& t, const node& at) {
  if (t.kind == law::binomial && at.depth == 0) return static_cast<int>(t.root_children);
  const bool geometric =
      t.kind == law::geometric || (t.kind == law::hybrid && at.depth < 0.5 * t.depth_limit);
  const int count = geometric ? count_geometric(t, at) : count_binomial(t, at);
  return count < most_children ? count : most_children;
}

}  // namespace puzzles::uts
