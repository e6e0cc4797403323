// receive_wait.hpp: a source that is armed at a backend of readiness: it waits until its socket can be read.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <new>
#include <tandem/io/detail/operation.hpp>
#include <utility>
#include <vector>

#include "backend/backend.hpp"

namespace tandem::inline v0::io {

class receive_wait {
 public:
  receive_wait() noexcept : operation(detail::operation_kind::wait_readable, nullptr, 0) {}

  detail::operation operation;
  multishot_source* source = nullptr;
  bool disarmed = false;
};

/// Kept for the next source when one is done with it.
class receive_wait_store {
 public:
  /// @returns  null if there is no memory
  receive_wait* take() noexcept {
    try {
      if (free_.empty()) {
        // First, so that giving back needs no memory.
        if (free_.capacity() <= all_.size()) free_.reserve(2 * all_.size() + 4);
        all_.push_back(std::make_unique<receive_wait>());
        return all_.back().get();
      }
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    receive_wait* const taken = free_.back();
    free_.pop_back();
    return taken;
  }
  void give_back(receive_wait& wait) noexcept { free_.push_back(&wait); }

 private:
  std::vector<std::unique_ptr<receive_wait>> all_;
  std::vector<receive_wait*> free_;
};

}  // namespace tandem::inline v0::io
