// tcp_details.cpp: none of these options is one of Windows, or does there what it says.
// SPDX-License-Identifier: MIT
#include "platform/tcp_details.hpp"

namespace tandem::inline v0::io::platform {

namespace {
std::error_code missing() noexcept { return std::make_error_code(std::errc::not_supported); }
}  // namespace

std::error_code set_traffic_class(native_descriptor /*socket*/, std::uint8_t /*value*/) noexcept {
  return missing();
}
std::error_code set_device(native_descriptor /*socket*/, const system_name& /*name*/) noexcept {
  return missing();
}
std::error_code set_mark(native_descriptor /*socket*/, std::uint32_t /*mark*/) noexcept {
  return missing();
}
std::error_code set_congestion_control(native_descriptor /*socket*/,
                                       const system_name& /*name*/) noexcept {
  return missing();
}
std::error_code set_max_segment_bytes(native_descriptor /*socket*/,
                                      std::size_t /*bytes*/) noexcept {
  return missing();
}
std::error_code set_fast_open(native_descriptor /*socket*/, bool /*on*/) noexcept {
  return missing();
}
std::error_code set_fast_open_queue(native_descriptor /*socket*/, unsigned /*requests*/) noexcept {
  return missing();
}
std::error_code set_defer_accept(native_descriptor /*socket*/,
                                 std::chrono::seconds /*span*/) noexcept {
  return missing();
}
void add_details(native_descriptor /*socket*/, tcp_options& /*options*/) noexcept {}
result<tcp_statistics> statistics_of(native_descriptor /*socket*/) noexcept { return missing(); }

}  // namespace tandem::inline v0::io::platform
