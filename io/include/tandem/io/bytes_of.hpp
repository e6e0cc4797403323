// bytes_of.hpp: text as the bytes that streams and files take.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tandem::inline v0::io {

/// The characters of a text, of a literal without the zero behind them.
///
///     co_await stream.write_all(tandem::io::bytes_of("hello\n"));
///
/// @returns  a view: the text stays the caller's, alive as long as the bytes are used
inline std::span<const std::byte> bytes_of(std::string_view text) noexcept {
  return std::as_bytes(std::span(text));
}

}  // namespace tandem::inline v0::io
