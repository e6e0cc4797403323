// socket_options.cpp: setting the options of a TCP socket, all that are given.
// SPDX-License-Identifier: MIT
#include "net/socket_options.hpp"

#include <string>

#include "platform/sockets.hpp"

namespace tandem::inline v0::io {

refused_option apply_options(native_descriptor socket, const tcp_options& options) noexcept {
  std::error_code error = platform::set_no_delay(socket, options.no_delay);
  if (error) return {"no_delay", error};
  if (options.alive) error = platform::set_keep_alive(socket, options.alive);
  if (error) return {"alive", error};
  if (options.linger) error = platform::set_linger(socket, options.linger);
  if (error) return {"linger", error};
  if (options.receive_buffer_bytes)
    error = platform::set_receive_buffer_bytes(socket, *options.receive_buffer_bytes);
  if (error) return {"receive_buffer_bytes", error};
  if (options.send_buffer_bytes)
    error = platform::set_send_buffer_bytes(socket, *options.send_buffer_bytes);
  if (error) return {"send_buffer_bytes", error};
  if (options.user_timeout) error = platform::set_user_timeout(socket, *options.user_timeout);
  if (error) return {"user_timeout", error};
  if (options.quick_ack) error = platform::set_quick_ack(socket, *options.quick_ack);
  if (error) return {"quick_ack", error};
  return {};
}

void apply_options_or_throw(native_descriptor socket, const tcp_options& options,
                            const char* what) {
  if (const refused_option refused = apply_options(socket, options)) {
    throw std::system_error(refused.error, std::string(what) + ": tcp_options::" + refused.name);
  }
}

}  // namespace tandem::inline v0::io
