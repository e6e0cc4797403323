// admission.cpp: how executors that count their tasks let one in, or refuse it.
// SPDX-License-Identifier: MIT
#include <tandem/detail/admission.hpp>
#include <tandem/errors.hpp>

#include "pool/worker_pool_impl.hpp"
#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0::detail {

tandem::runtime* admission::enter(executor& home) {
  tandem::runtime* visited = nullptr;
  // With threads nobody counts up what is still to come.
  tandem::runtime* const owner = home.owner();
  if (owner != nullptr && owner->implementation().loop != nullptr) [[unlikely]] {
    worker_pool::impl& pool = owner->workers().implementation();
    if (!pool.is_current()) {
      pool.visiting.enter();
      visited = owner;
    }
  }
  if (home.begin_task()) return visited;
  leave(visited);
  refuse(home);
}

void admission::leave(tandem::runtime* visited) noexcept {
  if (visited != nullptr) visited->workers().implementation().visiting.leave();
}

void admission::refuse(const executor& home) { throw executor_closed(home.name()); }

}  // namespace tandem::inline v0::detail
