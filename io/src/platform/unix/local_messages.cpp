// local_messages.cpp: messages of Unix sockets, with descriptors and credentials.
// SPDX-License-Identifier: MIT
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "platform/attempt.hpp"
#include "platform/local_sockets.hpp"
#include "platform/unix/call_limit.hpp"
#include "platform/unix/calls.hpp"
#include "platform/unix/local_address.hpp"

namespace tandem::inline v0::io::platform {

namespace {

using detail::local_message;

/// Room for descriptors, and for credentials beside.
struct local_control {
  alignas(cmsghdr) char bytes[CMSG_SPACE(local_message::most_given * sizeof(int)) +
                              64];  // NOLINT: as the system takes it
};

std::int32_t outcome_of(ssize_t answer) noexcept {
  if (answer >= 0) return static_cast<std::int32_t>(answer);
  return errno == EAGAIN || errno == EWOULDBLOCK ? would_block : -errno;
}

void take_descriptor(int descriptor, local_message& message) noexcept {
  const std::size_t limit = (std::min)(message.wanted, local_message::most_descriptors);
  if (message.count == limit) {
    ++message.surplus;
    (void)::close(descriptor);
    return;
  }
  keep_from_exec(descriptor);
  message.descriptors[message.count++] = descriptor;
}

void read_part(const cmsghdr& part, local_message& message) noexcept {
  if (part.cmsg_level != SOL_SOCKET) return;
  if (part.cmsg_type == SCM_RIGHTS) {
    const std::size_t count = (part.cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(&part) + i * sizeof descriptor, sizeof descriptor);
      take_descriptor(descriptor, message);
    }
  }
#if defined(SCM_CREDENTIALS)
  if (part.cmsg_type == SCM_CREDENTIALS) {
    ::ucred told{};
    std::memcpy(&told, CMSG_DATA(&part), sizeof told);
    message.credentials.emplace();
    message.credentials->process = told.pid;
    message.credentials->user = told.uid;
    message.credentials->group = told.gid;
  }
  // One comes with each message if somebody has set SO_PASSPIDFD, and nobody has asked for it here.
  constexpr int process_descriptor = 4;  // SCM_PIDFD, which headers may not have yet
  if (part.cmsg_type == process_descriptor) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(&part), sizeof descriptor);
    (void)::close(descriptor);
  }
#endif
}

/// pre: no more than the system takes
void attach(std::span<const native_descriptor> given, msghdr& header,
            local_control& control) noexcept {
  if (given.empty()) return;
  header.msg_control = control.bytes;
  header.msg_controllen = CMSG_SPACE(given.size_bytes());
  std::memset(control.bytes, 0, header.msg_controllen);
  cmsghdr* const part = CMSG_FIRSTHDR(&header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(given.size_bytes());
  std::memcpy(CMSG_DATA(part), given.data(), given.size_bytes());
}

std::int32_t send(int socket, const local_message& message,
                  const local_address* receiver) noexcept {
  if (message.given.size() > local_message::most_given) return -EINVAL;
  iovec bytes{message.data, capped(message.bytes)};
  msghdr header{};
  if (receiver != nullptr) {
    header.msg_name = const_cast<sockaddr*>(receiver->data());  // NOLINT: it is only read
    header.msg_namelen = receiver->size();
  }
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  local_control control;
  attach(message.given, header, control);
  return outcome_of(send_message(socket, header, false));
}

}  // namespace

std::int32_t receive_local(detail::operation& operation) noexcept {
  local_message& message = operation.of_message();
  iovec bytes{message.data, capped(message.bytes)};
  local_address sender;
  local_control control;
  msghdr header{};
  header.msg_name = sender.data();
  header.msg_namelen = *sender.capacity();
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes;
  header.msg_controllen = sizeof control.bytes;
  const std::int32_t outcome = outcome_of(receive_message(operation.descriptor(), header));
  if (outcome < 0) return outcome;
  *sender.capacity() = header.msg_namelen;
  message.sender = sender.to_endpoint();
  message.is_cut = (header.msg_flags & MSG_TRUNC) != 0;
  message.lacks_descriptors = (header.msg_flags & MSG_CTRUNC) != 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    read_part(*part, message);
  }
  return outcome;
}

std::int32_t send_local(detail::operation& operation) noexcept {
  const local_message& message = operation.of_message();
  // A stream would take them and send nothing.
  if (message.bytes == 0 && !message.given.empty()) return -EINVAL;
  return send(operation.descriptor(), message, nullptr);
}

std::int32_t send_local_to(native_descriptor socket, const local_message& message,
                           const unix_endpoint& receiver) noexcept {
  const local_address address(receiver);
  if (!address.fits()) return -ENAMETOOLONG;
  return send(socket, message, &address);
}

}  // namespace tandem::inline v0::io::platform
