// query.hpp: the part of a target after the '?', taken apart.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace service {

/// What is wrong with a query, in a line that can be shown.
class bad_query : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// "search=a+b&count=10" (WHATWG URL 5.1: application/x-www-form-urlencoded), strictly.
class query {
 public:
  /// @param known  the names that may stand there, each once
  /// @throws       bad_query: another name, one twice, a '%' without two hexadecimal digits, text
  ///               that is no UTF-8 or has control characters
  query(std::string_view text, std::span<const std::string_view> known);

  /// Empty if it does not stand there.
  std::string text(std::string_view name) const;
  /// @throws  bad_query: it is no number in that range
  std::uint64_t number(std::string_view name, std::uint64_t least, std::uint64_t most,
                       std::uint64_t otherwise) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace service
