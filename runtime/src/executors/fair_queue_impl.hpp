// fair_queue_impl.hpp: one queue of a fair_scheduler, and who still needs it. Protocol queues: runtime/src/executors/README.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include <tandem/fair_queue.hpp>
#include <tandem/fair_scheduler.hpp>

#include "executors/ordered_scheduler.hpp"

namespace tandem::inline v0 {

/// One word says who still needs the queue (queues/close):
///   closed  no task is admitted any more
///   gone    closed, and at one moment without tasks and items: the scheduler does not count it
///   handle  there are handles
///   uses    tasks, and items that wait or run; above the three bits
/// The memory goes with the last of handle and uses.
class fair_queue::impl final : public detail::ordered_queue {
 public:
  impl(fair_scheduler::impl& scheduler, unsigned weight, std::string name);
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;

  bool begin_task() noexcept override;
  void begin_item() noexcept override;
  void end_task() noexcept override;
  void close() noexcept;
  void drop_handle() noexcept;

  bool is_closed() const noexcept {
    return (word_.load(std::memory_order_acquire) & closed_bit) != 0;
  }
  unsigned weight() const noexcept { return weight_; }

  // The scheduler's, under its lock.
  std::uint64_t tag = 0;
  std::uint64_t sequence = 0;

 private:
  static constexpr std::uint64_t closed_bit = 1;
  static constexpr std::uint64_t gone_bit = 2;
  static constexpr std::uint64_t handle_bit = 4;
  static constexpr std::uint64_t one_use = 8;

  ~impl() override;

  fair_scheduler::impl& fair_;
  const unsigned weight_;
  std::atomic<std::uint64_t> word_{handle_bit};
};

}  // namespace tandem::inline v0
