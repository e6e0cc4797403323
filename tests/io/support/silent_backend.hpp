// silent_backend.hpp: a backend that only notes what it is asked, for parts that are tried alone.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "backend/backend.hpp"
#include "ring/receive_buffers.hpp"

namespace tandem::test {

class silent_backend final : public tandem::io::backend {
 public:
  using clock = std::chrono::steady_clock;

  std::string_view name() const noexcept override { return "silent"; }
  tandem::io::submit_answer submit(tandem::io::detail::operation&) noexcept override {
    return tandem::io::submit_answer::pending;
  }
  void cancel(tandem::io::detail::operation&) noexcept override {}
  void cancel_all() noexcept override { ++sweeps; }
  void use_buffers(tandem::io::detail::receive_buffers&) noexcept override {}
  void provide_buffer(std::uint32_t index) noexcept override { provided.push_back(index); }
  bool arm(tandem::io::multishot_source&) noexcept override { return true; }
  void disarm(tandem::io::multishot_source&) noexcept override {}
  void wait(clock::time_point) noexcept override {}
  unsigned reap(completion_function, void*) noexcept override { return 0; }
  void wake() noexcept override { wakes.fetch_add(1); }

  /// It has used one up, the last that it was given.
  std::uint32_t use_one() noexcept {
    const std::uint32_t index = provided.back();
    provided.pop_back();
    return index;
  }

  std::vector<std::uint32_t> provided;  // that it has
  int sweeps = 0;
  std::atomic<int> wakes{0};
};

}  // namespace tandem::test
