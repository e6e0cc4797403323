// environment.cpp: what a tree of tasks shares, and its number.
// SPDX-License-Identifier: MIT
#include <tandem/environment.hpp>

#include <atomic>
#include <cstdint>

#include <tandem/detail/thread_context.hpp>

namespace tandem::inline v0 {

namespace {

// Ids are handed out to threads in blocks, so that a spawn touches no shared line.
constexpr std::uint64_t id_block = 1024;
constinit std::atomic<std::uint64_t> next_id_block{1};

std::uint64_t take_task_id() noexcept {
  static constinit thread_local std::uint64_t next = 0;
  static constinit thread_local std::uint64_t end = 0;
  if (next == end) {
    next = next_id_block.fetch_add(id_block, std::memory_order_relaxed);  // uniqueness is enough
    end = next + id_block;
  }
  return next++;
}

}  // namespace

environment* current_environment() noexcept { return detail::this_thread().env; }

void environment::start() noexcept { id_ = take_task_id(); }

void environment::start_below(environment& parent) noexcept {
  start_apart(parent);
  stop_.link(parent.stop_);
}

void environment::start_apart(environment& parent) noexcept {
  // Not the home: that is the choice of whoever starts it.
  runtime_ = parent.runtime_;
  parent_ = &parent;
  record_ = parent.record_;
  name_ = parent.name_;
  if (spawned_at_.line() == 0) spawned_at_ = parent.spawned_at_;  // else it was spawned itself
  context_ = parent.context_;
  start();
}

}  // namespace tandem::inline v0
