// tcp_details.cpp: options that some systems have: where the headers do not name one it is not supported.
// SPDX-License-Identifier: MIT
#include "platform/tcp_details.hpp"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "platform/unix/socket_questions.hpp"
#include "platform/unix/socket_setting.hpp"

namespace tandem::inline v0::io::platform {

namespace {

[[maybe_unused]] std::error_code missing() noexcept {
  return std::make_error_code(std::errc::not_supported);
}

bool is_v6(int socket) noexcept {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  return ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&  // NOLINT
         own.ss_family == AF_INET6;
}

/// @returns  no text if it cannot be asked
[[maybe_unused]] system_name name_of(int socket, int level, int option) noexcept {
  std::array<char, 64> text{};
  socklen_t size = text.size() - 1;
  if (::getsockopt(socket, level, option, text.data(), &size) != 0) return {};
  const std::size_t length = std::strlen(text.data());
  if (length > system_name::most_characters) return {};
  return system_name(std::string_view(text.data(), length));
}

}  // namespace

std::error_code set_traffic_class(native_descriptor socket, std::uint8_t value) noexcept {
  const int wanted = value;
  const bool has_v6 = is_v6(socket);
  if (has_v6) {
    if (const auto error = set(socket, IPPROTO_IPV6, IPV6_TCLASS, wanted)) return error;
  }
  // Of a v6 socket for the v4 peers that it may have: not every system knows that.
  const std::error_code error = set(socket, IPPROTO_IP, IP_TOS, wanted);
  return has_v6 ? std::error_code() : error;
}

std::error_code set_device([[maybe_unused]] native_descriptor socket,
                           [[maybe_unused]] const system_name& name) noexcept {
#if defined(SO_BINDTODEVICE)
  return error_of_call(::setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, name.c_str(),
                                    static_cast<socklen_t>(name.view().size())));
#else
  return missing();
#endif
}

std::error_code set_mark([[maybe_unused]] native_descriptor socket,
                         [[maybe_unused]] std::uint32_t mark) noexcept {
#if defined(SO_MARK)
  return set(socket, SOL_SOCKET, SO_MARK, mark);
#else
  return missing();
#endif
}

std::error_code set_congestion_control([[maybe_unused]] native_descriptor socket,
                                       [[maybe_unused]] const system_name& name) noexcept {
#if defined(TCP_CONGESTION)
  return error_of_call(::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.c_str(),
                                    static_cast<socklen_t>(name.view().size())));
#else
  return missing();
#endif
}

std::error_code set_max_segment_bytes(native_descriptor socket, std::size_t bytes) noexcept {
  return set(socket, IPPROTO_TCP, TCP_MAXSEG, to_int(bytes));
}

std::error_code set_fast_open([[maybe_unused]] native_descriptor socket,
                              [[maybe_unused]] bool on) noexcept {
#if defined(TCP_FASTOPEN_CONNECT)
  return set(socket, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, on ? 1 : 0);
#else
  return missing();
#endif
}

std::error_code set_fast_open_queue([[maybe_unused]] native_descriptor socket,
                                    [[maybe_unused]] unsigned requests) noexcept {
#if defined(TCP_FASTOPEN)
  return set(socket, IPPROTO_TCP, TCP_FASTOPEN, to_int(requests));
#else
  return missing();
#endif
}

std::error_code set_defer_accept([[maybe_unused]] native_descriptor socket,
                                 [[maybe_unused]] std::chrono::seconds span) noexcept {
#if defined(TCP_DEFER_ACCEPT)
  return set(socket, IPPROTO_TCP, TCP_DEFER_ACCEPT, to_int(span.count()));
#else
  return missing();
#endif
}

void add_details(native_descriptor descriptor, tcp_options& options) noexcept {
  socket_questions socket(descriptor);
  options.traffic_class = static_cast<std::uint8_t>(
      is_v6(descriptor) ? socket.ask(IPPROTO_IPV6, IPV6_TCLASS) : socket.ask(IPPROTO_IP, IP_TOS));
#if defined(SO_BINDTODEVICE)
  const system_name device = name_of(descriptor, SOL_SOCKET, SO_BINDTODEVICE);
  if (device != system_name()) options.device = device;
#endif
#if defined(SO_MARK)
  if (const int mark = socket.ask(SOL_SOCKET, SO_MARK); mark != 0) {
    options.mark = static_cast<std::uint32_t>(mark);
  }
#endif
#if defined(TCP_CONGESTION)
  const system_name control = name_of(descriptor, IPPROTO_TCP, TCP_CONGESTION);
  if (control != system_name()) options.congestion_control = control;
#endif
}

}  // namespace tandem::inline v0::io::platform
