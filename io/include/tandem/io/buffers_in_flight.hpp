// buffers_in_flight.hpp: a check that memory is not given up while an operation uses it.
// SPDX-License-Identifier: MIT
//
// A tandem that was built with assertions (without NDEBUG) keeps a register of the buffers that
// operations have in flight. The kernel writes into them whatever the program does, and no
// sanitizer sees that. The register is asked whenever the frame of a coroutine is freed; under
// AddressSanitizer an operation also looks, when it ends, whether its buffer still lives. Otherwise
// nothing is registered, and nothing costs anything.
#pragma once

#include <cstddef>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io {

/// Whether this build of tandem keeps the register.
TANDEM_IO_API bool are_buffers_checked() noexcept;

/// Aborts, naming operation, descriptor and task, if a buffer in this memory is in flight. For
/// allocators and pools of one's own, before they take memory back.
///
///     void my_pool::give_back(std::span<std::byte> block) {
///       tandem::io::check_no_buffer_in_flight(block.data(), block.size());
///       ...
///     }
///
/// @thread_safety  any thread
/// @cost           without the register a call; with it a load for each page, and a lock if
///                 something there is in flight
TANDEM_IO_API void check_no_buffer_in_flight(const void* memory, std::size_t bytes) noexcept;

}  // namespace tandem::inline v0::io
