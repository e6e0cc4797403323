// frame_slabs_test.cpp: blocks of a class and the slabs that they come from, by one thread.
// SPDX-License-Identifier: MIT
#include "frames/frame_slabs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tandem/detail/frame_memory.hpp>
#include <vector>

#include "frames/frame_regions.hpp"

namespace {

using namespace tandem::detail;

frame_slab& slab_of(const frame_block* block) { return region_of(block).slabs[slab_number(block)]; }
/// Whether the slab is its region's again.
bool is_given_back(const frame_slab& one) {
  const frame_region& home = region_of(&one);
  return (home.free_slabs >> (&one - home.slabs.data()) & 1) != 0;
}

/// Blocks of one class, which are given back at the end.
class frame_slabs : public ::testing::Test {
 protected:
  static constexpr std::size_t index = 3;
  static constexpr std::size_t bytes = (index + 1) * frame_granule_bytes;

  ~frame_slabs() override {
    give_all();
    nobody_runs = false;
    while (trim_slabs()) {}
  }

  /// @returns  how many there were
  std::size_t take(std::size_t most) {
    std::size_t count = 0;
    for (frame_block* each = take_from_slabs(index, most); each != nullptr; each = each->next) {
      taken_.push_back(each);
      ++count;
    }
    return count;
  }
  frame_block* last() const { return taken_.back(); }
  void give_last() {
    frame_block* const block = last();
    taken_.pop_back();
    block->next = nullptr;
    give_to_slabs(index, block);
  }
  void give_all() {
    while (!taken_.empty()) give_last();
  }

  std::vector<frame_block*> taken_;
};

TEST_F(frame_slabs, blocks_that_are_out_do_not_overlap) {
  while (taken_.size() < 500) ASSERT_GE(take(64), 1U);
  std::sort(taken_.begin(), taken_.end(), std::less<>());
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    const auto* const start = reinterpret_cast<const std::byte*>(taken_[i]);
    EXPECT_EQ(slab_number(start), slab_number(start + bytes - 1)) << "it lies in one slab";
    if (i == 0) continue;
    EXPECT_GE(start - reinterpret_cast<const std::byte*>(taken_[i - 1]),
              static_cast<std::ptrdiff_t>(bytes));
  }
}

TEST_F(frame_slabs, a_chain_is_no_longer_than_asked_and_asks_for_no_second_slab) {
  EXPECT_EQ(take(5), 5U);
  const std::size_t rest = take(10 * slab_bytes / bytes);
  EXPECT_GE(rest, 1U);
  EXPECT_LE(5 + rest, slab_bytes / bytes);
  for (const frame_block* each : taken_) EXPECT_EQ(&slab_of(each), &slab_of(last()));
}

TEST_F(frame_slabs, the_block_that_came_back_last_goes_out_first) {
  ASSERT_EQ(take(3), 3U);
  const frame_block* const block = last();
  give_last();
  ASSERT_EQ(take(1), 1U);
  EXPECT_EQ(last(), block);
}

TEST_F(frame_slabs, a_slab_is_listed_while_it_has_a_free_block) {
  (void)take(10 * slab_bytes / bytes);
  frame_slab& full = slab_of(last());
  EXPECT_EQ(full.listed, 0U);
  give_last();
  EXPECT_EQ(full.listed, 1U);
  ASSERT_EQ(take(2), 1U) << "it is the only one";
  EXPECT_EQ(full.listed, 0U);
}

TEST_F(frame_slabs, the_last_unused_slab_of_a_class_stays_until_the_trim) {
  ASSERT_EQ(take(1), 1U);
  const frame_slab& only = slab_of(last());
  give_last();
  EXPECT_FALSE(is_given_back(only));
  ASSERT_EQ(take(1), 1U);
  EXPECT_EQ(&slab_of(last()), &only) << "it may be used again";
  (void)trim_slabs();
  EXPECT_FALSE(is_given_back(only)) << "it is in use";
  give_last();
  (void)trim_slabs();
  EXPECT_TRUE(is_given_back(only));
}

TEST_F(frame_slabs, of_two_unused_slabs_one_goes_back_to_its_region) {
  (void)take(10 * slab_bytes / bytes);
  const frame_slab& first = slab_of(last());
  ASSERT_EQ(take(1), 1U);
  const frame_slab& second = slab_of(last());
  ASSERT_NE(&first, &second);
  give_all();
  EXPECT_NE(is_given_back(first), is_given_back(second));
}

TEST_F(frame_slabs, where_nobody_runs_no_unused_slab_stays) {
  ASSERT_EQ(take(1), 1U);
  const frame_slab& only = slab_of(last());
  nobody_runs = true;
  give_last();
  EXPECT_TRUE(is_given_back(only));
}

}  // namespace
