// snapshot_builder.cpp: notes under locks, and the tree that is made of them without.
// SPDX-License-Identifier: MIT
#include "insight/snapshot_builder.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include <tandem/detail/environment_kind.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/executor.hpp>

#include "insight/look_memory.hpp"

namespace tandem::inline v0::detail {

namespace {

// A spell under a lock shows no more: some 10 us.
constexpr std::size_t events_of_a_spell = 96;
// enter, wait, joins and leave of one more, and of the level below.
constexpr std::size_t events_to_spare = 8;
constexpr std::size_t most_others = 8;

std::size_t mix(std::size_t so_far, std::size_t more) noexcept {
  so_far ^= more + 0x9E3779B97F4A7C15U + (so_far << 6U) + (so_far >> 2U);
  return so_far;
}
std::size_t mix(std::size_t so_far, const void* more) noexcept {
  return mix(so_far, reinterpret_cast<std::uintptr_t>(more));  // NOLINT
}
std::size_t mix(std::size_t so_far, const char* text) noexcept {
  return mix(so_far, std::hash<std::string_view>()(text));
}

}  // namespace

snapshot_builder::snapshot_builder(snapshot& into, look_memory& memory, std::size_t most_frames,
                                   bool groups)
    : into_(into),
      memory_(memory),
      most_frames_(std::max<std::size_t>(1, most_frames)),
      groups_(groups),
      events_(events_of_a_spell + events_to_spare),
      frames_(events_of_a_spell + events_to_spare * most_frames_),
      known_children_(1) {
  into_.threads.reserve(1024);
}

bool snapshot_builder::has_room() const noexcept {
  return event_count_ + events_to_spare <= events_.size() &&
         frame_count_ + events_to_spare / 2 * most_frames_ <= frames_.size();
}

snapshot_builder::event& snapshot_builder::add(what kind) noexcept {
  event& fresh = events_[event_count_++];
  fresh.kind = kind;
  return fresh;
}

void snapshot_builder::enter(const environment& of) noexcept {
  event& fresh = add(what::enter);
  fresh.env = &of;
  seen_node& node = fresh.node;
  node.id = of.id();
  node.name = of.name();
  node.spawned_at = of.spawned_at();
  node.stop = of.stop().reason();
  const environment_kind& kind = of.kind();
  node.kind = kind.word;
  node.is_task = kind.is_task;
  node.note = wait_note();
  node.note.word = kind.word;
  if (kind.describe != nullptr) kind.describe(of, node.note);
}

void snapshot_builder::wait(const stop_waiter& what_waits, const promise_base& frame,
                            bool known) noexcept {
  event& fresh = add(what::wait);
  const wait_kind& kind = what_waits.kind();
  seen_wait& seen = fresh.wait;
  seen.note = wait_note();
  seen.note.word = kind.word;
  seen.note.end = kind.end;
  if (kind.describe != nullptr) kind.describe(what_waits, seen.note);
  seen.leaf = &what_waits;
  seen.is_known = known;
  const std::string_view home = frame.home != nullptr ? frame.home->name() : std::string_view();
  seen.home = {};
  std::memcpy(seen.home.data(), home.data(), std::min(home.size(), seen.home.size() - 1));
  take_frames(fresh, frame);
}

void snapshot_builder::joins(const promise_base& frame) noexcept {
  take_frames(add(what::joins), frame);
}

void snapshot_builder::leave() noexcept { add(what::leave); }

void snapshot_builder::take_frames(event& into, const promise_base& from) noexcept {
  into.first_frame = frame_count_;
  const promise_base* each = &from;
  for (; each != nullptr && frame_count_ - into.first_frame < most_frames_;
       each = each->continuation) {
    seen_frame& seen = frames_[frame_count_++];
    seen.address = const_cast<promise_base&>(*each).handle().address();  // NOLINT
    seen.code = *static_cast<const void* const*>(seen.address);
    seen.awaits_at = each->awaited_at();
  }
  into.frames = frame_count_ - into.first_frame;
  into.has_more_frames = each != nullptr;
}

void snapshot_builder::settle() {
  into_.threads.clear();
  listed_thread::for_each(
      [](void* of, const thread_note& note) noexcept {
        auto& threads = *static_cast<std::vector<thread_note>*>(of);
        // Never above what was reserved: some are left out rather than memory asked for.
        if (threads.size() < threads.capacity()) threads.push_back(note);
      },
      &into_.threads);
  for (std::size_t i = 0; i < event_count_; ++i) {
    event& each = events_[i];
    switch (each.kind) {
      case what::enter: begin_node(each); break;
      case what::wait: add_wait(each); break;
      case what::joins: add_joiner(each); break;
      case what::leave: end_node(); break;
    }
  }
  event_count_ = 0;
  frame_count_ = 0;
}

void snapshot_builder::add_joiner(const event& of) {
  if (open_.empty()) return;
  const auto first = frames_.begin() + static_cast<std::ptrdiff_t>(of.first_frame);
  open_.back().joins.assign(first, first + static_cast<std::ptrdiff_t>(of.frames));
}

void snapshot_builder::begin_node(event& of) {
  seen_node& node = open_.emplace_back(std::move(of.node));
  of.node = seen_node();
  known_children_.emplace_back();
  std::uint64_t task = node.id;
  if (!node.is_task && !open_tasks_.empty()) {
    task = open_tasks_.back();
    task_of_.emplace(node.id, task);
  }
  open_tasks_.push_back(task);
  note_state(node, of.env);
}

void snapshot_builder::note_state(seen_node& node, const environment* env) {
  for (const thread_note& each : into_.threads) {
    if (each.env != env) continue;
    node.state = task_state::runs;
    node.thread = each;
    node.runs_since_ns = memory_.segment(each);
  }
}

void snapshot_builder::add_wait(event& of) {
  if (open_.empty()) return;
  seen_node& node = open_.back();
  seen_wait& wait = node.waits.emplace_back(of.wait);
  const auto first = frames_.begin() + static_cast<std::ptrdiff_t>(of.first_frame);
  wait.frames.assign(first, first + static_cast<std::ptrdiff_t>(of.frames));
  wait.has_more_frames = of.has_more_frames;
  wait.seen_since_ns = memory_.wait(wait.leaf, wait.is_known);
  if (node.state == task_state::ready) node.state = task_state::waits;
  if (wait.note.end == wait_end::task) {
    into_.edges.push_back(
        seen_edge{open_tasks_.back(), wait.note.task, wait.leaf, wait.is_known});
  }
}

void snapshot_builder::hash_node(seen_node& node) noexcept {
  std::size_t hash = mix(0, node.kind);
  hash = mix(hash, node.name);
  hash = mix(hash, node.spawned_at.file_name());
  hash = mix(hash, node.spawned_at.line());
  hash = mix(hash, static_cast<std::size_t>(node.stop));
  hash = mix(hash, static_cast<std::size_t>(node.state));
  // Who runs is told one by one.
  if (node.state == task_state::runs) hash = mix(hash, node.thread.thread_id);
  for (const seen_wait& each : node.waits) {
    hash = mix(hash, each.note.word);
    // The same lock, or a lock each: that is a difference. Sleepers are alike whenever they wake.
    hash = mix(hash, each.note.object);
    hash = mix(hash, each.note.task);
    for (const seen_frame& frame : each.frames) hash = mix(hash, frame.code);
  }
  for (const seen_frame& frame : node.joins) hash = mix(hash, frame.code);
  for (const seen_node& child : node.children) {
    hash = mix(hash, child.hash);
    hash = mix(hash, child.count);
  }
  node.hash = hash;
}

void snapshot_builder::end_node() {
  seen_node node = std::move(open_.back());
  open_.pop_back();
  open_tasks_.pop_back();
  known_children_.pop_back();
  // What a part does its task does.
  for (const seen_node& child : node.children) {
    if (child.is_task) continue;
    if (child.state == task_state::runs && node.state != task_state::runs) {
      node.thread = child.thread;
      node.runs_since_ns = child.runs_since_ns;
    }
    node.state = std::max(node.state, child.state);
  }
  if (!node.joins.empty() && node.state == task_state::ready) node.state = task_state::waits;
  if (node.is_task) {
    ++into_.tasks;
    into_.waiting += node.state == task_state::waits ? 1 : 0;
    into_.running += node.state == task_state::runs ? 1 : 0;
  }
  hash_node(node);
  std::vector<seen_node>& siblings = open_.empty() ? into_.roots : open_.back().children;
  if (groups_) {
    const auto [found, is_new] = known_children_.back().emplace(node.hash, siblings.size());
    if (!is_new) {
      seen_node& like = siblings[found->second];
      ++like.count;
      if (like.others.size() < most_others) like.others.push_back(node.id);
      return;
    }
  }
  siblings.push_back(std::move(node));
}

void snapshot_builder::finish() {
  for (seen_edge& each : into_.edges) {
    const auto found = task_of_.find(each.awaited);
    if (found != task_of_.end()) each.awaited = found->second;
  }
  memory_.end();
}

}  // namespace tandem::inline v0::detail
