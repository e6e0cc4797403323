// layer.hpp: running the jobs of an executor that is itself run by another one.
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include <tandem/detail/forked.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/executor.hpp>

namespace tandem::inline v0::detail {

/// Runs `item` as a job of `layer`, inside a job of the executor below. The latter is no place
/// where frames may go on meanwhile (runs_here): they would keep the strand, or the turn, of
/// `layer`.
inline void run_in_layer(thread_context& context, const executor& layer, job* item) noexcept {
  const executor* const outer = std::exchange(context.layer, &layer);
  const executor* const runner = context.current_executor;
  context.env = item->env;
  item->run(item);
  if (runner != nullptr && context.current_executor == nullptr) [[unlikely]]
    end_forked_child();
  context.env = nullptr;
  context.layer = outer;
}

/// Whether an executor that counts its tasks takes new ones just now; the caller has one there that
/// lasts.
inline bool still_admits(executor& below) noexcept {
  if (!below.begin_task()) return false;
  below.end_task();
  return true;
}

}  // namespace tandem::inline v0::detail
