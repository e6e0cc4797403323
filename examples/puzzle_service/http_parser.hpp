// http_parser.hpp: takes requests out of a stream of bytes.
// SPDX-License-Identifier: MIT
//
// The only file that knows Boost.Beast is http_parser.cpp: it takes seconds to compile. Only
// Beast's parser is used, fed by hand: all input and output is tandem's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "http_message.hpp"

namespace service {

/// One request after the other.
class http_parser {
 public:
  enum class state : std::uint8_t {
    incomplete,  ///< more bytes are needed
    complete,    ///< take() it
    failed,      ///< error() says why; what follows in the stream has no meaning any more
  };

  http_parser(std::size_t header_limit, std::size_t body_limit);
  ~http_parser();

  /// Goes on with `bytes`, which begin where the last call stopped consuming. A header is consumed
  /// as a whole, so up to the header limit of bytes may have to be offered again.
  ///
  /// @param consumed  how many of them are used up
  state feed(std::string_view bytes, std::size_t& consumed);

  /// Some of a request has been consumed, and not all.
  bool is_started() const noexcept;

  /// The client waits for `100 Continue` before it sends the body. True once per request.
  bool take_continue();

  /// The complete request; the parser is ready for the next one.
  http_request take();

  /// The answer that a failed request gets: 400, 413 or 431.
  const http_response& error() const;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace service
