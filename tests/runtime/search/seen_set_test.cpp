// seen_set_test.cpp: laws of the set of visited positions.
// SPDX-License-Identifier: MIT
#include <tandem/detail/search/seen_set.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/search/search_puzzles.hpp"
#include "waits.hpp"

namespace {

using namespace tandem;
using namespace tandem::test;

TEST(seen_set, position_is_inserted_once_however_many_threads_try) {
  constexpr int positions = 200'000;
  constexpr int threads = 4;
  const chain puzzle(positions);
  const search_options options;
  detail::search_control control(options);
  detail::seen_set<chain> seen(control, threads);
  std::vector<std::atomic<int>> inserted(positions);
  tandem::test::latch all_started(threads);
  {
    std::vector<std::jthread> team;
    for (int t = 0; t < threads; ++t) {
      team.emplace_back([&, t] {
        all_started.arrive_and_wait();
        for (int i = 0; i < positions; ++i) {
          // Each thread in an order of its own: 7919 is coprime to the number of positions.
          int at = static_cast<int>((i * 7919LL + t) % positions);
          const int original = at;
          if (seen.insert(detail::mixed_hash(puzzle, at), std::move(at)) != nullptr) {
            ++inserted[static_cast<std::size_t>(original)];
          }
        }
      });
    }
  }
  EXPECT_EQ(seen.size(), static_cast<std::uint64_t>(positions));
  for (auto& each : inserted) EXPECT_EQ(each, 1);
}

TEST(seen_set, nodes_stay_where_they_are_while_the_set_grows) {
  const search_options options;
  detail::search_control control(options);
  detail::seen_shard<chain> shard(control);
  const chain puzzle(0);
  std::vector<detail::search_node<chain>*> nodes;
  for (int i = 0; i < 10'000; ++i) {
    int at = i;
    nodes.push_back(shard.insert(detail::mixed_hash(puzzle, i), std::move(at)));
  }
  for (int i = 0; i < 10'000; ++i) EXPECT_EQ(nodes[static_cast<std::size_t>(i)]->at, i);
}

TEST(seen_set, equal_hashes_do_not_make_positions_equal) {
  const search_options options;
  detail::search_control control(options);
  detail::seen_shard<chain> shard(control);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 500; ++i) {
      int at = i;
      EXPECT_EQ(shard.insert(42, std::move(at)) != nullptr, round == 0);
    }
  }
  EXPECT_EQ(shard.size(), 500U);
}

// A position whose move throws when told to.
class fragile_puzzle {
 public:
  class position {
   public:
    explicit position(int value) : value_(value) {}
    position(const position&) = default;
    position(position&& other) noexcept(false) : value_(other.value_) {
      if (value_ == 7) throw std::runtime_error("fragile");
    }
    bool operator==(const position&) const = default;

   private:
    int value_;
  };
  using move = int;

  position initial() const { return position(0); }
  bool is_goal(const position&) const { return false; }
  std::uint64_t hash(const position&) const { return 0; }
  std::vector<move> legal_moves(const position&) const { return {}; }
  position apply(const position& at, move) const { return at; }
};

TEST(seen_set, insertion_that_throws_leaves_the_set_as_it_was) {
  const search_options options;
  detail::search_control control(options);
  detail::seen_shard<fragile_puzzle> shard(control);
  EXPECT_NE(shard.insert(1, fragile_puzzle::position(1)), nullptr);
  EXPECT_THROW((void)shard.insert(2, fragile_puzzle::position(7)), std::runtime_error);
  EXPECT_EQ(shard.size(), 1U);
  EXPECT_NE(shard.insert(2, fragile_puzzle::position(2)), nullptr);
  EXPECT_EQ(shard.insert(1, fragile_puzzle::position(1)), nullptr);
}

TEST(seen_set, positions_are_found_once_they_are_there) {
  const search_options options;
  detail::search_control control(options);
  const chain puzzle(0);
  detail::seen_set<chain> seen(control, 2);
  EXPECT_EQ(seen.find(detail::mixed_hash(puzzle, 1), 1), nullptr);
  for (int i = 0; i < 5'000; i += 2) {
    int at = i;
    EXPECT_NE(seen.insert(detail::mixed_hash(puzzle, i), std::move(at)), nullptr);
  }
  for (int i = 0; i < 5'000; ++i) {
    const auto* found = seen.find(detail::mixed_hash(puzzle, i), i);
    ASSERT_EQ(found != nullptr, i % 2 == 0);
    if (found != nullptr) {
      EXPECT_EQ(found->at, i);
    }
  }
}

TEST(seen_set, lower_cost_brings_its_parent_and_a_higher_one_changes_nothing) {
  const search_options options;
  detail::search_control control(options);
  detail::seen_shard<chain, detail::least_cost> shard(control);
  using detail::seen_change;
  using node = decltype(shard)::node;
  const auto enter = [&](int at, const node* parent, std::uint64_t cost) {
    return shard.improve(42, std::move(at), parent, cost);
  };
  const node* const none = nullptr;
  const auto [one, is_new] = enter(1, none, 0);
  EXPECT_EQ(is_new, seen_change::added);
  const auto [two, too] = enter(2, none, 10);
  EXPECT_EQ(too, seen_change::added);
  EXPECT_EQ(enter(2, one, 10), std::pair(two, seen_change::none));
  EXPECT_EQ(two->parent, nullptr);
  EXPECT_EQ(enter(2, one, 9), std::pair(two, seen_change::improved));
  EXPECT_EQ(two->parent, one);
  EXPECT_EQ(two->payload.value, 9U);
  EXPECT_EQ(enter(2, none, 11), std::pair(two, seen_change::none));
  EXPECT_EQ(two->parent, one);
}

TEST(seen_set, memory_is_asked_for_and_given_back_to_the_byte) {
  search_options options;
  detail::search_control control(options.with_memory_limit(100'000));
  search_summary summary;
  {
    detail::seen_shard<chain> shard(control);
    EXPECT_EQ(shard.bytes(), 0U);
    int next = 0;
    const auto fill = [&] {
      while (true) {
        int at = next;
        (void)shard.insert(detail::mixed_hash(chain(0), next), std::move(at));
        ++next;
      }
    };
    EXPECT_THROW(fill(), std::bad_alloc);
    EXPECT_EQ(shard.size(), static_cast<std::uint64_t>(next));
    EXPECT_LE(shard.bytes(), 100'000U);
    EXPECT_FALSE(control.running());
  }
  // All of it can be had again.
  EXPECT_NO_THROW(control.take_memory(100'000));
  control.conclude(summary);
  EXPECT_EQ(summary.outcome, search_outcome::memory_limit);
  EXPECT_EQ(summary.memory_bytes, 100'000U);
}

TEST(seen_set, packed_position_takes_its_packed_bytes_and_a_pointer) {
  class packed : public chain {
   public:
    using chain::chain;
    std::uint64_t pack(int at) const { return static_cast<std::uint64_t>(at); }
    int unpack(std::uint64_t at) const { return static_cast<int>(at); }
  };
  static_assert(packed_puzzle<packed>);
  static_assert(sizeof(detail::search_node<packed>) == 16);
  const search_options options;
  detail::search_control control(options);
  detail::seen_shard<packed> shard(control);
  const packed puzzle(0);
  for (int i = 0; i < 100'000; ++i) {
    (void)shard.insert(detail::mixed_hash(puzzle, i), puzzle.pack(i));
  }
  EXPECT_LE(shard.bytes(), 100'000U * (16 + 15) + 16 * 512);
}

}  // namespace
