// process.hpp: the process itself, and its children by fork().
// SPDX-License-Identifier: MIT
#pragma once

namespace tandem::inline v0::platform {

/// Which process this is: another one in a child of fork().
int process_id() noexcept;
/// Has the three called around every fork(): in the forking thread before it, then in the parent
/// and in the child. Never undone.
///
/// pre: called once; the three end, and take no lock that the forking thread may hold
/// @throws  std::system_error
void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

}  // namespace tandem::inline v0::platform
