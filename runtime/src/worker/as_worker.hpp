// as_worker.hpp: the calling thread is a worker for a while.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

#include <tandem/detail/thread_context.hpp>
#include <tandem/executor.hpp>

#include "crew/worker.hpp"

namespace tandem::inline v0::detail {

/// While it lives the calling thread is the worker: its own, or whoever drives the runtime.
class as_worker {
 public:
  as_worker(thread_context& context, worker& self, executor& home) noexcept
      // Not 0 only in a child of fork() whose thread was inside a task: that segment waits below.
      : context_(context), outer_segment_(std::exchange(context.segment, 0)) {
    context_.current_worker = &self;
    context_.current_executor = &home;
    context_.lane = &self.forks;
    context_.lane_home = &home;
    context_.role = &self.recorded;
    context_.ring = nullptr;  // recording/take: who drives may have been another worker just now
  }
  as_worker(const as_worker&) = delete;
  as_worker& operator=(const as_worker&) = delete;
  ~as_worker() {
    context_.current_worker = nullptr;
    context_.current_executor = nullptr;
    context_.lane = nullptr;
    context_.lane_home = nullptr;
    context_.segment = outer_segment_;
    context_.role = nullptr;
    context_.ring = nullptr;
  }

 private:
  thread_context& context_;
  const std::uint64_t outer_segment_;
};

}  // namespace tandem::inline v0::detail
