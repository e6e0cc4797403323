// port_slot.hpp: the port of a pool, once it has one. Protocol ports: README.md beside this.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include <tandem/detail/worker_port.hpp>

namespace tandem::inline v0::detail {

class port_slot {
 public:
  port_slot() noexcept = default;
  port_slot(const port_slot&) = delete;
  port_slot& operator=(const port_slot&) = delete;

  /// What workers may enter, or null.
  worker_port* get() const noexcept {
    return used_.load(std::memory_order_acquire);  // pairs with use()
  }
  /// Likewise, if anything can come there: what a worker asks between two items.
  worker_port* get_used() const noexcept {
    worker_port* const port = get();
    return port != nullptr && port->is_used() ? port : nullptr;
  }
  /// One thread at a time. What was there lives on: somebody may be about to wake its sleeper.
  void use(std::shared_ptr<worker_port> port) noexcept {
    used_.store(port.get(), std::memory_order_release);
    if (port != nullptr) kept_ = std::move(port);
  }

 private:
  std::atomic<worker_port*> used_{nullptr};
  std::shared_ptr<worker_port> kept_;
};

}  // namespace tandem::inline v0::detail
