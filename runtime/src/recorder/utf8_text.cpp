// utf8_text.cpp: which bytes are a character.
// SPDX-License-Identifier: MIT
#include "recorder/utf8_text.hpp"

namespace tandem::inline v0::detail {

namespace {

/// How many bytes the character has that begins there; 0: it is none of UTF-8 (RFC 3629).
std::size_t length_at(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : (first >= 0xE0 ? 3 : 2);
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  const unsigned second = byte(1);
  const bool is_too_long = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool is_no_character = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return is_too_long || is_no_character ? 0 : length;
}

}  // namespace

std::size_t append_character(std::string& out, std::string_view text) {
  constexpr std::string_view replacement = "\xEF\xBF\xBD";
  const std::size_t length = length_at(text);
  out += length != 0 ? text.substr(0, length) : replacement;
  return length != 0 ? length : 1;
}

}  // namespace tandem::inline v0::detail
