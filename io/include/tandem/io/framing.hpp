// framing.hpp: messages that begin with their length.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/io/export.hpp>
#include <tandem/task.hpp>
#include <vector>

namespace tandem::inline v0::io {

/// Size of the length that stands before a message.
enum class length_prefix : std::uint8_t { u8 = 1, u16 = 2, u32 = 4, u64 = 8 };

/// How messages are framed: both sides have to agree.
class frame_format {
 public:
  frame_format() noexcept {}  // NOLINT: not an aggregate, see tcp_options
  /// @param most_bytes  of a message, without the prefix: what a peer may make us allocate
  frame_format(length_prefix of_length, std::endian byte_order,
               std::size_t most_bytes = std::size_t{1} << 20) noexcept
      : prefix(of_length), order(byte_order), max_bytes(most_bytes) {}

  length_prefix prefix = length_prefix::u32;
  std::endian order = std::endian::big;
  std::size_t max_bytes = std::size_t{1} << 20;
};

namespace detail {

/// A length as it stands in the stream.
class TANDEM_IO_API frame_head {
 public:
  /// @throws  stream_errc::too_long if it is over the limit, or does not fit into the prefix
  frame_head(const frame_format& format, std::size_t length);
  std::span<const std::byte> bytes() const noexcept { return std::span(bytes_).first(size_); }

 private:
  std::array<std::byte, 8> bytes_;
  std::size_t size_;
};

/// pre: `head` is as long as the prefix. @throws stream_errc::too_long
TANDEM_IO_API std::size_t length_of_frame(const frame_format& format,
                                          std::span<const std::byte> head);

/// What read_frame() asks a reader for, and nobody else.
class frame_reading {
 public:
  template <class Stream>
  static task<void> behind(buffered_reader<Stream>& from, std::span<const std::byte> head,
                           std::span<std::byte> message) {
    return from.read_behind(head, message);
  }
};

template <class S>
concept takes_lists =
    requires(S& to, const std::array<std::span<const std::byte>, 2>& list) { to.write_all(list); };

}  // namespace detail

/// Reads one message.
///
///     tandem::io::buffered_reader reader(stream);
///     while (auto message = co_await tandem::io::read_frame(reader)) handle(*message);
///
/// @returns        none if the stream ended before the first byte of one
/// @throws         stream_errc::too_long, with both sizes in the text; stream_errc::unexpected_end;
///                 as the stream's read(); std::bad_alloc
/// @cancellation   takes nothing
/// @resumes_on     the caller's home
/// @cost           the message's memory, and one or two frames
template <readable_stream Stream>
task<std::optional<std::vector<std::byte>>> read_frame(buffered_reader<Stream>& from,
                                                       frame_format format = {}) {
  const auto prefix_bytes = static_cast<std::size_t>(format.prefix);
  while (from.buffered().size() < prefix_bytes) {
    if (co_await from.fill() != 0) continue;
    if (from.buffered().empty()) co_return std::nullopt;
    throw std::system_error(stream_errc::unexpected_end, "read_frame");
  }
  std::array<std::byte, 8> kept{};
  const std::span<std::byte> head = std::span(kept).first(prefix_bytes);
  const std::span<const std::byte> seen = from.buffered().first(prefix_bytes);
  std::copy(seen.begin(), seen.end(), head.begin());
  std::vector<std::byte> message(detail::length_of_frame(format, head));
  co_await detail::frame_reading::behind(from, head, message);
  co_return message;
}

/// Whether read_frame() has what it needs already (also to fail): else it would wait, and who
/// answers pipelined messages flushes before.
template <readable_stream Stream>
bool has_frame(const buffered_reader<Stream>& from, const frame_format& format = {}) {
  const auto prefix_bytes = static_cast<std::size_t>(format.prefix);
  const std::span<const std::byte> held = from.buffered();
  if (held.size() < prefix_bytes) return false;
  try {
    const std::size_t length = detail::length_of_frame(format, held.first(prefix_bytes));
    return held.size() - prefix_bytes >= length;
  } catch (const std::system_error&) {
    return true;  // too_long, says read_frame()
  }
}

/// Writes one message.
///
/// @param message  alive until the await returns
/// @throws         stream_errc::too_long, before anything was written; as the stream's write_all()
/// @cancellation   as write_all(): how much was written is unknown then
/// @resumes_on     the caller's home
/// @cost           one frame; length and message go in one piece to a stream that takes lists
template <writable_stream Stream>
task<void> write_frame(Stream& to, std::span<const std::byte> message, frame_format format = {}) {
  const detail::frame_head head(format, message.size());
  if constexpr (detail::takes_lists<Stream>) {
    const std::array<std::span<const std::byte>, 2> list{head.bytes(), message};
    co_await to.write_all(list);
  } else {
    co_await to.write_all(head.bytes());
    co_await to.write_all(message);
  }
}

}  // namespace tandem::inline v0::io
