// message_failure.cpp: looks at a socket and a message for what the system has refused.
// SPDX-License-Identifier: MIT
#include "local/message_failure.hpp"

#include <cstddef>

#include "platform/descriptor.hpp"

namespace tandem::inline v0::io {

namespace {

std::string closed_descriptor(std::span<const native_descriptor> given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (platform::is_open(given[i])) continue;
    return ": descriptor " + std::to_string(given[i]) + " (no. " + std::to_string(i) +
           " of the list) is not open";
  }
  return {};
}

std::string senseless(const detail::local_message& message) {
  if (message.given.size() > detail::local_message::most_given) {
    return ": " + std::to_string(message.given.size()) + " descriptors, and the most at once are " +
           std::to_string(detail::local_message::most_given);
  }
  if (message.bytes == 0 && !message.given.empty()) return ": descriptors need a byte to go with";
  return {};
}

}  // namespace

const char* why_not_open(const detail::socket& socket) noexcept {
  return socket.is_open() ? "" : ": the socket is not open";
}

std::string why_not_sent(const std::error_code& failure, const detail::socket& socket,
                         const detail::local_message& message) {
  if (!socket.is_open()) return why_not_open(socket);
  if (failure == std::errc::bad_file_descriptor) return closed_descriptor(message.given);
  if (failure == std::errc::invalid_argument) return senseless(message);
  if (failure == std::errc::message_size) {
    return ": " + std::to_string(message.bytes) +
           " bytes; a message has to fit the send buffer of its socket (SO_SNDBUF)";
  }
  return {};
}

}  // namespace tandem::inline v0::io
