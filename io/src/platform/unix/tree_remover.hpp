// tree_remover.hpp: removes a directory with all that is in it, whoever exchanges parts of it meanwhile.
// SPDX-License-Identifier: MIT
//
// Step directories/remove_tree. Everything is named relative to the descriptor of the directory
// that it was found in, each directory is opened without following a link, and what turns out to be
// none any more is removed as what it is: so nothing outside of the tree is ever touched. A
// directory that somebody has moved away is left as far as it is not yet empty.
#pragma once

#include <cstdint>
#include <tandem/io/detail/entry_list.hpp>

namespace tandem::inline v0::io::platform {

/// Waits for the disk; looks for a stop before each entry.
///
/// @param folder  a descriptor, or AT_FDCWD
/// @param path    its last component is not followed if it is a link
/// @param answer  how many entries were removed, also on failure, and which one could not be
/// @returns       0, also if there is nothing of that name; or a negative error number
std::int32_t remove_tree(int folder, const char* path, detail::tree_removal& answer) noexcept;

}  // namespace tandem::inline v0::io::platform
