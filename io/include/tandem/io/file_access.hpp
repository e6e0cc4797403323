// file_access.hpp: how a file is going to be read, as the system may want to know.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace tandem::inline v0::io {

/// What file::advise() says.
enum class file_access : std::uint8_t {
  normal,      ///< nothing is known: as after opening
  sequential,  ///< from the beginning to the end: more is read ahead
  random,      ///< nothing is read ahead
  once,        ///< what was read need not be kept
  soon,        ///< it is read now, so that it is there when it is asked for
  no_more,     ///< what the page cache has of it may go
};

}  // namespace tandem::inline v0::io
