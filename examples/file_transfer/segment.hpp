// segment.hpp: what the two sides of a transfer send each other.
// SPDX-License-Identifier: MIT
//
// All numbers in network order. The file is cut into segments of payload_bytes, of which the last one
// may be shorter. Each has a header; an acknowledgement is a header and a map of what has come, and
// a farewell, by which a sender says that it knows all to be there, is a header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace transfer {

/// A datagram of that size fits nearly every way through the Internet.
constexpr std::size_t segment_bytes = 1200;
constexpr std::size_t header_bytes = 20;
constexpr std::size_t payload_bytes = segment_bytes - header_bytes;
/// How far an acknowledgement looks beyond the first segment that is missing.
constexpr std::size_t map_bits = 1024;

enum class kind : std::uint8_t { data = 1, acknowledgement = 2, farewell = 3 };

class header {
 public:
  header() = default;
  kind what = kind::data;
  std::uint32_t transfer = 0;  ///< chosen by the sender, so that an older one disturbs nobody
  std::uint32_t number = 0;    ///< of the segment; in an acknowledgement the first that is missing
  std::uint64_t file_bytes = 0;  ///< of all of it
};

inline std::uint32_t segments_of(std::uint64_t file_bytes) {
  return static_cast<std::uint32_t>((file_bytes + payload_bytes - 1) / payload_bytes);
}
/// The longest file whose segments have numbers.
constexpr std::uint64_t most_file_bytes = std::uint64_t{0xfffffff0} * payload_bytes;

namespace detail {
constexpr std::uint64_t magic = 0x7446;

template <class Byte>
std::uint64_t get(std::span<Byte> from, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value = value << 8 | std::to_integer<std::uint64_t>(from[at + i]);
  }
  return value;
}
inline void put(std::span<std::byte> to, std::size_t at, std::size_t width, std::uint64_t value) {
  for (std::size_t i = 0; i < width; ++i) {
    to[at + i] = static_cast<std::byte>(value >> 8 * (width - 1 - i) & 0xff);
  }
}
}  // namespace detail

/// pre: room for header_bytes
inline void write_header(const header& what, std::span<std::byte> to) {
  detail::put(to, 0, 2, detail::magic);
  detail::put(to, 2, 1, static_cast<std::uint64_t>(what.what));
  detail::put(to, 3, 1, 0);
  detail::put(to, 4, 4, what.transfer);
  detail::put(to, 8, 4, what.number);
  detail::put(to, 12, 8, what.file_bytes);
}

/// @returns  nothing if it is of somebody else
inline std::optional<header> read_header(std::span<const std::byte> from) {
  if (from.size() < header_bytes || detail::get(from, 0, 2) != detail::magic) return std::nullopt;
  header read;
  read.what = static_cast<kind>(detail::get(from, 2, 1));
  read.transfer = static_cast<std::uint32_t>(detail::get(from, 4, 4));
  read.number = static_cast<std::uint32_t>(detail::get(from, 8, 4));
  read.file_bytes = detail::get(from, 12, 8);
  return read;
}

/// Which of the segments from a first one on have come.
class arrival_map {
 public:
  static constexpr std::size_t bytes = map_bits / 8;

  void set(std::size_t distance) { bits_[distance / 8] |= std::byte{1} << distance % 8; }
  bool has(std::size_t distance) const {
    return (bits_[distance / 8] & std::byte{1} << distance % 8) != std::byte{0};
  }
  std::span<const std::byte> as_bytes() const { return bits_; }
  /// pre: at least `bytes` of them
  static arrival_map of(std::span<const std::byte> given) {
    arrival_map map;
    std::memcpy(map.bits_.data(), given.data(), bytes);
    return map;
  }

 private:
  std::array<std::byte, bytes> bits_{};
};

}  // namespace transfer
