// terminals.hpp: what a terminal is asked, and told.
// SPDX-License-Identifier: MIT
//
// Any thread; none of it waits. What may fail answers with a std::error_code, or with a result that
// holds one; nothing is thrown, and no caller looks at errno. Any number may be given.
#pragma once

#include <cstddef>
#include <span>
#include <system_error>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/terminal.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io::platform {

bool is_terminal(native_descriptor descriptor) noexcept;
result<terminal_size> size_of_terminal(native_descriptor descriptor) noexcept;

/// What the system keeps of a terminal's mode, aligned to 8 bytes: terminal_scope has it.
inline constexpr std::size_t terminal_mode_bytes = 128;
using kept_mode = std::span<std::byte, terminal_mode_bytes>;

/// @param before  gets the mode that it had, if there is no error
[[nodiscard]] std::error_code set_terminal_mode(native_descriptor terminal, terminal_mode mode,
                                                kept_mode before) noexcept;
/// pre: set_terminal_mode() has filled it in
void restore_terminal_mode(native_descriptor terminal, kept_mode before) noexcept;

}  // namespace tandem::inline v0::io::platform
