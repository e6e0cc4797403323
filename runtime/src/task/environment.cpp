// environment.cpp: what a tree of tasks shares, and its number.
// SPDX-License-Identifier: MIT
#include <tandem/environment.hpp>

#include <atomic>
#include <cstdint>

#include <tandem/detail/environment_kind.hpp>
#include <tandem/detail/thread_context.hpp>

#include "recorder/trace_point.hpp"

namespace tandem::inline v0 {

namespace {

// Ids are handed out to threads in blocks, so that a spawn touches no shared line. Two at a time: the
// even one is a task's, or the odd one is a part's.
constexpr std::uint64_t id_block = 2048;
constinit std::atomic<std::uint64_t> next_id_block{2};

std::uint64_t take_task_id() noexcept {
  static constinit thread_local std::uint64_t next = 0;
  static constinit thread_local std::uint64_t end = 0;
  if (next == end) {
    next = next_id_block.fetch_add(id_block, std::memory_order_relaxed);  // uniqueness is enough
    end = next + id_block;
  }
  next += 2;
  return next - 2;
}

}  // namespace

namespace detail {

constinit const environment_kind kind_of_mark("");

}  // namespace detail

namespace {
constinit const detail::environment_kind kind_of_part("part of a task");
}

const detail::environment_kind& environment::kind() const noexcept {
  return kind_ != nullptr ? *kind_ : kind_of_part;
}

environment& environment::task() noexcept {
  environment* at = this;
  while (!at->kind().is_task && at->parent_ != nullptr) at = at->parent_;
  return *at;
}

void name(const char* static_text) noexcept {
  environment* const here = current_environment();
  if (here == nullptr) return;
  here->task().set_name(static_text);
  here->set_name(static_text);
}

environment* current_environment() noexcept { return detail::this_thread().env; }

environment::environment(environment& parent, executor* home, const detail::environment_kind& kind,
                         const void* part) noexcept
    : runtime_(parent.runtime_),
      home_(home),
      parent_(&parent),
      record_(parent.record_),
      stop_(parent.stop_, kind.linked != nullptr),
      id_(take_task_id() + 1),
      name_(parent.name()),
      spawned_at_(parent.spawned_at_),
      context_(parent.context_),
      kind_(&kind),
      part_(part) {
  if (detail::is_recorded()) [[unlikely]]
    detail::record_part(*this);
  stop_.link_if_deep();
}

void environment::start() noexcept { id_ = take_task_id(); }

void environment::start_task_below(environment& parent) noexcept {
  inherit(parent);
  id_ = take_task_id();
  stop_.link(parent.stop_);
}

void environment::start_below(environment& parent) noexcept {
  begin_part(parent);
  stop_.link(parent.stop_);
}

void environment::start_apart(environment& parent) noexcept {
  begin_part(parent);
  stop_.link_closed(parent.stop_);
}

void environment::begin_part(environment& parent) noexcept {
  inherit(parent);
  id_ = take_task_id() + 1;
  if (detail::is_recorded()) [[unlikely]]
    detail::record_part(*this);
}

void environment::inherit(environment& parent) noexcept {
  // Not the home: that is the choice of whoever starts it.
  runtime_ = parent.runtime_;
  parent_ = &parent;
  record_ = parent.record_;
  name_.store(parent.name(), std::memory_order_relaxed);
  if (spawned_at_.line() == 0) spawned_at_ = parent.spawned_at_;  // else it was spawned itself
  context_ = parent.context_;
}

}  // namespace tandem::inline v0
