// socket_options.cpp: setting the options of a TCP socket, all that are given.
// SPDX-License-Identifier: MIT
#include "net/socket_options.hpp"

#include <string>

#include "platform/sockets.hpp"

namespace tandem::inline v0::io {

const char* apply_options(native_descriptor socket, const tcp_options& options) noexcept {
  if (!platform::set_no_delay(socket, options.no_delay)) return "no_delay";
  if (options.alive && !platform::set_keep_alive(socket, options.alive)) return "alive";
  if (options.linger && !platform::set_linger(socket, options.linger)) return "linger";
  if (options.receive_buffer_bytes &&
      !platform::set_receive_buffer_bytes(socket, *options.receive_buffer_bytes)) {
    return "receive_buffer_bytes";
  }
  if (options.send_buffer_bytes &&
      !platform::set_send_buffer_bytes(socket, *options.send_buffer_bytes)) {
    return "send_buffer_bytes";
  }
  if (options.user_timeout && !platform::set_user_timeout(socket, *options.user_timeout)) {
    return "user_timeout";
  }
  if (options.quick_ack && !platform::set_quick_ack(socket, *options.quick_ack)) {
    return "quick_ack";
  }
  return nullptr;
}

void apply_options_or_throw(native_descriptor socket, const tcp_options& options,
                            const char* what) {
  const char* const refused = apply_options(socket, options);
  if (refused != nullptr) {
    platform::throw_last_error(std::string(what) + ": tcp_options::" + refused);
  }
}

}  // namespace tandem::inline v0::io
