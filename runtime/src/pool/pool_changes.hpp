// pool_changes.hpp: a pool is changed while it runs. Protocol changes: README.md beside this.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>

#include <tandem/pool_change.hpp>
#include <tandem/worker_pool.hpp>

namespace tandem::inline v0::detail {

class pool_changes {
 public:
  explicit pool_changes(worker_pool::impl& pool) noexcept : pool_(pool) {}
  pool_changes(const pool_changes&) = delete;
  pool_changes& operator=(const pool_changes&) = delete;

  /// All of it, or nothing. @throws as worker_pool::reconfigure()
  void apply(const pool_change& change);
  /// records/make. The runtime has an observer from now on, though it tells and times nothing yet.
  /// @throws std::bad_alloc
  void make_observer();
  /// sizing/follow. There are so many usable CPUs now: what follows them does.
  ///
  /// @returns  false if it has to be asked again: somebody changes the pool, or there is no memory
  bool follow_machine(unsigned cpus) noexcept;
  /// changes/room. From now on a change is only noted, and the control decides nothing any more.
  void end() noexcept;

 private:
  /// @param now  in: what is wanted; out: what the control had, for the caller to let go of
  /// @returns    by how much the room changes
  int change_threads(const std::shared_ptr<const pool_options>& before,
                     std::shared_ptr<const pool_options>& now, bool climbs_anew,
                     bool begins_with_least = false);
  void start_for_waiters() noexcept;

  worker_pool::impl& pool_;
  std::mutex configuring_;  // one change at a time; taken before all others
  bool ended_ = false;      // guarded by configuring_
};

}  // namespace tandem::inline v0::detail
