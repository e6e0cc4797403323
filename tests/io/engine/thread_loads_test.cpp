// thread_loads_test.cpp: where the next connection goes, and who hears of one whose task lives there.
// SPDX-License-Identifier: MIT
#include "engine/thread_loads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

class heard final : public tandem::io::resident_listener {
 public:
  void resident_arrived(std::uint32_t residents) noexcept override { last = residents; }
  std::uint32_t last = 0;
};

TEST(thread_loads, ten_thousand_connections_are_spread_evenly_over_those_that_are_open) {
  heard told;
  tandem::io::thread_loads loads(16, told);
  for (int i = 0; i < 10'000; ++i) loads.bind(loads.least_loaded(16));
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(loads.sockets(i), 625U);
}

TEST(thread_loads, what_has_gone_makes_room_for_the_next) {
  heard told;
  tandem::io::thread_loads loads(4, told);
  for (int i = 0; i < 40; ++i) loads.bind(loads.least_loaded(4));
  for (int i = 0; i < 10; ++i) loads.leave(2);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(loads.least_loaded(4), 2U);
    loads.bind(2);
  }
}

TEST(thread_loads, whoever_is_not_open_is_not_chosen) {
  heard told;
  tandem::io::thread_loads loads(4, told);
  for (int i = 0; i < 10; ++i) {
    const unsigned chosen = loads.least_loaded(2);
    EXPECT_LT(chosen, 2U);
    loads.bind(chosen);
  }
}

TEST(thread_loads, residents_are_told_and_counted) {
  heard told;
  tandem::io::thread_loads loads(2, told);
  loads.settle();
  loads.settle();
  EXPECT_EQ(told.last, 2U);
  loads.leave_resident();
  EXPECT_EQ(loads.residents(), 1U);
  loads.settle();
  EXPECT_EQ(told.last, 2U);
}

}  // namespace
