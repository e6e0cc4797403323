// generator_test.cpp: ranges that a coroutine makes, without a runtime.
// SPDX-License-Identifier: MIT
#include <tandem/generator.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <ranges>
#include <string>
#include <vector>

#include "planned_failure.hpp"

namespace {

using tandem::elements_of;
using tandem::generator;
using tandem::test::planned_failure;
using ints = std::vector<int>;

static_assert(std::ranges::input_range<generator<int>>);
static_assert(std::ranges::view<generator<int>>);
static_assert(!std::ranges::forward_range<generator<int>>);
static_assert(std::same_as<std::ranges::range_reference_t<generator<int>>, int&&>);
static_assert(std::same_as<std::ranges::range_reference_t<generator<const std::string&>>,
                           const std::string&>);
static_assert(std::same_as<std::ranges::range_value_t<generator<std::string_view, std::string>>,
                           std::string>);

ints all_of(generator<int> made) {
  ints all;
  for (int each : made) all.push_back(each);
  return all;
}

generator<int> count_to(int n) {
  for (int i = 1; i <= n; ++i) co_yield i;
}

TEST(generator, yields_values_in_order_and_ends) {
  EXPECT_EQ(all_of(count_to(4)), (ints{1, 2, 3, 4}));
  EXPECT_EQ(all_of(count_to(0)), ints());
}

TEST(generator, works_with_views) {
  ints squares;
  for (int each : count_to(10) | std::views::filter([](int i) { return i % 2 == 0; }) |
                      std::views::transform([](int i) { return i * i; }) | std::views::take(3)) {
    squares.push_back(each);
  }
  EXPECT_EQ(squares, (ints{4, 16, 36}));
}

generator<std::unique_ptr<int>> boxes() {
  co_yield std::make_unique<int>(1);
  auto named = std::make_unique<int>(2);
  co_yield std::move(named);
}

TEST(generator, hands_out_what_can_only_be_moved) {
  ints got;
  for (std::unique_ptr<int> each : boxes()) got.push_back(*each);
  EXPECT_EQ(got, (ints{1, 2}));
}

generator<std::string> twice(std::string mine) {
  co_yield mine;  // a copy: whoever takes it may move it out
  co_yield mine;
}

TEST(generator, copies_an_lvalue_that_is_yielded_as_a_value) {
  std::vector<std::string> got;
  for (std::string&& each : twice("a text that is too long to lie in the string itself")) {
    got.push_back(std::move(each));
  }
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0], got[1]);
}

generator<const std::string&> names(const std::vector<std::string>& all) {
  for (const std::string& each : all) co_yield each;
}

TEST(generator, of_references_copies_nothing) {
  const std::vector<std::string> all{"a", "b"};
  std::size_t i = 0;
  for (const std::string& each : names(all)) EXPECT_EQ(&each, &all[i++]);
}

generator<int> tree(int depth) {
  co_yield depth;
  if (depth == 0) co_return;
  co_yield elements_of(tree(depth - 1));
  const ints below{-1, -2};
  co_yield elements_of(below);
}

TEST(generator, yields_the_elements_of_others_and_of_ranges) {
  EXPECT_EQ(all_of(tree(2)), (ints{2, 1, 0, -1, -2, -1, -2}));
}

/// Each level has one item, and the chain ends all at once.
generator<int> chain(int depth) {
  co_yield depth;
  if (depth > 0) co_yield elements_of(chain(depth - 1));
}

TEST(generator, depth_is_not_stack_depth_neither_at_the_end_nor_when_dropped) {
  constexpr int deep = 100'000;
  long items = 0;
  for (int each : chain(deep)) items += each >= 0 ? 1 : 0;
  EXPECT_EQ(items, deep + 1);
  auto dropped = chain(deep);
  auto at = dropped.begin();
  for (int i = 0; i < deep; ++i) ++at;
  EXPECT_EQ(*at, 0);
}

class noted {
 public:
  noted(std::string& log, char name) : log_(&log), name_(name) {}
  noted(const noted&) = delete;
  noted& operator=(const noted&) = delete;
  ~noted() { *log_ += name_; }

 private:
  std::string* log_;
  char name_;
};

generator<int> inner(std::string& log) {
  const noted here(log, 'i');
  co_yield 1;
  co_yield 2;
}
generator<int> outer(std::string& log) {
  const noted here(log, 'o');
  co_yield elements_of(inner(log));
  co_yield 3;
}

TEST(generator, that_is_dropped_is_destroyed_from_the_inside_out) {
  std::string log;
  {
    auto made = outer(log);
    EXPECT_EQ(*made.begin(), 1);
    EXPECT_EQ(log, "");
  }
  EXPECT_EQ(log, "io");
  log.clear();
  EXPECT_EQ(all_of(outer(log)), (ints{1, 2, 3}));
  EXPECT_EQ(log, "io");
  { auto never_started = outer(log); }
  EXPECT_EQ(log, "io");
}

generator<int> fails_after(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
  throw planned_failure();
}
generator<int> catches() {
  bool has_failed = false;
  try {
    co_yield elements_of(fails_after(2));
  } catch (const planned_failure&) {
    has_failed = true;
  }
  if (has_failed) co_yield 100;
}

TEST(generator, lets_exceptions_pass_to_whoever_goes_on) {
  ints got;
  auto made = fails_after(2);
  EXPECT_THROW(
      {
        for (int each : made) got.push_back(each);
      },
      planned_failure);
  EXPECT_EQ(got, (ints{0, 1}));
  EXPECT_THROW((void)fails_after(0).begin(), planned_failure);
  EXPECT_EQ(all_of(catches()), (ints{0, 1, 100}));
}

}  // namespace
