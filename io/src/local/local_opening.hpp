// local_opening.hpp: how Unix sockets of all kinds are made, connected and taken over.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/unix_endpoint.hpp>
#include <tandem/task.hpp>

#include "platform/local_sockets.hpp"

namespace tandem::inline v0::io {

/// @throws  std::system_error that begins with `what`
detail::socket open_local(completion_thread& thread, platform::local_kind kind,
                          const std::string& what);
/// Until there is room, or it fails otherwise.
///
/// @throws  std::system_error that begins with `what`; operation_cancelled
task<detail::socket> connect_local_socket(platform::local_kind kind, unix_endpoint peer,
                                          const char* what);
/// @throws  std::system_error that begins with `what`
std::array<detail::socket, 2> open_local_pair(completion_pool& pool, platform::local_kind kind,
                                              const char* what);
/// @throws  std::system_error that begins with `what`, and says what it is instead
detail::socket adopt_local(completion_pool& pool, native_descriptor descriptor,
                           platform::local_kind kind, bool listens, const char* what);

}  // namespace tandem::inline v0::io
