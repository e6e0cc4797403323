// datagram_message.hpp: a datagram as sendmsg() and recvmsg() take it.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <tandem/io/detail/datagram.hpp>

#include "platform/unix/socket_address.hpp"

namespace tandem::inline v0::io::platform {

/// Lies still until the call has ended: its parts point to each other.
class datagram_message {
 public:
  /// To be received.
  explicit datagram_message(detail::datagram& into) noexcept : part_{into.data, into.bytes} {
    header_.msg_name = address_.data();
    header_.msg_namelen = *address_.capacity();
    aim();
  }
  /// To be sent.
  explicit datagram_message(const detail::datagram& what) noexcept : part_{what.data, what.bytes} {
    if (what.has_peer) {
      address_ = socket_address(what.peer);
      header_.msg_name = address_.data();
      header_.msg_namelen = address_.size();
    }
    aim();
  }
  datagram_message(const datagram_message&) = delete;
  datagram_message& operator=(const datagram_message&) = delete;

  msghdr& header() noexcept { return header_; }
  /// Of one that was received: whose it was, and whether all of it fitted.
  void tell(detail::datagram& received) const noexcept {
    // A socket that is connected as a stream names nobody.
    if (header_.msg_namelen != 0) received.peer = address_.to_endpoint();
    received.is_cut = (header_.msg_flags & MSG_TRUNC) != 0;
  }

 private:
  void aim() noexcept {
    header_.msg_iov = &part_;
    header_.msg_iovlen = 1;
  }

  socket_address address_;
  iovec part_;
  msghdr header_{};
};

}  // namespace tandem::inline v0::io::platform
