// growth_target.hpp: what growth_control grows: the pool, or a test's idea of one.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>

namespace tandem::inline v0::io {

/// A number of threads, and the lock under which it is changed (growth/watch): BasicLockable,
/// try_lock() included.
class growth_target {
 public:
  growth_target() = default;
  growth_target(const growth_target&) = delete;
  growth_target& operator=(const growth_target&) = delete;

  virtual bool try_lock() noexcept = 0;
  virtual void lock() = 0;
  virtual void unlock() noexcept = 0;

  /// spreading/arrive. Connections whose tasks live on the threads.
  virtual std::uint32_t residents() const noexcept = 0;

  /// growth/follow. How many threads there may be, at that time.
  virtual unsigned most_threads(std::chrono::steady_clock::time_point now) noexcept = 0;

  // pre: locked
  virtual unsigned threads() const noexcept = 0;
  /// Whether add_thread() would not have to wait for one of that number that still retires.
  virtual bool has_room() const noexcept = 0;
  /// @throws  what the set-up of a backend threw: then there are as many as before
  virtual void add_thread() = 0;
  /// The last one. What is bound to it goes to `survivor`, one of the others.
  virtual void retire_thread(unsigned survivor) noexcept = 0;

 protected:
  ~growth_target() = default;
};

}  // namespace tandem::inline v0::io
