// frame_regions_test.cpp: which slabs are handed out, and what goes back to the system, by one thread.
// SPDX-License-Identifier: MIT
#include "frames/frame_regions.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using namespace tandem::detail;

std::size_t mapped_regions() { return count_slabs().mapped_bytes / region_bytes; }

/// Begins and ends with one region at most, all of it unused and without pages.
class frame_regions : public ::testing::Test {
 protected:
  frame_regions() { trim(); }
  ~frame_regions() override {
    give_all();
    nobody_runs = false;
    trim();
  }

  static void trim() {
    while (trim_regions()) {}
  }
  frame_slab& take() {
    frame_slab* const taken = take_slab();
    EXPECT_NE(taken, nullptr);
    taken_.push_back(taken);
    return *taken;
  }
  void take(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) (void)take();
  }
  void give_last() {
    give_slab(*taken_.back());
    taken_.pop_back();
  }
  void give_all() {
    while (!taken_.empty()) give_last();
  }
  /// All but the first of each region.
  void leave_one_in_each() {
    std::vector<frame_slab*> left;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (i % slabs_per_region == 0) {
        left.push_back(taken_[i]);
      } else {
        give_slab(*taken_[i]);
      }
    }
    taken_ = left;
  }

 private:
  std::vector<frame_slab*> taken_;
};

TEST_F(frame_regions, each_slab_has_a_part_of_its_region_to_itself) {
  std::uint64_t seen = 0;
  const frame_region& home = region_of(&take());
  take(slabs_per_region - 1);
  for (const frame_slab& each : home.slabs) {
    const auto number = static_cast<std::size_t>(&each - home.slabs.data());
    const auto* const start = reinterpret_cast<const std::byte*>(&home);
    EXPECT_EQ(slab_number(start + each.fresh), number);
    EXPECT_EQ(slab_number(start + each.end - 1), number);
    EXPECT_LT(each.fresh, each.end);
    EXPECT_EQ(each.used, 0U);
    seen |= std::uint64_t{1} << number;
  }
  EXPECT_EQ(~seen, 0U);
  EXPECT_GE(home.slabs[0].fresh, sizeof(frame_region)) << "the first one begins behind these data";
}

TEST_F(frame_regions, another_region_is_mapped_only_when_no_slab_is_free) {
  take(slabs_per_region);
  EXPECT_EQ(mapped_regions(), 1U);
  const frame_slab& next = take();
  EXPECT_EQ(mapped_regions(), 2U);
  give_last();
  EXPECT_EQ(&take(), &next) << "what has come back is handed out first";
  EXPECT_EQ(mapped_regions(), 2U);
}

TEST_F(frame_regions, while_tasks_run_eight_unused_regions_stay_and_the_others_go) {
  take(10 * slabs_per_region);
  EXPECT_EQ(mapped_regions(), 10U);
  give_all();
  EXPECT_EQ(mapped_regions(), 8U);
  trim();
  EXPECT_EQ(mapped_regions(), 1U) << "the trim leaves one";
}

TEST_F(frame_regions, where_nobody_runs_an_unused_region_goes_at_once_unless_it_is_the_last) {
  take(3 * slabs_per_region);
  nobody_runs = true;
  give_all();
  EXPECT_EQ(mapped_regions(), 1U);
}

TEST_F(frame_regions, a_region_that_is_used_in_part_stays_and_loses_its_pages_eight_at_a_time) {
  take(12 * slabs_per_region);
  leave_one_in_each();
  EXPECT_TRUE(has_stale_region());
  EXPECT_TRUE(trim_regions()) << "four are left";
  EXPECT_TRUE(has_stale_region());
  EXPECT_FALSE(trim_regions());
  EXPECT_FALSE(has_stale_region());
  EXPECT_EQ(mapped_regions(), 12U);
  const std::uint64_t calls = count_slabs().system_calls;
  EXPECT_FALSE(trim_regions());
  EXPECT_EQ(count_slabs().system_calls, calls) << "there was nothing to give back";
}

TEST_F(frame_regions, a_region_is_stale_when_as_many_slabs_as_it_has_have_come_back) {
  take(slabs_per_region);
  for (std::size_t i = 1; i < slabs_per_region; ++i) give_last();
  EXPECT_FALSE(has_stale_region());
  give_last();
  EXPECT_TRUE(has_stale_region());
  (void)take();
  EXPECT_FALSE(has_stale_region()) << "one is used again";
}

}  // namespace
