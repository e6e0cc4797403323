// write_file.cpp: replaces a file on a thread that may wait.
// SPDX-License-Identifier: MIT
#include <cerrno>
#include <tandem/blocking.hpp>
#include <tandem/io/write_file.hpp>
#include <utility>

#include "platform/replace_file.hpp"

namespace tandem::inline v0::io {

task<void> write_file(std::string path, std::span<const std::byte> bytes, write_options options) {
  // A path that the system would read only up to its first zero names another file.
  if (path.empty() || path.find('\0') != std::string::npos) {
    platform::failed_step(EINVAL, "replace", path).tell(path);
  }
  const auto call = [&] {
    try {
      platform::replace_file(path, bytes, options);
    } catch (const platform::failed_step& failure) {
      failure.tell(path);
    }
  };
  co_await blocking(call);
}

task<void> write_file(std::string path, std::string_view text, write_options options) {
  return write_file(std::move(path), std::as_bytes(std::span(text)), options);
}

}  // namespace tandem::inline v0::io
