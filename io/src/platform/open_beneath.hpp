// open_beneath.hpp: opens a path that cannot lead out of a folder, whoever exchanges parts of it meanwhile.
// SPDX-License-Identifier: MIT
//
// The kernel does it where it has openat2() (Linux 5.6, RESOLVE_BENEATH). Where that call is
// missing or a container's filter hides it, the path is walked here, to the same effect: each
// component is opened relative to the descriptor of the one before without following it; what turns
// out to be a symbolic link is read, and its text takes the place of the component. ".." goes back
// to a descriptor that the walk has come through, never up by name. So what is exchanged behind our
// back changes what is found, and never where.
//
// A failure is an outcome as files tell it: a negative error number. Nothing is thrown.
#pragma once

#include <cstdint>
#include <tandem/io/native_descriptor.hpp>

namespace tandem::inline v0::io::platform {

/// Waits for the disk, so it is for a thread of blocking().
///
/// pre: `root` stays open during the call
/// post: if the answer is a descriptor, it is the caller's
///
/// @param root   a descriptor of a folder
/// @param path   relative; absolute ones, links with an absolute target and ".." above the root are
///               refused with EXDEV, links of the kernel's (/proc) with ELOOP, or by the walk, to
///               which they look like others, mostly with EXDEV. Other links are followed
/// @param flags  of open(2)
/// @returns      a descriptor, or an error number, negative
std::int32_t open_beneath(native_descriptor root, const char* path, int flags,
                          unsigned permissions) noexcept;

}  // namespace tandem::inline v0::io::platform
