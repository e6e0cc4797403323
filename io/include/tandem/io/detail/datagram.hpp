// datagram.hpp: one datagram, in the frame that awaits it: its bytes, and with whom.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <tandem/io/endpoint.hpp>

namespace tandem::inline v0::io::detail {

/// What an operation with buffer_form::datagram points to. The backend writes peer and is_cut when
/// one was received.
class datagram {
 public:
  datagram(void* room, std::size_t size, const endpoint& with = {}) noexcept
      : data(room), bytes(size), peer(with) {}

  void* data;
  std::size_t bytes;
  endpoint peer;
  bool is_cut = false;  // it was longer than the buffer: the system has dropped the rest
};

/// What receive_from() yields.
class received_datagram {
 public:
  received_datagram(std::size_t size, const endpoint& from, bool cut) noexcept
      : bytes(size), sender(from), is_cut(cut) {}

  std::size_t bytes;  // in the buffer; 0: it was empty, which is no end of anything
  endpoint sender;
  bool is_cut;  // it was longer than the buffer, and its rest is lost
};

}  // namespace tandem::inline v0::io::detail
