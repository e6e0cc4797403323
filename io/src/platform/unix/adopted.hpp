// adopted.hpp: what a foreign descriptor is, and how it becomes one like ours.
// SPDX-License-Identifier: MIT
#pragma once

#include "platform/sockets.hpp"

namespace tandem::inline v0::io::platform {

/// What adopt_socket() and adopt_local_socket() look at, in the system's words.
class adopted_facts {
 public:
  adopted_facts() noexcept = default;
  refusal refused;  ///< it is no socket, or not open: the rest is not there
  int family = 0;
  int type = 0;
  int protocol = 0;
  bool listens = false;
};

inline refusal refuse(int error, const char* why) noexcept {
  refusal made;
  made.error = std::error_code(error, std::generic_category());
  made.why = why;
  return made;
}

/// pre: any number
adopted_facts facts_of(native_descriptor descriptor) noexcept;
/// post: as adopt_socket()
refusal make_like_ours(native_descriptor descriptor) noexcept;

}  // namespace tandem::inline v0::io::platform
