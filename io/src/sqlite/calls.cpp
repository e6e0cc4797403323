// calls.cpp: what is said of a handle without anything behind it.
// SPDX-License-Identifier: MIT
#include <tandem/io/sqlite/calls.hpp>
#include <tandem/io/sqlite/errors.hpp>

namespace tandem::inline v0::io::sqlite::detail {

call_target::~call_target() = default;

void moved_from() { throw error(errc::closed, "this database, or transaction, was moved from"); }

}  // namespace tandem::inline v0::io::sqlite::detail
