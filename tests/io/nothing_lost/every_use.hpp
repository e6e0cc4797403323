// every_use.hpp: whatever a program does with the pool, while something is refused.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>

#include "io/nothing_lost/refusal_cases.hpp"
#include "loopback_ports.hpp"
#include "refusals.hpp"

namespace tandem::test {

/// Each of what the use asks for is refused once, and nothing stays behind.
inline void refuse_in(refusals& what, void (*use)()) {
  use();
  const std::size_t descriptors = open_descriptors();
  for_each_refusal(what, asker::anyone(), [use] { use(); });
  EXPECT_EQ(open_descriptors(), descriptors);
}

inline constexpr std::initializer_list<void (*)()> every_use = {
    &start_and_end,   &run_tasks,        &wait_for_timers,
    &exchange_bytes,  &serve_clients,    &receive_and_take_incoming,
    &use_files,       &resize_and_go_on, &grow_by_itself,
    &drive_a_library, &use_the_rest,     &end_with_open_connections,
};

}  // namespace tandem::test
