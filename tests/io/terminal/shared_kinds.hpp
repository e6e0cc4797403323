// shared_kinds.hpp: what the tests of shared streams have in common.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <tandem/io/shared_streams.hpp>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"
#include "plain_pair.hpp"

namespace tandem::test {

inline task<std::string> text_from(io::shared_input& input, std::size_t most = 64) {
  std::vector<std::byte> room(most);
  const std::size_t count = co_await input.read(room);
  co_return std::string(reinterpret_cast<const char*>(room.data()), count);
}

/// Of each of them: what is written to the second comes out at the first.
template <class Body>
void on_kinds(std::span<const pair_maker> kinds, Body body) {
  for (const pair_maker make : kinds) {
    on_every_home([&]() -> task<void> {
      plain_pair ends = make();
      co_await body(ends);
    });
  }
}

/// Of each kind that can be waited for.
template <class Body>
void on_every_kind(Body body) {
  on_kinds(kinds_of_pairs(), std::move(body));
}

/// More than any of them holds.
inline std::vector<std::byte> a_lot() { return pattern(1U << 20U, 7); }

}  // namespace tandem::test
