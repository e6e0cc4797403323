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
// Below so many levels nothing is shown: whoever walks the tree does so on a stack.
constexpr std::size_t most_levels = 1000;
// circles/branches: of a longer chain it is not known whether it is the only one.
constexpr std::size_t longest_chain = 1000;
constexpr std::size_t most_likes = 100'000;

/// circles/branches. Whether the frame is below one of several forked children of one environment:
/// those that are queued, or run, are shown by nothing.
bool is_one_of_several(const promise_base& frame) noexcept {
  const promise_base* each = &frame;
  for (std::size_t i = 0; i < longest_chain; ++i, each = each->continuation) {
    if (each->continuation == nullptr) return false;
    if (each->on_final != nullptr && each->continuation->env == each->env) return true;
  }
  return true;
}

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

void copy_name(std::array<char, 32>& into, const executor& of) noexcept {
  const std::string_view name = of.name();
  std::memcpy(into.data(), name.data(), std::min(name.size(), into.size() - 1));
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
  TANDEM_ASSERT(event_count_ < events_.size(), "a look shows more than it has room for");
  event& fresh = events_[event_count_++];
  fresh.kind = kind;
  return fresh;
}

void snapshot_builder::enter(const environment& of) noexcept {
  event& fresh = add(what::enter);
  fresh.env = &of;
  describe(fresh.node, of);
}

void snapshot_builder::describe(seen_node& node, const environment& of) noexcept {
  node.id = of.id();
  node.name = of.name();
  node.spawned_at = of.spawned_at();
  node.stop = of.stop().reason_for_report();
  const environment_kind& kind = of.kind();
  node.kind = kind.word;
  node.is_task = kind.is_task;
  node.note = wait_note();
  node.note.word = kind.word;
  if (kind.describe != nullptr) kind.describe(of, node.note);
  if (node.is_task && of.home() != nullptr) copy_name(node.home, *of.home());
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
  seen.home = {};
  if (frame.home != nullptr) copy_name(seen.home, *frame.home);
  fresh.is_one_of_several = seen.note.end == wait_end::task && is_one_of_several(frame);
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
  if (open_.empty() || deeper_ != 0) return;
  const auto first = frames_.begin() + static_cast<std::ptrdiff_t>(of.first_frame);
  open_.back().joins.assign(first, first + static_cast<std::ptrdiff_t>(of.frames));
}

void snapshot_builder::begin_node(event& of) {
  if (deeper_ != 0 || open_.size() == most_levels) {
    ++deeper_;
    into_.deeper += of.node.is_task ? 1 : 0;
    if (!of.node.is_task) into_.parts.emplace(of.node.id, above_.back().task);
    note_free(above_.back().task);
    return;
  }
  seen_node& node = open_.emplace_back(std::move(of.node));
  of.node = seen_node();
  known_children_.emplace_back();
  above mine{node.id, !above_.empty() && above_.back().may_end_otherwise};
  if (!node.is_task && !above_.empty()) {
    mine.task = above_.back().task;
    into_.parts.emplace(node.id, mine.task);
    const std::string_view word = node.note.word;
    mine.may_end_otherwise = mine.may_end_otherwise || node.note.until_ns != wait_note::no_time ||
                             word == "when_any" || word == "race";
  }
  if (node.note.until_ns != wait_note::no_time) ++into_.outside_waits;  // time ends what is inside
  above_.push_back(mine);
  note_state(node, of.env);
  above_.back().runs = node.state == task_state::runs;
}

void snapshot_builder::queued(seen_node&& of) {
  event task;
  task.node = std::move(of);
  begin_node(task);
  end_node();
}

void snapshot_builder::note_state(seen_node& node, const environment* env) {
  if (env == nullptr) return;  // queued/list: it was in no thread's hands
  for (const thread_note& each : into_.threads) {
    if (each.env != env) continue;
    node.state = task_state::runs;
    node.thread = each;
    node.runs_since_ns = memory_.segment(each);
    const auto task = std::find_if(open_.rbegin(), open_.rend(),
                                   [](const seen_node& each_open) { return each_open.is_task; });
    into_.runs.push_back(seen_run{above_.back().task, each, node.runs_since_ns,
                                  task != open_.rend() ? task->home.data() : ""});
  }
}

void snapshot_builder::add_wait(event& of) {
  if (open_.empty() || deeper_ != 0) return;
  seen_node& node = open_.back();
  seen_wait& wait = node.waits.emplace_back(of.wait);
  const auto first = frames_.begin() + static_cast<std::ptrdiff_t>(of.first_frame);
  wait.frames.assign(first, first + static_cast<std::ptrdiff_t>(of.frames));
  wait.has_more_frames = of.has_more_frames;
  wait.seen_since_ns = memory_.wait(wait.leaf, wait.is_known);
  if (node.state == task_state::ready) node.state = task_state::waits;
  above& mine = above_.back();
  ++into_.waits;
  into_.known_waits += wait.is_known ? 1 : 0;
  if (wait.note.end == wait_end::task) {
    mine.holds_up = true;
    const bool is_certain = !mine.may_end_otherwise && !of.is_one_of_several;
    note_edge(seen_edge{mine.task, wait.note.task, wait.leaf, wait.note.object, 0, wait.is_known,
                        is_certain});
    if (!wait.is_known || !is_certain) note_free(mine.task);
  } else {
    note_free(mine.task);
  }
  if (wait.note.end == wait_end::time || wait.note.end == wait_end::system) ++into_.outside_waits;
  if (wait.note.thread >= 0) ++into_.waits_by_thread[wait.note.thread];
  names_tasks_ = names_tasks_ || wait.note.task != 0;
  if (wait.note.object != nullptr) note_object(wait, mine.task);
}

void snapshot_builder::note_edge(seen_edge edge) {
  into_.edges.push_back(edge);
  name_task(edge.waiting);
}

void snapshot_builder::name_task(std::uint64_t task) {
  for (const seen_node& each : open_) {
    if (each.id == task) into_.named.try_emplace(task, seen_task{each.name, each.spawned_at});
  }
}

void snapshot_builder::note_object(const seen_wait& wait, std::uint64_t task) {
  seen_object& seen = into_.objects[wait.note.object];
  seen.verb = wait.note.verb;
  seen.word = wait.note.word;
  if (++seen.waiting == 1) {
    seen.first = task;
    name_task(task);
  }
  seen.more = wait.note.more.data();
  if (wait.note.task != 0) seen.owner = wait.note.task;
  if (wait.seen_since_ns >= 0 && (seen.oldest_ns < 0 || wait.seen_since_ns < seen.oldest_ns)) {
    seen.oldest_ns = wait.seen_since_ns;
  }
}

std::string snapshot_builder::doing(const seen_node& node) {
  const std::string inside = node.is_task ? "" : std::string(" inside of ") + node.note.word;
  if (node.state == task_state::runs) return "runs" + inside;
  if (!node.waits.empty()) {
    const wait_note& note = node.waits.front().note;
    return std::string(note.verb) + (note.word[0] != 0 ? " " : "") + note.word + inside;
  }
  for (const seen_node& each : node.children) {
    if (!each.is_task && each.state != task_state::ready) return doing(each) + inside;
  }
  if (!node.joins.empty()) return "waits for its children" + inside;
  return "is ready to run" + inside;
}

void snapshot_builder::note_task(const seen_node& node) {
  ++into_.tasks;
  into_.waiting += node.state == task_state::waits ? 1 : 0;
  into_.running += node.state == task_state::runs ? 1 : 0;
  if (node.state == task_state::ready) ++into_.ready[node.home.data()];
  constexpr std::size_t most_stops = 64;
  if (node.stop != stop_reason::none) {
    const std::int64_t since = memory_.stopped(node.id);
    if (into_.stops.size() < most_stops) {
      into_.stops.push_back(seen_stop{node.id, node.stop, since, doing(node)});
      into_.named.try_emplace(node.id, seen_task{node.name, node.spawned_at});
    }
  }
  if (node.state == task_state::runs) {
    into_.named.try_emplace(node.id, seen_task{node.name, node.spawned_at});
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
  if (deeper_ != 0) {
    --deeper_;
    return;
  }
  seen_node node = std::move(open_.back());
  open_.pop_back();
  const above mine = above_.back();
  above_.pop_back();
  known_children_.pop_back();
  if (mine.holds_up && !above_.empty()) {
    above_.back().holds_up = true;
    // A parent waits for each of its children.
    if (node.is_task && !open_.back().joins.empty() && !above_.back().may_end_otherwise) {
      above_.back().is_held_up = true;
      note_edge(
          seen_edge{above_.back().task, node.id, nullptr, nullptr, open_.back().id, true, true});
    }
  }
  // circles/branches
  const bool has_parts = std::any_of(node.children.begin(), node.children.end(),
                                     [](const seen_node& each) { return !each.is_task; });
  const bool may_go_on = node.joins.empty() ? node.waits.empty() && !has_parts : !mine.is_held_up;
  if (mine.runs || may_go_on) note_free(mine.task);
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
  if (node.is_task) note_task(node);
  hash_node(node);
  std::vector<seen_node>& siblings = open_.empty() ? into_.roots : open_.back().children;
  if (groups_) {
    const auto [found, is_new] = known_children_.back().emplace(node.hash, siblings.size());
    if (!is_new) {
      seen_node& like = siblings[found->second];
      ++like.count;
      if (like.others.size() < most_others) like.others.push_back(node.id);
      if (node.is_task && into_.likes.size() < most_likes) into_.likes.emplace(node.id, like.id);
      return;
    }
  }
  siblings.push_back(std::move(node));
}

void snapshot_builder::index(const std::vector<seen_node>& nodes) {
  for (const seen_node& each : nodes) {
    if (each.is_task) into_.by_id.emplace(each.id, &each);
    index(each.children);
  }
}

void snapshot_builder::finish() {
  for (seen_edge& each : into_.edges) each.awaited = into_.task_of(each.awaited);
  if (names_tasks_) index(into_.roots);
  for (const seen_edge& each : into_.edges) {
    // It may be another runtime's, and go on there.
    if (each.leaf != nullptr && each.object == nullptr && into_.find(each.awaited) == nullptr) {
      ++into_.outside_waits;
    }
  }
  for (auto& [address, object] : into_.objects) object.owner = into_.task_of(object.owner);
  for (const thread_note& each : into_.threads) {
    const look_memory::restless seen = memory_.rests(each);
    if (seen.since_ns >= 0 && seen.segments != 0) {
      into_.restless.push_back(seen_restless{each, seen.since_ns, seen.segments});
    }
  }
  memory_.end();
}

}  // namespace tandem::inline v0::detail
