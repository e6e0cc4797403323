// socket_options.hpp: tcp_options on a descriptor.
// SPDX-License-Identifier: MIT
#pragma once

#include <system_error>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/tcp_options.hpp>

namespace tandem::inline v0::io {

/// The option that the system did not take.
class refused_option {
 public:
  explicit operator bool() const noexcept { return name != nullptr; }

  const char* name = nullptr;  ///< null: all were taken
  std::error_code error;
};

/// Sets what is given, up to the first that is refused.
[[nodiscard]] refused_option apply_options(native_descriptor socket,
                                           const tcp_options& options) noexcept;

/// @throws  std::system_error naming `what` and the option
void apply_options_or_throw(native_descriptor socket, const tcp_options& options, const char* what);

}  // namespace tandem::inline v0::io
