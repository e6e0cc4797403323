// processes.cpp: processes with descriptors and signals are none of Windows's.
// SPDX-License-Identifier: MIT
#include "platform/processes.hpp"

namespace tandem::inline v0::io::platform {

namespace {
std::error_code missing() noexcept { return std::make_error_code(std::errc::not_supported); }
}  // namespace

start_failure start_child(const child_plan& /*plan*/, started_child& /*made*/) noexcept {
  start_failure failed;
  failed.error = missing();
  return failed;
}
result<std::optional<process_exit>> exit_of(const started_child& /*child*/,
                                            taking /*what*/) noexcept {
  return missing();
}
int signal_of(ending /*how*/) noexcept { return 0; }
std::error_code send_signal(const started_child& /*child*/, int /*number*/,
                            bool /*to_group*/) noexcept {
  return missing();
}
int own_id() noexcept { return 0; }
const char* const* own_environment() noexcept {
  static const char* const none[] = {nullptr};
  return none;
}
result<native_descriptor> open_for_child(const process_stdio& /*what*/) noexcept {
  return missing();
}
bool is_inherited(native_descriptor /*descriptor*/) noexcept { return false; }
void wait_for_any(std::span<const native_descriptor> /*ends*/,
                  std::chrono::milliseconds /*limit*/) noexcept {}
void write_byte(native_descriptor /*writer*/) noexcept {}
void drain(native_descriptor /*reader*/) noexcept {}

}  // namespace tandem::inline v0::io::platform
