// wait_gate.hpp: a descriptor of our own that can be read when somebody else's is ready.
// SPDX-License-Identifier: MIT
//
// For whoever watches for us and changes the mode of what it watches (Asio makes it non-blocking):
// the mode of a description that others share is not ours to change.
//
// Any thread; none of it waits.
#pragma once

#include <tandem/io/native_descriptor.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io::platform {

/// Whether this system has such descriptors.
bool has_wait_gates() noexcept;
/// @param watched   open as long as the gate is
/// @param to_write  the gate can be read when `watched` can be written, else when it can be read
/// @returns         the caller's to close; errc::operation_not_permitted for a file, which is
///                  always ready
result<native_descriptor> open_wait_gate(native_descriptor watched, bool to_write) noexcept;

}  // namespace tandem::inline v0::io::platform
