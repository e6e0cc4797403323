// source_list_test.cpp: the list of what comes on a completion thread without being asked each time.
// SPDX-License-Identifier: MIT
#include "engine/source_list.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

class source final : public tandem::io::thread_source {
 public:
  void hold_back() noexcept override { armed = false; }
  bool is_armed() const noexcept override { return armed || ends_late; }
  void leave() noexcept override { ++left; }

  bool armed = true;
  bool ends_late = false;
  int left = 0;
};

TEST(source_list, is_kept_once_however_often_it_is_armed) {
  tandem::io::source_list list;
  std::array<source, 3> all;
  for (int i = 0; i < 2; ++i) {
    for (source& each : all) list.keep(each);
  }
  list.leave();
  for (const source& each : all) EXPECT_EQ(each.left, 1);
}

TEST(source_list, whoever_is_forgotten_is_not_told_wherever_it_stood) {
  for (std::size_t gone = 0; gone < 3; ++gone) {
    tandem::io::source_list list;
    std::array<source, 3> all;
    for (source& each : all) list.keep(each);
    list.forget(all[gone]);
    list.leave();
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(all[i].left, i == gone ? 0 : 1);
  }
}

TEST(source_list, forgetting_one_that_was_never_armed_does_nothing) {
  tandem::io::source_list list;
  source kept, other;
  list.forget(other);
  list.keep(kept);
  list.forget(other);
  EXPECT_TRUE(list.any_armed());
}

TEST(source_list, has_ended_when_nothing_of_it_is_armed_any_more) {
  tandem::io::source_list list;
  source at_once, late;
  late.ends_late = true;
  list.keep(at_once);
  list.keep(late);
  EXPECT_FALSE(list.end());
  EXPECT_FALSE(at_once.armed);
  late.ends_late = false;
  EXPECT_TRUE(list.end());
}

TEST(source_list, all_leave_once) {
  tandem::io::source_list list;
  source one;
  list.keep(one);
  list.leave();
  list.leave();
  EXPECT_EQ(one.left, 1);
}

}  // namespace
