// argument.hpp: one word of a command: text, bytes, or a number.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tandem/io/redis/export.hpp>

namespace tandem::inline v0::io::redis {

/// What a command is made of. It refers to text and bytes (of any value), and holds a number as
/// its digits. It lives as long as the call that it is given to.
///
/// @cost  no allocation
class TANDEM_IO_REDIS_API argument {
 public:
  argument(std::string_view text) noexcept  // NOLINT: converts on purpose
      : data_(text.data()), size_(text.size()) {}
  argument(const char* text) noexcept  // NOLINT: converts on purpose
      : argument(std::string_view(text)) {}
  template <std::convertible_to<std::string_view> Text>
  argument(const Text& text) noexcept  // NOLINT: converts on purpose
      : argument(static_cast<std::string_view>(text)) {}
  argument(std::span<const std::byte> bytes) noexcept;  // NOLINT: converts on purpose
  template <std::integral Number>
    requires(!std::same_as<Number, bool> && !std::same_as<Number, char> && sizeof(Number) <= 8)
  argument(Number number) noexcept {  // NOLINT: converts on purpose
    if constexpr (std::signed_integral<Number>) {
      write(static_cast<std::int64_t>(number));
    } else {
      write(static_cast<std::uint64_t>(number));
    }
  }
  /// The shortest digits that read back as the same number.
  argument(double number) noexcept;  // NOLINT: converts on purpose
  argument(bool) = delete;           // "1", "true" or "yes": say which
  argument(char) = delete;           // a text of one letter, or its number: say which

  std::string_view text() const noexcept {
    return {data_ != nullptr ? data_ : digits_.data(), size_};
  }

 private:
  void write(std::int64_t number) noexcept;
  void write(std::uint64_t number) noexcept;

  const char* data_ = nullptr;  // null: the digits
  std::size_t size_ = 0;
  std::array<char, 32> digits_;  // NOLINT: only what size_ says is read
};

}  // namespace tandem::inline v0::io::redis
