// attempt.cpp: the system calls of each kind of operation, none of which blocks.
// SPDX-License-Identifier: MIT
//
// Windows has no "do not wait" of a single call, so sockets of ours do not block from the start
// (sockets.cpp), nor do those that are accepted; what is foreign is only asked.
#include "platform/attempt.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <tandem/io/detail/datagram.hpp>
#include <tandem/io/detail/segment_window.hpp>

#include "platform/datagrams.hpp"
#include "platform/descriptor.hpp"
#include "platform/local_sockets.hpp"
#include "platform/two_ends.hpp"
#include "platform/windows/file_calls.hpp"
#include "platform/windows/socket_address.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

namespace {

using detail::operation;
using detail::operation_kind;

/// More is no error: the rest is asked for again.
constexpr std::size_t call_bytes = 0x7ffff000;
int capped(std::size_t bytes) noexcept { return static_cast<int>(std::min(bytes, call_bytes)); }

std::int32_t failure(native_descriptor socket) noexcept {
  return ::WSAGetLastError() == WSAEWOULDBLOCK ? would_block : -last_number_of(socket);
}
/// Of a call that answers with a number of bytes, or with SOCKET_ERROR.
std::int32_t told(native_descriptor socket, int answer) noexcept {
  return answer >= 0 ? answer : failure(socket);
}

/// A list as WSASend() and WSARecv() take it.
class buffer_list {
 public:
  explicit buffer_list(std::span<const detail::segment> from) noexcept {
    std::size_t left = call_bytes;
    for (const detail::segment& each : from) {
      const std::size_t bytes = std::min(each.bytes, left);
      if (bytes == 0) break;
      list_[count_++] = WSABUF{static_cast<ULONG>(bytes), static_cast<CHAR*>(each.data)};
      left -= bytes;
    }
  }
  WSABUF* data() noexcept { return list_.data(); }
  DWORD count() const noexcept { return count_; }

 private:
  std::array<WSABUF, detail::segment_window::capacity> list_;
  DWORD count_ = 0;
};

std::int32_t receive_list(operation& operation) noexcept {
  buffer_list list(operation.window().segments());
  DWORD bytes = 0;
  DWORD flags = 0;
  if (::WSARecv(operation.descriptor(), list.data(), list.count(), &bytes, &flags, nullptr,
                nullptr) == 0) {
    return static_cast<std::int32_t>(bytes);
  }
  return ::WSAGetLastError() == WSAESHUTDOWN ? 0 : failure(operation.descriptor());
}

std::int32_t send_list(operation& operation) noexcept {
  buffer_list list(operation.window().segments());
  DWORD bytes = 0;
  if (::WSASend(operation.descriptor(), list.data(), list.count(), &bytes, 0, nullptr, nullptr) ==
      0) {
    return static_cast<std::int32_t>(bytes);
  }
  return failure(operation.descriptor());
}

/// What select() tells: whether it can be written to, and what is the matter else: a connect that
/// has failed, or urgent data.
struct write_state {
  int answer;
  bool is_exceptional;
};
write_state ask_write_state(native_descriptor descriptor) noexcept {
  fd_set done;
  fd_set failed;
  done.fd_count = failed.fd_count = 1;
  done.fd_array[0] = failed.fd_array[0] = descriptor;
  timeval at_once{0, 0};
  const int answer = ::select(0, nullptr, &done, &failed, &at_once);
  return {answer, answer > 0 && failed.fd_count != 0};
}

bool has_peer(native_descriptor descriptor) noexcept {
  socket_address peer;
  return ::getpeername(descriptor, peer.data(), peer.capacity()) == 0;
}

/// For an operation that is followed by no call of ours.
std::int32_t readiness(native_descriptor descriptor, short events) noexcept {
  WSAPOLLFD asked{descriptor, events, 0};
  const int ready = ::WSAPoll(&asked, 1, 0);
  if (ready < 0) return failure(descriptor);
  if (ready == 0) {
    // WSAPoll() did not tell of a connect that failed before Windows 10, 2004; the driver does, so
    // whoever waited for it would ask again for ever.
    const bool has_failed = (events & POLLOUT) != 0 && ask_write_state(descriptor).is_exceptional &&
                            !has_peer(descriptor);
    return has_failed ? POLLOUT | POLLERR | POLLHUP : would_block;
  }
  if ((asked.revents & POLLNVAL) == 0) return asked.revents;
  return is_open(descriptor) ? -number_of(WSAENOTSOCK) : -EBADF;
}

std::int32_t begin_connect(operation& operation) noexcept {
  const socket_address peer(operation.peer());
  if (::connect(operation.descriptor(), peer.data(), peer.size()) == 0) return 0;
  switch (::WSAGetLastError()) {
    case WSAEISCONN: return 0;
    // It was begun on another thread (moving/cancel), or has been just now: it goes on by itself.
    case WSAEALREADY:
    case WSAEINPROGRESS: return would_block;
    default: return failure(operation.descriptor());
  }
}

std::int32_t connect_outcome(native_descriptor descriptor) noexcept {
  const write_state state = ask_write_state(descriptor);
  if (state.answer < 0) return failure(descriptor);
  if (state.answer == 0) return would_block;
  int error = 0;
  int size = sizeof error;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, reinterpret_cast<char*>(&error),  // NOLINT
                   &size) != 0) {
    return failure(descriptor);
  }
  // "Not always set at once", as the documentation of SO_ERROR says.
  if (error == 0 && state.is_exceptional) error = WSAECONNREFUSED;
  return error == 0 ? 0 : -number_of(static_cast<DWORD>(error));
}

std::int32_t receive_from(operation& operation) noexcept {
  detail::datagram& into = operation.of_datagram();
  socket_address sender;
  const int bytes = ::recvfrom(operation.descriptor(), static_cast<char*>(into.data),
                               capped(into.bytes), 0, sender.data(), sender.capacity());
  into.is_cut = bytes < 0 && ::WSAGetLastError() == WSAEMSGSIZE;
  if (bytes < 0 && !into.is_cut) return failure(operation.descriptor());
  into.peer = sender.to_endpoint();
  return into.is_cut ? capped(into.bytes) : bytes;
}

std::int32_t send_to(operation& operation) noexcept {
  const detail::datagram& what = operation.of_datagram();
  const auto* const data = static_cast<const char*>(what.data);
  const SOCKET by = operation.descriptor();
  if (!what.has_peer) return told(operation.descriptor(), ::send(by, data, capped(what.bytes), 0));
  const socket_address receiver(what.peer);
  return told(operation.descriptor(),
              ::sendto(by, data, capped(what.bytes), 0, receiver.data(), receiver.size()));
}

/// What is there already. pre: nobody else reads from this end meanwhile
std::int32_t read_pipe(operation& operation) noexcept {
  DWORD there = 0;
  const native_descriptor from = operation.descriptor();
  if (::PeekNamedPipe(handle_of(from), nullptr, 0, nullptr, &there, nullptr) == 0) {
    const DWORD code = ::GetLastError();
    return code == ERROR_BROKEN_PIPE ? 0 : -number_of(code);
  }
  if (there == 0) return would_block;
  return transfer(true, from, operation.buffer(), std::min<std::size_t>(there, operation.bytes()),
                  0);
}

}  // namespace

void set_non_blocking(native_descriptor descriptor) noexcept {
  u_long on = 1;
  (void)::ioctlsocket(descriptor, FIONBIO,
                      &on);  // fails with what the call that follows fails with
}

std::int32_t accept_now(native_descriptor listener) noexcept {
  const SOCKET made = ::accept(listener, nullptr, nullptr);
  if (made == INVALID_SOCKET) {
    // Others say "aborted" of a connection that was reset before it was accepted.
    return ::WSAGetLastError() == WSAECONNRESET ? -ECONNABORTED : failure(listener);
  }
  set_non_blocking(made);
  (void)::SetHandleInformation(handle_of(made), HANDLE_FLAG_INHERIT, 0);
  return outcome_of(made);
}

std::int32_t receive_now(native_descriptor socket, void* data, std::size_t bytes) noexcept {
  const int answer = ::recv(socket, static_cast<char*>(data), capped(bytes), 0);
  if (answer >= 0) return answer;
  // Others say that the stream has ended where we have ended this side of it.
  return ::WSAGetLastError() == WSAESHUTDOWN ? 0 : failure(socket);
}

std::int32_t begin_attempt(operation& operation) noexcept {
  if (operation.kind() == operation_kind::connect) return begin_connect(operation);
  return next_attempt(operation);
}

std::int32_t next_attempt(operation& operation) noexcept {
  const native_descriptor descriptor = operation.descriptor();
  switch (operation.kind()) {
    case operation_kind::accept: return accept_now(descriptor);
    case operation_kind::connect: return connect_outcome(descriptor);
    // What signal_set reads from is a socket here.
    case operation_kind::read_own:
    case operation_kind::receive:
      return receive_now(descriptor, operation.buffer(), operation.bytes());
    case operation_kind::send:
    case operation_kind::send_all:
    case operation_kind::send_zero_copy:
      return told(descriptor, ::send(descriptor, static_cast<const char*>(operation.buffer()),
                                     capped(operation.bytes()), 0));
    case operation_kind::receive_vector: return receive_list(operation);
    case operation_kind::send_all_vector: return send_list(operation);
    case operation_kind::receive_from: return receive_from(operation);
    case operation_kind::send_to: return send_to(operation);
    case operation_kind::receive_batch: return receive_batch(operation);
    case operation_kind::send_train: return send_train(operation);
    case operation_kind::send_datagrams: return send_datagrams(operation);
    case operation_kind::receive_message: return receive_local(operation);
    case operation_kind::send_message: return send_local(operation);
    case operation_kind::read_shared:
    case operation_kind::write_shared:
    case operation_kind::write_all_shared: break;  // all of those are files here
    case operation_kind::wait_process:
      return ::WaitForSingleObject(handle_of(descriptor), 0) == WAIT_OBJECT_0 ? POLLIN
                                                                              : would_block;
    case operation_kind::read_pipe: return read_pipe(operation);
    // Nobody tells how much room there is: the port has it wait (processes/port).
    case operation_kind::write_pipe:
    case operation_kind::write_all_pipe: return would_block;
    case operation_kind::send_file: return send_file(operation);
    case operation_kind::fill_pipe: return fill_pipe(operation);
    case operation_kind::drain_pipe: return drain_pipe(operation);
    case operation_kind::wait_readable: return readiness(descriptor, POLLIN);
    case operation_kind::wait_writable: return readiness(descriptor, POLLOUT);
    case operation_kind::file: break;  // it waits for no direction
  }
  return -ENOTSUP;
}

std::int32_t attempt_when_ready(operation& operation) noexcept { return next_attempt(operation); }

ready_events events_of(std::int32_t outcome) noexcept {
  return {(outcome & POLLIN) != 0, (outcome & POLLOUT) != 0, (outcome & POLLERR) != 0,
          (outcome & POLLHUP) != 0};
}

}  // namespace tandem::inline v0::io::platform
