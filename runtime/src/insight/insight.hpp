// insight.hpp: looks at the tasks of one runtime, when asked and by itself.
// SPDX-License-Identifier: MIT
//
// Protocol deadlocks: README.md beside this. The watcher is a thread that exists from the first time
// that something has to be looked into, or where looks are asked for at intervals.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <tandem/dump.hpp>
#include <tandem/runtime.hpp>

#include "insight/code_names.hpp"
#include "insight/look_memory.hpp"
#include "insight/snapshot.hpp"

namespace tandem::inline v0::detail {

class snapshot_builder;

/// Any thread. One look at a time.
class insight {
 public:
  explicit insight(tandem::runtime& owner) noexcept : owner_(owner) {}
  insight(const insight&) = delete;
  insight& operator=(const insight&) = delete;
  ~insight();

  /// The runtime is complete. @throws std::system_error, std::bad_alloc
  void begin();
  /// Nothing is looked at any more but by whoever asks.
  void end() noexcept;

  /// @throws  std::bad_alloc
  std::string dump(const dump_options& options);
  /// @throws  std::bad_alloc
  std::vector<std::string> diagnose(std::chrono::milliseconds during);
  /// See describe_waits().
  std::string waits() noexcept;
  /// To where the options say; what fails is said on standard error.
  void write_dump() noexcept;
  /// deadlocks/idle
  void workers_are_idle() noexcept;

 private:
  /// A first look, so long before another one: by both it is known what lasts.
  void look_before(std::chrono::milliseconds span);
  static constexpr std::size_t frames_of_advice = 16;  // of each chain
  // Under lock_.
  snapshot look(std::size_t most_frames, bool groups);
  void add_queued(snapshot_builder& to) const;
  void add_pools(snapshot& to) const;
  /// That are armed, but for those of the pool's control.
  std::size_t timers_of_tasks() const noexcept;
  std::string text_of(const snapshot& seen, dump_format format);

  /// deadlocks/suspect. Whether a look may find something: cheap.
  bool may_stand_still() const noexcept;
  void watch();
  void look_for_deadlocks(bool only_standstill);
  void tell(const deadlock_report& report);
  void start_watcher() noexcept;

  tandem::runtime& owner_;
  std::mutex lock_;
  // Under lock_.
  look_memory memory_;
  code_names names_;
  std::set<std::vector<std::uint64_t>> told_;  // of each deadlock that was reported: its tasks

  std::mutex watch_lock_;
  std::condition_variable watch_changed_;
  // Under watch_lock_.
  bool ends_ = false;
  bool is_asked_ = false;  // deadlocks/idle
  std::thread watcher_;
};

}  // namespace tandem::inline v0::detail
