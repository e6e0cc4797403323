// metric.hpp: what counts as one move where pieces may go farther than to the next cell.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace puzzles {

/// steps: one cell. moves: one piece, as far as it can get (Rush Hour: along its line).
enum class metric : std::uint8_t { steps, moves };

constexpr std::string_view to_string(metric kind) noexcept {
  return kind == metric::steps ? "steps" : "moves";
}

}  // namespace puzzles
