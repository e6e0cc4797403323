// fake_pool.hpp: a pool of which a control may ask what the test says, and that notes what it is told.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "sizing/controlled_pool.hpp"

namespace tandem::test {

class noted_decision {
 public:
  tandem::pool_action action;
  tandem::decision_reason reason;
  unsigned old_goal;
  unsigned new_goal;

  bool operator==(const noted_decision&) const = default;
};

class fake_pool final : public tandem::detail::controlled_pool {
 public:
  bool anything_queued() const noexcept override { return waiting != 0; }
  std::size_t queued() const noexcept override { return waiting; }
  void wake_one() noexcept override { ++wakes; }
  bool follow_machine(unsigned) noexcept override { return ++followed > refuses_to_follow; }
  void change_target(int by) noexcept override { changed_by += by; }
  void note(tandem::pool_action action, tandem::decision_reason reason, unsigned old_goal,
            unsigned new_goal, double throughput, double /*cpu*/) noexcept override {
    const std::lock_guard lock(lock_);
    notes_.push_back(noted_decision{action, reason, old_goal, new_goal});
    throughput_ = throughput;
  }

  /// Since the last call.
  std::vector<noted_decision> take_notes() {
    const std::lock_guard lock(lock_);
    return std::exchange(notes_, {});
  }
  double noted_throughput() {
    const std::lock_guard lock(lock_);
    return throughput_;
  }

  std::atomic<std::size_t> waiting{0};
  std::atomic<int> wakes{0};
  std::atomic<int> changed_by{0};
  std::atomic<int> followed{0};  // how often it was told of other CPUs
  std::atomic<int> refuses_to_follow{0};

 private:
  std::mutex lock_;
  std::vector<noted_decision> notes_;
  double throughput_ = 0;
};

}  // namespace tandem::test
