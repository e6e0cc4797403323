// forked.hpp: what a child of fork() may not do with its parent's runtimes.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/config.hpp>

namespace tandem::inline v0 {

class executor;
class runtime;

namespace detail {

/// @throws  forked_runtime naming `what` if `owner` belongs to a parent of this process
/// @cost    a load; a map look-up in a child of fork()
TANDEM_API void refuse_if_forked(const tandem::runtime& owner, const char* what);
/// As above, for the runtime of an executor, if it has one.
TANDEM_API void refuse_if_forked(const executor& place, const char* what);
/// Whether it belongs to a parent of this process. @cost as above
TANDEM_API bool is_forked(const tandem::runtime& owner) noexcept;

/// A task, or a blocking call, has called fork() and returned in the child: going on would run the
/// parent's queues a second time. Says so and aborts. The loop of a pool thread finds out because
/// fork() has cleared the thread's context in the child.
[[noreturn]] TANDEM_API void end_forked_child() noexcept;

}  // namespace detail
}  // namespace tandem::inline v0
