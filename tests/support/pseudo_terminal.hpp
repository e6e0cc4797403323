// pseudo_terminal.hpp: a terminal, and the end at which a person would sit (plain_pair::terminal).
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "plain_pair.hpp"

namespace tandem::test {

/// Of the description, which others share.
inline bool is_blocking(int descriptor) { return (::fcntl(descriptor, F_GETFL) & O_NONBLOCK) == 0; }

}  // namespace tandem::test
