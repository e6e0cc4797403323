// socket_options.hpp: tcp_options on a descriptor.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/tcp_options.hpp>

namespace tandem::inline v0::io {

/// Sets what is given.
///
/// @returns  null, or the name of the option that was refused, which platform::throw_last_error() tells
const char* apply_options(native_descriptor socket, const tcp_options& options) noexcept;

/// @throws  std::system_error naming `what` and the option
void apply_options_or_throw(native_descriptor socket, const tcp_options& options, const char* what);

}  // namespace tandem::inline v0::io
