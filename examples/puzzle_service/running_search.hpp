// running_search.hpp: one search of the service, from its admission to its end.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <tandem/search.hpp>

#include "service.hpp"

namespace service {

/// Counts a search for /stats while it lives.
///
/// @thread_safety  note() by one thread at a time
class running_search {
 public:
  explicit running_search(service_state& service) noexcept
      : service_(service),
        admitted_(service.searches_running.fetch_add(1) < service.options.search_limit) {
    if (admitted_) service.searches_total.fetch_add(1, std::memory_order_relaxed);
  }
  running_search(const running_search&) = delete;
  running_search& operator=(const running_search&) = delete;
  ~running_search() { service_.searches_running.fetch_sub(1); }

  bool admitted() const noexcept { return admitted_; }
  /// So many positions have been visited since it began.
  void note(std::uint64_t nodes) noexcept {
    service_.searched_nodes.fetch_add(nodes - noted_, std::memory_order_relaxed);
    noted_ = nodes;
  }
  /// It was stopped before it had an answer.
  void note_stop() noexcept { service_.searches_stopped.fetch_add(1, std::memory_order_relaxed); }

 private:
  service_state& service_;
  bool admitted_;
  std::uint64_t noted_ = 0;
};

}  // namespace service
