// bytes_of.hpp: text as the bytes that streams and files take, and bytes as text.
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

/// The other way: the bytes that have come, as characters. Nothing is checked or converted.
///
///     const std::size_t size = co_await stream.read(buffer);
///     log(tandem::io::text_of(std::span(buffer).first(size)));
///
/// @returns  a view: the bytes stay the caller's, alive as long as the text is used
inline std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};  // NOLINT
}

}  // namespace tandem::inline v0::io
