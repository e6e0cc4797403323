// seen_set_stress.cpp: many threads enter the same positions into one seen set.
// SPDX-License-Identifier: MIT
//
// The laws: each position is entered exactly once, whoever comes first, and can be found; of all
// costs that were offered for it the lowest stays, with the parent that came with it; its node
// stays where it is.
#include <tandem/detail/search/seen_set.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "seeded.hpp"
#include "waits.hpp"

namespace {

using namespace tandem;
using detail::seen_change;

/// Numbers, hashed well or badly.
class numbers {
 public:
  using position = std::uint64_t;
  using move = int;

  explicit numbers(std::uint64_t hashes) : hashes_(hashes) {}

  position initial() const { return 0; }
  bool is_goal(position) const { return false; }
  std::uint64_t hash(position at) const { return at % hashes_; }
  std::vector<move> legal_moves(position) const { return {}; }
  position apply(position at, move) const { return at; }

 private:
  std::uint64_t hashes_;
};

using node = detail::search_node<numbers, detail::least_cost>;

/// A position that is reached at some cost.
class offer {
 public:
  offer(std::uint64_t position, std::uint64_t price) : at(position), cost(price) {}

  std::uint64_t at;
  std::uint64_t cost;
};

/// A run: `threads` with some thousands of offers each, of positions that overlap.
class crowd {
 public:
  explicit crowd(std::mt19937_64& random)
      : puzzle_(random() % 4 == 0 ? 1 + random() % 3 : std::uint64_t{1} << 40),
        // Few positions where hashes are bad: each probe looks at all of them.
        positions_(puzzle_.hash(3) < 3 ? 1 + random() % 300 : 1 + random() % 20'000),
        seen_(control_, 1 + static_cast<unsigned>(random() % 8)),
        added_(positions_),
        nodes_(positions_) {
    for (std::uint64_t cost = 0; cost < costs; ++cost) {
      parents_.push_back(std::make_unique<node>(std::uint64_t{cost}, nullptr, cost));
    }
    const std::size_t threads = 2 + random() % 3;
    for (std::size_t i = 0; i < threads; ++i) {
      std::vector<offer> own;
      const std::size_t count = positions_ / 2 + random() % (positions_ * 2);
      for (std::size_t k = 0; k < count; ++k)
        own.emplace_back(random() % positions_, random() % costs);
      offers_.push_back(std::move(own));
    }
  }

  void run() {
    tandem::test::latch all_here(static_cast<std::ptrdiff_t>(offers_.size()));
    std::vector<std::jthread> team;
    for (const auto& own : offers_) {
      team.emplace_back([&] {
        all_here.arrive_and_wait();
        for (const offer& each : own) enter(each);
      });
    }
  }

  void check() {
    std::vector<std::uint64_t> least(positions_, std::numeric_limits<std::uint64_t>::max());
    for (const auto& own : offers_) {
      for (const offer& each : own) least[each.at] = std::min(least[each.at], each.cost);
    }
    std::uint64_t size = 0;
    for (std::uint64_t at = 0; at < positions_; ++at) {
      const node* found = seen_.find(detail::mixed_hash(puzzle_, at), at);
      const bool offered = least[at] != std::numeric_limits<std::uint64_t>::max();
      ASSERT_EQ(found != nullptr, offered);
      ASSERT_EQ(added_[at], offered ? 1 : 0);
      if (!offered) continue;
      ++size;
      ASSERT_EQ(found, nodes_[at]);
      ASSERT_EQ(found->at, at);
      ASSERT_EQ(found->payload.value, least[at]);
      ASSERT_EQ(found->parent, parent_of(least[at]));
    }
    EXPECT_EQ(seen_.size(), size);
    EXPECT_GE(seen_.bytes(), size * (sizeof(node) + sizeof(std::uint64_t)));
  }

 private:
  static constexpr std::uint64_t costs = 64;

  // One for each cost, so that the two can be told to belong together.
  const node* parent_of(std::uint64_t cost) const { return parents_[cost].get(); }

  void enter(const offer& what) {
    const std::uint64_t hash = detail::mixed_hash(puzzle_, what.at);
    seen_.with_shard(seen_.shard_of(hash), [&](auto& shard) {
      std::uint64_t at = what.at;
      const auto [entered, change] =
          shard.improve(hash, std::move(at), parent_of(what.cost), what.cost);
      if (change == seen_change::added) {
        ++added_[what.at];
        nodes_[what.at] = entered;
      }
    });
  }

  const search_options options_;
  detail::search_control control_{options_};
  numbers puzzle_;
  std::uint64_t positions_;
  detail::seen_set<numbers, detail::least_cost> seen_;
  std::vector<std::atomic<int>> added_;
  std::vector<const node*> nodes_;  // written under the shard's lock
  std::vector<std::unique_ptr<node>> parents_;
  std::vector<std::vector<offer>> offers_;
};

TEST(seen_set, many_threads_enter_each_position_once_and_keep_its_lowest_cost) {
  test::stress([](std::mt19937_64& random) {
    crowd all(random);
    all.run();
    all.check();
  });
}

}  // namespace
