// driven_workers.hpp: the workers of a pool without threads. All by the thread that drives. driving/choose.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <tandem/executor.hpp>
#include <tandem/job.hpp>

#include "crew/worker_set.hpp"
#include "submit/submission_queue.hpp"
#include "worker/work_order.hpp"

namespace tandem::inline v0::detail {

class driven_workers {
 public:
  driven_workers(executor& home, const worker_set& workers, submission_queue& submissions,
                 work_order& order) noexcept
      : home_(home), workers_(workers), submissions_(submissions), order_(order) {}
  driven_workers(const driven_workers&) = delete;
  driven_workers& operator=(const driven_workers&) = delete;

  /// Runs up to so many items as the only worker. @returns how many
  std::size_t run_some(std::size_t most_items) noexcept;
  /// Runs one item; the number decides which worker takes it, and from where.
  /// @returns  false if there is none
  bool step(std::uint64_t random) noexcept;
  bool anything_queued() const noexcept { return order_.anything_queued(); }

 private:
  job* choose(worker& self, std::uint64_t random) noexcept;
  job* take_one_of(worker& self, std::uint64_t random) noexcept;
  job* injected_one_of(std::uint64_t random) noexcept;
  job* steal_from_one(worker& self, std::uint64_t random) noexcept;

  executor& home_;
  const worker_set& workers_;
  submission_queue& submissions_;
  work_order& order_;
};

}  // namespace tandem::inline v0::detail
