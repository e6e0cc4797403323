// refused_moves.hpp: a system that refuses to move bytes between two descriptors.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace tandem::test {

/// As long as it lives, sendfile(), splice() and copy_file_range() fail with this error. What it
/// interposes serves the whole executable.
class refused_moves {
 public:
  explicit refused_moves(int error) noexcept;
  refused_moves(const refused_moves&) = delete;
  refused_moves& operator=(const refused_moves&) = delete;
  ~refused_moves();

  /// How often one of them was asked for.
  std::size_t asked() const noexcept;
};

/// How many splices there were, by calls of the program, since it began.
std::size_t splices_made() noexcept;

}  // namespace tandem::test
