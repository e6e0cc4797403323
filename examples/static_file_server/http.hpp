// http.hpp: as much of HTTP/1.1 as a server of files needs: requests, byte ranges, heads of answers.
// SPDX-License-Identifier: MIT
//
// http.cpp alone knows Boost.Beast, whose parser it feeds by hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace files {

/// A request without a body: all that is served here.
class http_request {
 public:
  http_request() = default;
  std::string target;
  std::string range;       ///< the Range field
  std::string none_match;  ///< the If-None-Match field
  bool is_head = false;
  bool keep_alive = true;  ///< false, too, where the next request would begin is unknown
  unsigned status = 200;   ///< else the request is answered with this, and nothing else
};

/// Takes the first request from `bytes`, if all of it is there.
///
/// @param consumed  how many bytes it had
std::optional<http_request> parse_request(std::string_view bytes, std::size_t& consumed);

/// The target as a path relative to the root: without a query, decoded, without empty components.
///
/// @returns  none if it is no path, hides a component behind an escape, or has one that begins with
///           a dot (so no "..", and no hidden file)
std::optional<std::string> relative_path(std::string_view target);

/// Bytes from `begin` to `end`, which is not one of them.
class byte_range {
 public:
  byte_range(std::uint64_t first, std::uint64_t behind) : begin(first), end(behind) {}
  std::uint64_t begin;
  std::uint64_t end;
};

enum class range_answer : unsigned char { whole, part, unsatisfiable };
/// RFC 9110, 14.2: a field that is not understood, or names several ranges, means the whole.
range_answer find_range(std::string_view field, std::uint64_t size, byte_range& range);

/// By the extension of the name.
std::string_view content_type(std::string_view path);

/// The first lines of an answer, up to the empty one. `more` are whole lines.
std::string response_head(unsigned status, std::uint64_t length, bool keep_alive,
                          std::string_view more = "");
std::string_view reason(unsigned status);

}  // namespace files
