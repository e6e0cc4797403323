// pipes.hpp: what pipes ask the operating system for.
// SPDX-License-Identifier: MIT
//
// Any thread; none of it waits. What may fail answers with a result or a refusal; nothing is
// thrown, and no caller looks at errno. A system without such pipes answers errc::not_supported.
#pragma once

#include <array>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/result.hpp>

#include "platform/files.hpp"
#include "platform/sockets.hpp"

namespace tandem::inline v0::io::platform {

/// Whether calls on an end wait.
class pipe_modes {
 public:
  constexpr pipe_modes(bool reader_waits, bool writer_waits) noexcept
      : reads_wait(reader_waits), writes_wait(writer_waits) {}
  bool reads_wait;
  bool writes_wait;
};

/// post: the reading end, and the writing end: the caller's, not inherited across exec
result<std::array<native_descriptor, 2>> make_pipe(pipe_modes modes) noexcept;

/// Takes over an end of a pipe, or of a FIFO.
///
/// post: if it is not refused, calls on it do not wait, and it is not inherited across exec
[[nodiscard]] refusal adopt_pipe(native_descriptor descriptor, bool reads) noexcept;

/// processes/port. Where transfers have a port: what is read and written of that end is told there.
///
/// @param end  of make_pipe(), which was not to wait, or adopted
/// @returns    EBUSY: it has joined somebody else's, as platform::cure_of() says
[[nodiscard]] std::error_code join_port(native_descriptor end, const file_port& port) noexcept;

}  // namespace tandem::inline v0::io::platform
