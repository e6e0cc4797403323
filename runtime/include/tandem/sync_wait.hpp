// sync_wait.hpp: waits for a task from a plain thread, in a runtime that exists.
// SPDX-License-Identifier: MIT
#pragma once

#include <source_location>
#include <utility>

#include <tandem/runtime.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

/// Runs `body` with `target` as its home, and blocks until it has ended.
///
///     tandem::runtime rt;
///     int sum = tandem::sync_wait(rt.workers(), add(1, 2));
///
/// @param where  as what the task is named, in reports of stalls and failures
/// @returns      what the task returns
/// @throws       what the task throws; would_deadlock on a thread of any runtime, where the task
///               might need the very thread that waits: co_await it instead
template <class T>
T sync_wait(executor& target, task<T> body,
            std::source_location where = std::source_location::current()) {
  detail::refuse_blocking("tandem::sync_wait");
  return target.owner()->spawn(target, std::move(body), where).wait();
}

}  // namespace tandem::inline v0
