// item_order_test.cpp: the order of a submission queue's items, also after some of them have left.
// SPDX-License-Identifier: MIT
#include "submit/item_order.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "runtime/submit/queue_items.hpp"

namespace {

using tandem::queue_kind;
using tandem::detail::item_order;
using tandem::detail::left_items;
using tandem::test::queue_items;

class ordered_items {
 public:
  ordered_items(queue_kind kind, const std::vector<int>& priorities)
      : items(priorities.size()), order(kind) {
    for (std::size_t i = 0; i < priorities.size(); ++i) {
      order.make_room();
      order.add(items[i], priorities[i]);
    }
  }
  ~ordered_items() { left_items::release_all(left.take_found()); }

  std::vector<int> take_all() {
    std::vector<int> taken;
    while (const tandem::job* const each = order.take()) {
      taken.push_back(items.number_of(each));
    }
    return taken;
  }

  queue_items items;
  item_order order;
  left_items left;
};

TEST(item_order, the_oldest_comes_first_whatever_its_priority) {
  ordered_items of(queue_kind::bounded, {1, 5, 3, 5});
  EXPECT_EQ(of.order.size(), 4U);
  EXPECT_EQ(of.take_all(), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_TRUE(of.order.empty());
}

TEST(item_order, by_priority_the_most_urgent_comes_first_and_the_oldest_among_equals) {
  ordered_items of(queue_kind::priority, {1, 5, 3, 5, 1});
  EXPECT_EQ(of.order.size(), 5U);
  EXPECT_EQ(of.take_all(), (std::vector<int>{1, 3, 2, 0, 4}));
  EXPECT_TRUE(of.order.empty());
}

TEST(item_order, nothing_is_taken_where_nothing_is) {
  for (const queue_kind kind : {queue_kind::unbounded, queue_kind::priority}) {
    item_order order(kind);
    EXPECT_EQ(order.take(), nullptr);
  }
}

TEST(item_order, a_sweep_finds_all_that_have_left_and_keeps_the_order_of_the_others) {
  for (const auto& [kind, others] : {std::pair(queue_kind::bounded, std::vector{1, 2, 5}),
                                     std::pair(queue_kind::priority, std::vector{5, 1, 2})}) {
    ordered_items of(kind, {9, 5, 3, 7, 1, 6});
    for (const std::size_t each : {0U, 3U, 4U}) of.left.add(of.items[each]);
    of.order.sweep(of.left);
    EXPECT_TRUE(of.left.empty());
    EXPECT_EQ(of.order.size(), 3U);
    EXPECT_EQ(of.take_all(), others);
  }
}

}  // namespace
