// trace_of.hpp: through which awaits an exception came.
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>
#include <vector>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

/// A coroutine that awaited another one when that threw, or the task that it all belonged to.
class traced_frame {
 public:
  traced_frame() = default;

  std::string function;  ///< "serve(int)"; of a task: task 12 "GET /solve", spawned in main()
  std::string file;      ///< of its last co_await before, where the build keeps that; "" if unknown
  int line = 0;
};

/// The chain of awaits at the throw: the coroutine that the exception left first, who awaited it,
/// and so on up to the task; behind that those of whoever joined the task and let it pass.
///
///     try {
///       co_await serve(client);
///     } catch (const std::exception& failure) {
///       log(failure.what(), to_string(tandem::trace_of(failure)));
///     }
///
/// Kept are the last 16 exceptions that left a coroutine, and for that they live on: where
/// trace_exceptions() says so. Stops (operation_cancelled) are not kept. A copy of an exception has
/// no trace.
///
/// @returns        empty if it was not kept
/// @throws         std::bad_alloc
/// @thread_safety  any thread
TANDEM_API std::vector<traced_frame> trace_of(const std::exception_ptr& failure);
/// Of an exception that was caught by reference.
TANDEM_API std::vector<traced_frame> trace_of(const std::exception& failure);
/// A line for each: "  serve(int) at server.cpp:12".
TANDEM_API std::string to_string(const std::vector<traced_frame>& trace);

/// Whether traces are kept from now on, in this process. Default: in builds that keep the lines of
/// awaits (TANDEM_AWAIT_LINES, on in Debug), once there is a runtime.
///
/// @thread_safety  any thread
/// @cost           off: a load for each coroutine that an exception leaves. On: a lock and a walk
///                 over the chain for each exception
TANDEM_API void trace_exceptions(bool on) noexcept;

}  // namespace tandem::inline v0
