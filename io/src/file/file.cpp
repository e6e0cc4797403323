// file.cpp: a file of somebody else's, taken over.
// SPDX-License-Identifier: MIT
#include <cstdint>
#include <string>
#include <system_error>
#include <tandem/io/file.hpp>
#include <utility>

#include "platform/files.hpp"

namespace tandem::inline v0::io {

file file::from_native(native_descriptor descriptor, std::string name) {
  bool is_direct = false;
  if (const std::error_code error = platform::adopt_file(descriptor, is_direct)) {
    throw std::system_error(error, "file::from_native: descriptor " + std::to_string(descriptor));
  }
  if (name.empty()) name = "descriptor " + std::to_string(descriptor);
  return file(detail::file_handle(descriptor, std::move(name), is_direct));
}

file_command_awaiter file::advise(file_access how, std::uint64_t offset,
                                  std::size_t bytes) noexcept {
  // As a number of the system's a larger one is negative.
  constexpr auto most = static_cast<std::uint64_t>(INT64_MAX);
  const std::size_t told = bytes > most ? 0 : bytes;  // 0: to the end
  return {detail::file_action::advise, handle_, offset, told, platform::advice_flag(how)};
}

}  // namespace tandem::inline v0::io
