// starving_pool.hpp: what whoever looks for starvation asks of a pool.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include <tandem/runtime.hpp>

#include "crew/crew.hpp"
#include "crew/worker_set.hpp"

namespace tandem::inline v0::detail {

/// What is only looked at. The pool has it, and outlives whoever looks.
struct starving_parts {
  tandem::runtime& owner;
  const std::string& name;
  const worker_set& workers;
  const crew& threads;
};

/// Any thread.
class starving_pool {
 public:
  /// Items in queues, at about one moment.
  virtual std::size_t queued() const noexcept = 0;

 protected:
  ~starving_pool() = default;
};

}  // namespace tandem::inline v0::detail
