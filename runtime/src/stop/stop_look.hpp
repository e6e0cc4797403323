// stop_look.hpp: walks a tree of environments, and shows each wait while it is held. Protocol stopping: README.md beside this.
// SPDX-License-Identifier: MIT
//
// Nothing is resumed, stopped or allocated on the way, and no lock is held for longer than it takes
// to show some children: between two such spells a mark in the list of children keeps the place, so
// that a tree of a million tasks stands still for nobody. What a spell has shown is told to
// `settle()` when no lock is held.
#pragma once

#include <cstddef>
#include <deque>

#include <tandem/environment.hpp>
#include <tandem/stop.hpp>

namespace tandem::inline v0::detail {

class promise_base;

/// What is shown. All but settle() are called under locks of stop states: they must not wait,
/// allocate, or use a stop state.
class look_visitor {
 public:
  /// Of the environments that follow, up to leave(), this is above them.
  virtual void enter(const environment& of) noexcept = 0;
  /// A wait of a frame of that environment, which nobody ends meanwhile. Its frame, those that
  /// await it, and what it waits for stay as they are.
  ///
  /// @param frame  the one that waits
  /// @param known  an earlier look has seen the very same wait
  virtual void wait(const stop_waiter& what, const promise_base& frame, bool known) noexcept = 0;
  /// scopes/look. `frame` awaits the end of all children of the environment.
  virtual void joins(const promise_base& frame) noexcept = 0;
  virtual void leave() noexcept = 0;
  /// Whether there is room for what one more environment, or wait, shows.
  virtual bool has_room() const noexcept = 0;
  /// No lock is held: makes room. What it throws ends the look.
  virtual void settle() = 0;

 protected:
  look_visitor() = default;
  look_visitor(const look_visitor&) = default;
  look_visitor& operator=(const look_visitor&) = default;
  ~look_visitor() = default;
};

/// One look at a time at one tree.
class stop_look {
 public:
  explicit stop_look(look_visitor& visitor) noexcept : visitor_(visitor) {}
  stop_look(const stop_look&) = delete;
  stop_look& operator=(const stop_look&) = delete;
  /// Takes its marks back.
  ~stop_look();

  /// Shows all that hangs below `top`, which must not end meanwhile. @throws what settle() throws
  void walk(stop_state& top);

 private:
  /// A state on the way down, whose children are being shown. Those above the last one are kept by
  /// is_looked_at_.
  struct level {
    void begin(stop_state& state) noexcept {
      at = &state;
      waits_shown = false;
    }
    stop_state* at = nullptr;
    environment child_mark;      // stopping/mark: stands in front of the next child
    stop_state* next = nullptr;  // under the lock: the child that is next
    bool is_marked = false;      // child_mark is in the list
    bool waits_shown = false;    // those of the list have been shown
  };
  static const wait_kind kind_of_wait_mark;
  static bool mark_was_stopped(stop_waiter& mark) noexcept;

  // The lock of the level is held.
  void show_listed_waits(level& in);
  void show_joiner(const level& in) noexcept;
  bool show_children(level& in);
  void set_mark(level& in, stop_state* before) noexcept;
  stop_state* take_mark(level& in) noexcept;
  static bool is_mark(const stop_state& child) noexcept;
  void show_slot(stop_state& of) noexcept;
  void show(stop_waiter& what, bool known) noexcept;
  bool has_more(stop_state& child) noexcept;

  level& lowest() noexcept { return levels_[depth_ - 1]; }
  /// No lock is held. @throws std::bad_alloc, and what settle() throws
  void make_room();
  void pause(level& in);
  void end_held() noexcept;

  look_visitor& visitor_;
  std::deque<level> levels_;  // the first depth_ are in use
  std::size_t depth_ = 0;
  stop_waiter* to_be_stopped_ = nullptr;  // stopping/put_back: a stop came while we held them
};

}  // namespace tandem::inline v0::detail
