// system_name.hpp: a short name that the system keeps: an interface, an algorithm.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace tandem::inline v0::io {

/// A name of at most 15 characters, such as "eth0" or "bbr": a value, without memory of its own.
///
///     options.device = tandem::io::system_name("eth0");
class system_name {
 public:
  static constexpr std::size_t most_characters = 15;

  constexpr system_name() noexcept = default;
  /// @throws  std::invalid_argument if it is longer, or has a zero in it
  constexpr explicit system_name(std::string_view name) {
    if (name.size() > most_characters || name.find('\0') != std::string_view::npos) {
      throw std::invalid_argument("system_name: at most 15 characters, and no zero");
    }
    std::copy(name.begin(), name.end(), text_.begin());
  }

  constexpr std::string_view view() const noexcept { return text_.data(); }
  /// Ends with a zero.
  constexpr const char* c_str() const noexcept { return text_.data(); }

  friend constexpr bool operator==(const system_name&, const system_name&) noexcept = default;

 private:
  std::array<char, most_characters + 1> text_{};
};

}  // namespace tandem::inline v0::io
