// without_two_ends.cpp: where the system moves nothing between two descriptors by itself.
// SPDX-License-Identifier: MIT
#include <cerrno>

#include "platform/two_ends.hpp"

namespace tandem::inline v0::io::platform {

std::int32_t send_file(detail::operation& operation) noexcept {
  operation.of_other_end().why = detail::obstacle::system;
  return 0;
}

// There is no pipe for these.
std::int32_t fill_pipe(detail::operation&) noexcept { return -ENOTSUP; }
std::int32_t drain_pipe(detail::operation&) noexcept { return -ENOTSUP; }
std::int32_t splice_file(bool, native_descriptor, std::uint64_t,
                         const detail::other_end&) noexcept {
  return -ENOTSUP;
}
std::int32_t open_splice_pipe(std::size_t, pipe_ends&) noexcept { return -ENOTSUP; }

std::int32_t copy_part(native_descriptor, std::uint64_t, std::size_t,
                       detail::other_end& to) noexcept {
  to.why = detail::obstacle::system;
  return 0;
}

void reset_connection(native_descriptor) noexcept {}  // nothing is sent from memory of others

}  // namespace tandem::inline v0::io::platform
