// hop.hpp: what one call does on the thread that has its connection.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/sqlite/session.hpp>
#include <tandem/task.hpp>

#include "sqlite/call_mark.hpp"
#include "sqlite/connection.hpp"

namespace tandem::inline v0::io::sqlite::detail {

/// sqlite_calls/run. @returns  false: it was a reader, and the statement writes; nothing has been done
/// @throws  what the call throws; error, operation_cancelled, std::bad_alloc
bool run_on(connection& on, access how, call_ref call);

/// The same, on a thread where it may wait.
task<bool> hop(connection& on, access how, call_ref call);
/// The same, of a call whose function is its user's: whatever that waits for or starts finds the mark.
task<bool> hop_below(call_marks mark, connection& on, access how, call_ref call);

}  // namespace tandem::inline v0::io::sqlite::detail
