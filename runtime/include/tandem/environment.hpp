// environment.hpp: what all frames of one task share.
// SPDX-License-Identifier: MIT
//
// An environment lives in the block of a spawned root or inside a combinator (with_timeout,
// with_scope); frames carry one pointer to it. It is set as the thread's current environment while
// any segment of the task runs, so plain functions can reach it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include <tandem/config.hpp>
#include <tandem/executor.hpp>
#include <tandem/stop.hpp>

namespace tandem::inline v0 {

class runtime;

namespace detail {
class context_entry;
class task_record;
struct environment_kind;
/// records/names. The task is called so from now on.
TANDEM_API void rename_task(task_record& of, const char* name) noexcept;
}  // namespace detail

/// The shared surroundings of a task tree: runtime, default executor, stop state, parent, identity,
/// context.
///
/// @thread_safety  set-up by the strand that starts the task, then read-only but for the stop state
class TANDEM_API environment {
 public:
  environment() noexcept = default;
  /// Of a task. @param kind, part  as set_kind() has them
  environment(tandem::runtime* owner, executor* home, const detail::environment_kind& kind,
              const void* part) noexcept
      : runtime_(owner), home_(home), kind_(&kind), part_(part) {}
  /// Of a part of the parent's task that begins now, but is linked only when something below waits
  /// (stopping/late). @param kind, part  as above
  environment(environment& parent, executor* home, const detail::environment_kind& kind,
              const void* part) noexcept;
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

  tandem::runtime* runtime() const noexcept { return runtime_; }
  /// Where the root of the task started.
  executor* home() const noexcept { return home_; }
  environment* parent() const noexcept { return parent_; }
  /// Unique in the process; 0 until the task started.
  std::uint64_t id() const noexcept { return id_; }
  /// Never null; "" if nobody named the task.
  /// Of a task that lives any thread may ask.
  const char* name() const noexcept {
    return name_.load(std::memory_order_relaxed);  // static text: nothing goes with it
  }
  const std::source_location& spawned_at() const noexcept { return spawned_at_; }

  /// The newest of the bindings that flow down (context.hpp); null: there are none.
  const detail::context_entry* context() const noexcept { return context_; }

  stop_state& stop() noexcept { return stop_; }
  const stop_state& stop() const noexcept { return stop_; }

  // Implementation
  /// The one that this is the stop state of; each child of the runtime's own lists is one's.
  static const environment& of(const stop_state& part) noexcept {
    static_assert(std::is_standard_layout_v<environment>);
    return *reinterpret_cast<const environment*>(                              // NOLINT
        reinterpret_cast<const char*>(&part) - offsetof(environment, stop_));  // NOLINT
  }
  void set_home(executor* home) noexcept { home_ = home; }
  void set_name(const char* static_text) noexcept {
    name_.store(static_text, std::memory_order_relaxed);
    if (record_ != nullptr) detail::rename_task(*record_, static_text);
  }
  /// What it surrounds: a task, or a part of one.
  const detail::environment_kind& kind() const noexcept;
  /// @param part  what it is in, as the kind says; null for a task
  void set_kind(const detail::environment_kind& kind, const void* part) noexcept {
    kind_ = &kind;
    part_ = part;
  }
  const void* part() const noexcept { return part_; }
  /// The environment of the task that this is a part of, or itself.
  environment& task() noexcept;
  /// Id of that one; 0 outside of any task. What is kept longer than a part lives goes by it.
  static std::uint64_t task_id(const environment* of) noexcept {
    while (of != nullptr && of->is_part()) of = of->parent();
    return of != nullptr ? of->id() : 0;
  }
  void set_spawned_at(const std::source_location& where) noexcept { spawned_at_ = where; }
  /// Borrowed: whoever sets it keeps it alive as long as this environment.
  void set_context(const detail::context_entry* context) noexcept { context_ = context; }
  /// records/make. What is known of the task where it is observed; else null. All environments of a
  /// task have the same.
  detail::task_record* record() const noexcept { return record_; }
  void set_record(detail::task_record* record) noexcept { record_ = record; }
  /// Takes the next id.
  void start() noexcept;
  /// As start(), for a task that another one has spawned: inherits the runtime, is linked to its
  /// stop.
  void start_task_below(environment& parent) noexcept;
  /// Likewise, for a part of the parent's task.
  void start_below(environment& parent) noexcept;
  /// As above, but no stop of the parent comes down (stopping/closed).
  void start_apart(environment& parent) noexcept;
  /// Whether it is of a part of its parent's task (a child of when_all, what with_timeout runs).
  bool is_part() const noexcept { return (id_ & 1) != 0; }
  void end() noexcept { stop_.unlink(); }

 private:
  void begin_part(environment& parent) noexcept;
  void inherit(environment& parent) noexcept;

  tandem::runtime* runtime_ = nullptr;
  executor* home_ = nullptr;
  environment* parent_ = nullptr;
  detail::task_record* record_ = nullptr;
  stop_state stop_;
  std::uint64_t id_ = 0;               // odd: of a part
  std::atomic<const char*> name_{""};  // written by the task, read by reports, too
  std::source_location spawned_at_;
  const detail::context_entry* context_ = nullptr;
  const detail::environment_kind* kind_ = nullptr;  // set before it is linked; null: of a part
  const void* part_ = nullptr;
};

/// The environment of the task that the calling thread runs; null outside any task.
///
/// @cost  a thread-local read
TANDEM_API environment* current_environment() noexcept;

/// Names the task that the calling thread runs: in dumps, traces, counters and hooks. What it
/// spawns from then on takes the name over until it has one of its own. The last name stays: a
/// coroutine that is awaited, and a child of when_all, are the same task, so name what you spawn.
/// Outside any task: nothing.
///
///     tandem::name("GET /solve");
///
/// @param static_text  lives as long as the program: a literal; not null
/// @thread_safety      inside a task
/// @cost               two stores
TANDEM_API void name(const char* static_text) noexcept;

}  // namespace tandem::inline v0
