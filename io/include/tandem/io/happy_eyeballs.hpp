// happy_eyeballs.hpp: how tcp_stream::connect() goes through a list of addresses.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/tcp_options.hpp>
#include <vector>

namespace tandem::inline v0::io {

/// Options of tcp_stream::connect() over several addresses.
///
///     tandem::io::happy_eyeballs_options options;
///     options.attempt_delay = 100ms;
///     auto stream = co_await tandem::io::tcp_stream::connect("example.org", 443, options);
///
/// @source  RFC 8305, sections 5 and 8
class happy_eyeballs_options {
 public:
  happy_eyeballs_options() noexcept {}  // NOLINT: not an aggregate, see tcp_options

  /// After so long without an answer the next address is tried, too. Zero: all at once.
  std::chrono::milliseconds attempt_delay{250};
  tcp_options connection;
};

namespace detail {

/// The families in turn, beginning with the first one's; each family keeps its order.
TANDEM_IO_API std::vector<endpoint> interleave_families(const std::vector<endpoint>& preferred);

}  // namespace detail
}  // namespace tandem::inline v0::io
