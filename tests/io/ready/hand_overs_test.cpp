// hand_overs_test.cpp: a batch is one post for each home, also when there are more homes than places.
// SPDX-License-Identifier: MIT
#include "ready/hand_overs.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <tandem/detail/clock_hold.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/runtime.hpp>
#include <vector>

namespace {

using batch = std::vector<tandem::job*>;

/// Notes what is posted to it.
class home final : public tandem::executor {
 public:
  explicit home(tandem::runtime& owner) noexcept : owner_(owner) {}
  void post(tandem::job* item, tandem::post_kind) noexcept override { batches.push_back({item}); }
  void post_batch(tandem::job_list items, tandem::post_kind) noexcept override {
    batch& fresh = batches.emplace_back();
    while (tandem::job* const item = items.pop_front()) fresh.push_back(item);
  }
  bool is_current() const noexcept override { return false; }
  tandem::runtime* owner() const noexcept override { return &owner_; }
  std::string_view name() const noexcept override { return "home"; }

  std::vector<batch> batches;

 private:
  tandem::runtime& owner_;
};

class hand_overs : public ::testing::Test {
 protected:
  /// A task that waits, as the owner of its operation hands it over.
  tandem::detail::promise_base& waiting_at(home& at) {
    tandem::detail::promise_base& task = tasks_.emplace_back();
    task.home = &at;
    tandem::detail::hold_clock(owner_);
    batch_.add(task);
    return task;
  }
  std::size_t flush(const tandem::executor& workers) { return batch_.flush(owner_, workers); }

  tandem::runtime owner_;
  tandem::io::hand_overs batch_;

 private:
  std::deque<tandem::detail::promise_base> tasks_;
};

TEST_F(hand_overs, whatever_is_of_one_home_is_one_post_in_its_order) {
  home workers(owner_), other(owner_);
  batch first, second;
  for (int i = 0; i < 5; ++i) {
    first.push_back(&waiting_at(workers));
    second.push_back(&waiting_at(other));
  }
  EXPECT_EQ(flush(workers), 5U);
  EXPECT_EQ(workers.batches, std::vector<batch>(1, first));
  EXPECT_EQ(other.batches, std::vector<batch>(1, second));
  EXPECT_EQ(batch_.posts(), 2U);
  EXPECT_TRUE(batch_.empty());
}

TEST_F(hand_overs, tasks_of_more_homes_than_it_has_places_for_all_get_home) {
  std::deque<home> homes;
  std::vector<batch> expected(30);
  for (std::size_t i = 0; i < expected.size(); ++i) homes.emplace_back(owner_);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i].push_back(&waiting_at(homes[i]));
  }
  EXPECT_EQ(flush(homes[29]), 3U);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(homes[i].batches, std::vector<batch>(1, expected[i])) << "home " << i;
  }
  EXPECT_TRUE(batch_.empty());
}

TEST_F(hand_overs, nothing_is_posted_where_nothing_waits) {
  home workers(owner_);
  EXPECT_EQ(flush(workers), 0U);
  EXPECT_TRUE(workers.batches.empty());
  EXPECT_EQ(batch_.posts(), 0U);
}

}  // namespace
