// socket_options.cpp: setting the options of a TCP socket, all that are given.
// SPDX-License-Identifier: MIT
#include "net/socket_options.hpp"

#include <optional>
#include <string>

#include "platform/sockets.hpp"
#include "platform/tcp_details.hpp"

namespace tandem::inline v0::io {

namespace {

/// One option after the other, up to the first that is refused.
class setting {
 public:
  explicit setting(native_descriptor socket) noexcept : socket_(socket) {}

  template <class T, class Set>
  setting& with(const char* name, const std::optional<T>& value, Set set) noexcept {
    if (refused || !value) return *this;
    if (const std::error_code error = set(socket_, *value)) refused = {name, error};
    return *this;
  }

  refused_option refused;

 private:
  native_descriptor socket_;
};

}  // namespace

refused_option apply_options(native_descriptor socket, const tcp_options& options) noexcept {
  namespace p = platform;
  return setting(socket)
      .with("no_delay", std::optional(options.no_delay), p::set_no_delay)
      .with("alive", options.alive, p::set_keep_alive)
      .with("linger", options.linger, p::set_linger)
      .with("receive_buffer_bytes", options.receive_buffer_bytes, p::set_receive_buffer_bytes)
      .with("send_buffer_bytes", options.send_buffer_bytes, p::set_send_buffer_bytes)
      .with("user_timeout", options.user_timeout, p::set_user_timeout)
      .with("quick_ack", options.quick_ack, p::set_quick_ack)
      .with("traffic_class", options.traffic_class, p::set_traffic_class)
      .with("device", options.device, p::set_device)
      .with("mark", options.mark, p::set_mark)
      .with("congestion_control", options.congestion_control, p::set_congestion_control)
      .with("max_segment_bytes", options.max_segment_bytes, p::set_max_segment_bytes)
      .with("fast_open", options.fast_open, p::set_fast_open)
      .refused;
}

void apply_options_or_throw(native_descriptor socket, const tcp_options& options,
                            const char* what) {
  if (const refused_option refused = apply_options(socket, options)) {
    throw std::system_error(refused.error, std::string(what) + ": tcp_options::" + refused.name);
  }
}

}  // namespace tandem::inline v0::io
