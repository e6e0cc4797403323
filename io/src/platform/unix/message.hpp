// message.hpp: a vectored transfer as sendmsg() and recvmsg() take it.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <tandem/io/detail/segment_window.hpp>

namespace tandem::inline v0::io::platform {

static_assert(sizeof(detail::segment) == sizeof(iovec) &&
              offsetof(detail::segment, data) == offsetof(iovec, iov_base) &&
              offsetof(detail::segment, bytes) == offsetof(iovec, iov_len));

inline msghdr message_of(detail::segment_window& window) noexcept {
  msghdr header{};
  // segment is laid out as iovec (above).
  header.msg_iov = reinterpret_cast<iovec*>(window.segments().data());  // NOLINT
  header.msg_iovlen = static_cast<decltype(header.msg_iovlen)>(window.segments().size());
  return header;
}

}  // namespace tandem::inline v0::io::platform
