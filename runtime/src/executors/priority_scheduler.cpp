// priority_scheduler.cpp: which level goes next. Protocol queues: runtime/src/executors/README.md.
// SPDX-License-Identifier: MIT
#include <tandem/priority_scheduler.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <tandem/runtime.hpp>

#include "executors/ordered_scheduler.hpp"

namespace tandem::inline v0 {

namespace {

using time_point = std::chrono::steady_clock::time_point;

/// Part of its scheduler: whatever holds one holds all.
class level_queue final : public detail::ordered_queue {
 public:
  level_queue(detail::ordered_scheduler& scheduler, std::string name)
      : detail::ordered_queue(scheduler, std::move(name)) {}

  bool begin_task() noexcept override {
    if (!scheduler().admits()) return false;
    scheduler().retain();
    return true;
  }
  void begin_item() noexcept override { scheduler().retain(); }
  void end_task() noexcept override { scheduler().release(); }

  // The scheduler's, under its lock: since when it waits, in items taken and by the clock.
  std::uint64_t since_item = 0;
  time_point since_time{};
};

}  // namespace

class priority_scheduler::impl final : public detail::ordered_scheduler {
 public:
  impl(tandem::executor& below, const priority_ageing& ageing)
      : detail::ordered_scheduler(below, "priority_scheduler"), ageing_(ageing) {}

  level_queue& level(priority of) noexcept { return levels_[static_cast<std::size_t>(of)]; }

 private:
  void filled(detail::ordered_queue& queue) noexcept override;
  detail::ordered_queue& choose() noexcept override;
  void taken(detail::ordered_queue& queue) noexcept override;

  bool by_time() const noexcept { return ageing_.time() > time_point::duration::zero(); }
  time_point now() const noexcept {
    if (!by_time()) return {};
    // An executor of the user's own need not belong to a runtime.
    const runtime* const owner = below().owner();
    return owner != nullptr ? owner->now() : std::chrono::steady_clock::now();
  }
  bool is_due(const level_queue& level, time_point now) const noexcept;

  const priority_ageing ageing_;
  std::uint64_t items_ = 0;  // taken of all levels
  std::array<level_queue, priority_count> levels_{
      level_queue(*this, "highest"), level_queue(*this, "high"), level_queue(*this, "normal"),
      level_queue(*this, "low"), level_queue(*this, "lowest")};
};

void priority_scheduler::impl::filled(detail::ordered_queue& queue) noexcept {
  auto& level = static_cast<level_queue&>(queue);
  level.since_item = items_;
  level.since_time = now();
}

bool priority_scheduler::impl::is_due(const level_queue& level, time_point now) const noexcept {
  if (ageing_.items() != 0 && items_ - level.since_item >= ageing_.items()) return true;
  return by_time() && now - level.since_time >= ageing_.time();
}

detail::ordered_queue& priority_scheduler::impl::choose() noexcept {
  auto first = levels_.begin();
  while (first->waiting() == 0) ++first;  // a token runs, so there is an item
  level_queue* chosen = &*first;
  if (ageing_.items() == 0 && !by_time()) return *chosen;
  // Of those that are due the one that waits longest, so that they are served in turn.
  bool any_due = false;
  time_point now{};
  for (auto each = first + 1; each != levels_.end(); ++each) {
    if (each->waiting() == 0) continue;
    if (by_time() && now == time_point()) now = this->now();
    if (!is_due(*each, now)) continue;
    if (any_due && each->since_item >= chosen->since_item) continue;
    chosen = &*each;
    any_due = true;
  }
  return *chosen;
}

void priority_scheduler::impl::taken(detail::ordered_queue& queue) noexcept {
  ++items_;
  auto& level = static_cast<level_queue&>(queue);
  level.since_item = items_;
  if (level.waiting() != 0) level.since_time = now();
}

priority_scheduler::priority_scheduler(tandem::executor& below, priority_ageing ageing)
    : impl_(new impl(below, ageing), [](impl* shared) { shared->release(); }) {}

executor& priority_scheduler::level(priority of) const noexcept { return impl_->level(of); }
std::size_t priority_scheduler::waiting(priority of) const noexcept {
  return impl_->level(of).waiting();
}

}  // namespace tandem::inline v0
