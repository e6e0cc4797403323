// debug_root.cpp: the types that the scripts of debuggers have to know, with debug information in every build.
// SPDX-License-Identifier: MIT
#include "process/debug_root.hpp"

#include <tandem/detail/blocking_request.hpp>
#include <tandem/detail/child_group.hpp>
#include <tandem/detail/foreign_wait.hpp>
#include <tandem/detail/selection.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/detail/wait_list.hpp>
#include <tandem/mutex.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>

#include "crew/worker.hpp"
#include "pool/worker_pool_impl.hpp"
#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0::detail {

constinit debug_root for_debuggers;

}  // namespace tandem::inline v0::detail
