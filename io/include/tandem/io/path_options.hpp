// path_options.hpp: what becomes of symbolic links, and of names that are taken.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace tandem::inline v0::io {

/// What is meant by a path that ends in a symbolic link. Links on its way are always followed.
enum class symlinks : std::uint8_t {
  follow,  ///< what the link leads to
  keep,    ///< the link itself
};

/// What a rename does where the new name is there already.
enum class if_exists : std::uint8_t {
  replace,  ///< what had the name loses it, in one step
  fail,     ///< with errc::file_exists, and nothing has changed
};

}  // namespace tandem::inline v0::io
