// numbered_message.hpp: one of several messages of a call.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>

namespace tandem::inline v0::io::platform {

/// As Linux lays them out (mmsghdr).
struct numbered_message {
  msghdr header;
  unsigned bytes;  ///< that were received, or sent
};

}  // namespace tandem::inline v0::io::platform
