// descriptor_note.hpp: what a look says of a wait for a descriptor.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/detail/wait_kind.hpp>
#include <tandem/io/native_descriptor.hpp>

namespace tandem::inline v0::io::detail {

/// While the wait is held: so the descriptor is open, or was closed under the wait.
///
/// @param name  "tcp_stream::read"
void note_descriptor(tandem::detail::wait_note& note, const char* name,
                     native_descriptor descriptor) noexcept;

}  // namespace tandem::inline v0::io::detail
