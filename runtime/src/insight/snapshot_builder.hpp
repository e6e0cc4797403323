// snapshot_builder.hpp: takes down what a look shows, and makes a tree of it.
// SPDX-License-Identifier: MIT
//
// Under the locks of a look it only writes into room that is there; settle() then has the time to
// build. So a spell under a lock is some microseconds, and memory that ends is an exception.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "insight/snapshot.hpp"
#include "stop/stop_look.hpp"

namespace tandem::inline v0::detail {

class look_memory;

class snapshot_builder final : public look_visitor {
 public:
  /// @param most_frames  of each chain
  /// @param groups       whether siblings that are alike become one
  snapshot_builder(snapshot& into, look_memory& memory, std::size_t most_frames, bool groups);

  void enter(const environment& of) noexcept override;
  void wait(const stop_waiter& what, const promise_base& frame, bool known) noexcept override;
  void joins(const promise_base& frame) noexcept override;
  void leave() noexcept override;
  bool has_room() const noexcept override;
  void settle() override;
  /// queued/list. A task that has not begun, and hangs below nobody yet. After the walk.
  void queued(seen_node&& of);
  /// What is known of it by itself: allocates nothing.
  static void describe(seen_node& into, const environment& of) noexcept;
  /// After all.
  void finish();

 private:
  enum class what : std::uint8_t { enter, wait, joins, leave };
  struct event {
    what kind = what::leave;
    seen_node node;  // of enter; without memory of its own
    seen_wait wait;  // likewise
    const environment* env = nullptr;
    std::size_t first_frame = 0;
    std::size_t frames = 0;
    bool has_more_frames = false;
    bool is_one_of_several = false;  // of wait: there may be siblings that no look sees
  };

  event& add(what kind) noexcept;
  void take_frames(event& into, const promise_base& from) noexcept;
  void begin_node(event& of);
  void end_node();
  void add_wait(event& of);
  void add_joiner(const event& of);
  void note_state(seen_node& node, const environment* env);
  void note_object(const seen_wait& wait, std::uint64_t task);
  void note_edge(seen_edge edge);
  /// circles/branches. Something of the task may go on.
  void note_free(std::uint64_t task) { ++into_.free_branches[task]; }
  void name_task(std::uint64_t task);
  void note_task(const seen_node& node);
  static std::string doing(const seen_node& node);
  static void hash_node(seen_node& node) noexcept;
  void index(const std::vector<seen_node>& nodes);

  snapshot& into_;
  look_memory& memory_;
  const std::size_t most_frames_;
  const bool groups_;
  std::vector<event> events_;  // the first event_count_ are in use
  std::size_t event_count_ = 0;
  std::vector<seen_frame> frames_;  // likewise
  std::size_t frame_count_ = 0;

  /// What is above a node.
  struct above {
    std::uint64_t task;       // that it is a part of
    bool may_end_otherwise;   // below a time limit, a race or the like
    bool holds_up = false;    // it, or something below it, waits for a task
    bool runs = false;        // a thread runs in it, not in a part of it
    bool is_held_up = false;  // circles/branches: its joins have an edge
  };
  std::vector<seen_node> open_;  // from the root down
  std::vector<above> above_;     // of each open one
  // Of each open one, and of the roots: which of its children are how.
  std::vector<std::unordered_map<std::size_t, std::size_t>> known_children_;
  bool names_tasks_ = false;  // a wait names a task
  std::size_t deeper_ = 0;    // environments below the deepest open one that are left out
};

}  // namespace tandem::inline v0::detail
