// no_watches.cpp: systems whose changes are not told by a descriptor that is read.
// SPDX-License-Identifier: MIT
#include "platform/watches.hpp"

namespace tandem::inline v0::io::platform {

namespace {

std::error_code refusal() noexcept { return std::make_error_code(std::errc::not_supported); }

}  // namespace

result<native_descriptor> open_watches() noexcept { return refusal(); }
result<int> add_watch(native_descriptor /*watches*/, const char* /*path*/, watch_for /*what*/,
                      bool /*follows_link*/) noexcept {
  return refusal();
}
std::error_code remove_watch(native_descriptor /*watches*/, int /*watch*/) noexcept {
  return refusal();
}
std::size_t next_change(std::span<const std::byte> read, file_change& /*out*/) {
  return read.size();
}

}  // namespace tandem::inline v0::io::platform
