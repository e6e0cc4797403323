// dump.hpp: how a runtime says what its tasks wait for.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

enum class dump_format : std::uint8_t {
  text,  ///< for people
  json,  ///< one object; runtime/src/insight/README.md names its members
};

/// For runtime::dump().
///
///     tandem::dump_options options;
///     options.format = tandem::dump_format::json;
///     rt.dump(file, options);
class dump_options {
 public:
  dump_options() noexcept = default;

  dump_format format = dump_format::text;
  /// Siblings that differ in nothing but their number are told of once, with how many they are.
  bool group = true;
  /// Of a chain of awaits: so many frames from the one that waits outwards. At least 1.
  std::size_t most_frames = 32;
};

}  // namespace tandem::inline v0
