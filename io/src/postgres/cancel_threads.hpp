// cancel_threads.hpp: threads on which PQcancel() may wait for as long as it likes.
// SPDX-License-Identifier: MIT
//
// Of the process, not of a runtime: so neither the end of a runtime nor its blocking() waits for a
// server that stands still. Protocol postgres_stop/cancel: README.md.
#pragma once

#include <libpq-fe.h>

#include <tandem/callback.hpp>

namespace tandem::inline v0::io::postgres::detail {

/// Calls PQcancel() for what runs on that connection now. It may be closed meanwhile.
///
/// @param told     called, by another thread, when PQcancel() has returned, whatever it has said
/// @throws         std::bad_alloc; std::system_error if the system gives no thread; then `told` is
///                 dropped
/// @thread_safety  whoever may use the connection
void cancel_on_a_thread(PGconn* of, callback<void()> told);

}  // namespace tandem::inline v0::io::postgres::detail
