// failure.hpp: what a result code of SQLite's becomes.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

struct sqlite3;

namespace tandem::inline v0::io::sqlite::detail {

/// @param of    null: SQLite had no memory for it
/// @param code  extended or not
/// @throws      std::bad_alloc; operation_cancelled if it is the task's stop that has ended it; error
[[noreturn]] void fail(sqlite3* of, int code, std::string_view statement);

}  // namespace tandem::inline v0::io::sqlite::detail
