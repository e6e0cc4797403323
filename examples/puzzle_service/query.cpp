// query.cpp: names, values and their escapes.
// SPDX-License-Identifier: MIT
#include "query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace service {

namespace {

unsigned hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F') return static_cast<unsigned>(digit - 'A' + 10);
  throw bad_query("the query has a % without two hexadecimal digits");
}

/// The length of the UTF-8 sequence that begins there; 0 if none does (RFC 3629, section 4).
std::size_t sequence_at(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t at = 2; at < length; ++at) {
    if (byte(at) < 0x80 || byte(at) > 0xbf) return 0;
  }
  return length;
}

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%') {
      if (at + 2 >= text.size())
        throw bad_query("the query has a % without two hexadecimal digits");
      plain += static_cast<char>(16 * hex_value(text[at + 1]) + hex_value(text[at + 2]));
      at += 2;
    } else {
      plain += text[at] == '+' ? ' ' : text[at];
    }
  }
  for (std::string_view rest = plain; !rest.empty();) {
    const std::size_t length = sequence_at(rest);
    if (length == 0) throw bad_query("the query is no UTF-8");
    const auto first = static_cast<unsigned char>(rest[0]);
    if (first < ' ' || first == 127) throw bad_query("the query has control characters");
    rest.remove_prefix(length);
  }
  return plain;
}

}  // namespace

query::query(std::string_view text, std::span<const std::string_view> known) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    std::string name = decoded(pair.substr(0, equals));
    std::string value = decoded(pair.substr(std::min(equals + 1, pair.size())));
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw bad_query(fmt::format("the query may have {}", fmt::join(known, ", ")));
    }
    if (!values_.emplace(name, std::move(value)).second) {
      throw bad_query(fmt::format("the query has {} twice", name));
    }
  }
}

std::string query::text(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string() : found->second;
}

std::uint64_t query::number(std::string_view name, std::uint64_t least, std::uint64_t most,
                            std::uint64_t otherwise) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return otherwise;
  const std::string& text = found->second;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw bad_query(fmt::format("{} may be {} to {}", name, least, most));
  }
  return value;
}

}  // namespace service
