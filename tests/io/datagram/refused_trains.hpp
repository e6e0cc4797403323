// refused_trains.hpp: a system that refuses to cut trains of datagrams.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace tandem::test {

/// As long as it lives, whoever asks for a train to be cut is told this error. Other sends go on. What it
/// interposes serves the whole executable.
class refused_trains {
 public:
  explicit refused_trains(int error) noexcept;
  refused_trains(const refused_trains&) = delete;
  refused_trains& operator=(const refused_trains&) = delete;
  ~refused_trains();

  /// How often it was asked for.
  std::size_t asked() const noexcept;
};

}  // namespace tandem::test
