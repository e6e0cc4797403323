// refused_rings.hpp: rings of io_uring as something that can be refused.
// SPDX-License-Identifier: MIT
#pragma once

#include "refusals.hpp"

namespace tandem::test {

/// Rings: the set-up of the n-th answers ENOMEM. (A seccomp filter could not count: it refuses all
/// from some point on.)
extern refusals new_rings;

}  // namespace tandem::test
