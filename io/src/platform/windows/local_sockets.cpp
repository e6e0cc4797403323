// local_sockets.cpp: Windows has streams of this kind only, without descriptors, and none of it is here yet.
// SPDX-License-Identifier: MIT
#include "platform/local_sockets.hpp"

#include <cerrno>

namespace tandem::inline v0::io::platform {

namespace {
std::error_code missing() noexcept { return std::make_error_code(std::errc::not_supported); }
}  // namespace

result<native_descriptor> open_local_socket(local_kind /*kind*/) noexcept { return missing(); }
result<std::array<native_descriptor, 2>> make_local_pair(local_kind /*kind*/) noexcept {
  return missing();
}
std::error_code bind_local(native_descriptor /*socket*/, const unix_endpoint& /*address*/,
                           std::int64_t /*permissions*/) noexcept {
  return missing();
}
std::error_code connect_local(native_descriptor /*socket*/,
                              const unix_endpoint& /*peer*/) noexcept {
  return missing();
}
result<detail::file_identity> identity_of(const unix_endpoint& /*path*/) noexcept {
  return missing();
}
void remove_path(const unix_endpoint& /*path*/) noexcept {}
result<unix_endpoint> local_name_of(native_descriptor /*socket*/) noexcept { return missing(); }
result<unix_endpoint> local_peer_of(native_descriptor /*socket*/) noexcept { return missing(); }
result<peer_credentials> credentials_of(native_descriptor /*socket*/) noexcept { return missing(); }
std::error_code tell_credentials(native_descriptor /*socket*/) noexcept { return missing(); }
refusal adopt_local_socket(native_descriptor /*descriptor*/, local_kind /*wanted*/,
                           bool /*listens*/) noexcept {
  return {missing(), "is no Unix socket: Windows has none"};
}
std::int32_t receive_local(detail::operation& /*operation*/) noexcept { return -ENOTSUP; }
std::int32_t send_local(detail::operation& /*operation*/) noexcept { return -ENOTSUP; }
std::int32_t send_local_to(native_descriptor /*socket*/, const detail::local_message& /*message*/,
                           const unix_endpoint& /*receiver*/) noexcept {
  return -ENOTSUP;
}

}  // namespace tandem::inline v0::io::platform
