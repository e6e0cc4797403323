// idle_workers.hpp: the workers that sleep, the youngest on top, and the lock under which they come and go.
// SPDX-License-Identifier: MIT
//
// The same lock guards which threads there are (crew.hpp): a worker sleeps, is woken, started or
// dismissed under it. All functions but lock() are called under it.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "crew/worker.hpp"

namespace tandem::inline v0::detail {

class idle_workers {
 public:
  idle_workers() noexcept = default;
  idle_workers(const idle_workers&) = delete;
  idle_workers& operator=(const idle_workers&) = delete;

  /// The idle lock.
  std::mutex& lock() noexcept { return lock_; }

  /// Before so many can lie here: push() asks for no memory. @throws std::bad_alloc
  void make_room(std::size_t count);
  bool empty() const noexcept { return stack_.empty(); }
  std::size_t count() const noexcept { return stack_.size(); }
  /// parking/lie_down. Its signal says `parked`.
  void push(worker& self) noexcept { stack_.push_back(&self); }
  /// The one to wake: not the one that waits in the port, if there is another. pre: not empty
  worker& take_youngest() noexcept;
  /// ports/get_up. @returns false if somebody else has taken it
  bool take(worker& self) noexcept;
  /// crew/retire. The one that has slept longest.
  ///
  /// @param also_in_port  likewise if it waits in the port
  /// @returns             null: there is none
  worker* take_oldest(bool also_in_port) noexcept;
  /// submissions/end. All are woken; they have been counted.
  void wake_all() noexcept;
  /// changes/look_again. All look anew how long they may stay.
  void look_again() noexcept;

 private:
  alignas(64) std::mutex lock_;
  std::vector<worker*> stack_;  // guarded by lock_; the last one is woken first
};

}  // namespace tandem::inline v0::detail
