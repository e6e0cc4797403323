// datagram_room.hpp: memory for what one receive may bring: the largest datagram, or train of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/udp_options.hpp>

namespace tandem::inline v0::io::detail {

/// The bytes follow it. The system gives pages to it as they are written, so a short datagram takes
/// one or two.
class datagram_room {
 public:
  /// No datagram is longer, and the kernel gathers no more.
  static constexpr std::size_t capacity = 65535;

  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }  // NOLINT

  datagram_room* next = nullptr;  // of whoever has it
  std::uint32_t size = 0;
  std::uint32_t segment_bytes = 0;  // 0: it is one datagram
  std::uint32_t interface_index = 0;
  ecn_mark mark = ecn_mark::none;
  endpoint sender;
  endpoint receiver;
};

/// Each thread keeps some. @throws std::bad_alloc
TANDEM_IO_API datagram_room& take_datagram_room();
TANDEM_IO_API void give_back_datagram_room(datagram_room& room) noexcept;

struct datagram_room_deleter {
  void operator()(datagram_room* room) const noexcept { give_back_datagram_room(*room); }
};
using datagram_room_handle = std::unique_ptr<datagram_room, datagram_room_deleter>;

}  // namespace tandem::inline v0::io::detail
