// framing.cpp: lengths of frames, written and read.
// SPDX-License-Identifier: MIT
#include <limits>
#include <string>
#include <tandem/io/framing.hpp>

namespace tandem::inline v0::io::detail {

namespace {

/// The place of the n-th lowest byte of a length.
std::size_t place_of(std::size_t n, std::size_t size, std::endian order) noexcept {
  return order == std::endian::little ? n : size - 1 - n;
}

void check_length(const frame_format& format, std::uint64_t length, const char* what) {
  const auto size = static_cast<unsigned>(format.prefix);
  const std::uint64_t largest =
      size == 8 ? std::numeric_limits<std::uint64_t>::max() : (std::uint64_t{1} << (8 * size)) - 1;
  if (length <= format.max_bytes && length <= largest) return;
  throw std::system_error(
      stream_errc::too_long,
      std::string(what) + ": a message of " + std::to_string(length) + " bytes; at most " +
          std::to_string(std::min<std::uint64_t>(format.max_bytes, largest)) + " are allowed");
}

}  // namespace

frame_head::frame_head(const frame_format& format, std::size_t length)
    : bytes_{}, size_(static_cast<std::size_t>(format.prefix)) {
  check_length(format, length, "write_frame");
  std::uint64_t rest = length;
  for (std::size_t n = 0; n < size_; ++n, rest >>= 8) {
    bytes_[place_of(n, size_, format.order)] = static_cast<std::byte>(rest & 0xff);
  }
}

std::size_t length_of_frame(const frame_format& format, std::span<const std::byte> head) {
  std::uint64_t length = 0;
  for (std::size_t n = head.size(); n-- > 0;) {
    const std::byte next = head[place_of(n, head.size(), format.order)];
    length = (length << 8) | static_cast<std::uint64_t>(next);
  }
  check_length(format, length, "read_frame");
  return static_cast<std::size_t>(length);
}

}  // namespace tandem::inline v0::io::detail
