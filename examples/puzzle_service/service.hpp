// service.hpp: what all connections of the service share.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include <tandem/event.hpp>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/runtime.hpp>

#include "answer_keeper.hpp"
#include "options.hpp"
#include "runtime_reports.hpp"

namespace service {

/// Options, pools, answers and counters.
///
/// @thread_safety  the counters are atomic and relaxed: nobody draws conclusions about other memory
class service_state {
 public:
  service_state(tandem::runtime& owner, tandem::io::completion_pool& completion_threads,
                const service_options& chosen, std::unique_ptr<answer_store> store,
                keeper_options keeping)
      : options(chosen),
        runtime(owner),
        completions(completion_threads),
        keeper(std::move(store), std::move(keeping)),
        reports(owner) {}

  const service_options& options;
  tandem::runtime& runtime;
  tandem::io::completion_pool& completions;
  answer_keeper keeper;
  runtime_reports reports;
  const std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();

  bool is_draining() const noexcept { return drain_.is_set(); }
  /// Set when the service ends, before it waits for its connections: for answers without an end of
  /// their own.
  tandem::event& drain() noexcept { return drain_; }

  /// Those that were served, turned away with 503, and closed without a word.
  tandem::io::serve_counts connections;
  std::atomic<std::size_t> open_connections{0};  ///< that are served now
  std::atomic<std::size_t> unfinished{0};        ///< that the end of the grace time stopped
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::size_t> searches_running{0};
  std::atomic<std::uint64_t> searches_total{0};
  std::atomic<std::uint64_t> searches_stopped{0};  ///< the client left or the service ended
  std::atomic<std::uint64_t> searched_nodes{0};    ///< by all searches; running ones are counted
  std::atomic<std::size_t> event_streams{0};       ///< GET /events under way

 private:
  tandem::event drain_;
};

}  // namespace service
