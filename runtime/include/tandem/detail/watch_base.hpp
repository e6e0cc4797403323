// watch_base.hpp: the part of a watch that does not depend on its value.
// SPDX-License-Identifier: MIT
//
// The stamp of the value (detail/shared_value.hpp) is its version: the first one is 1, and 0 is
// what a reader has seen that has seen none. The word's lowest bit says "closed". Protocol watches,
// runtime/src/sync/README.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tandem/config.hpp>
#include <tandem/detail/shared_value.hpp>
#include <tandem/detail/wait_list.hpp>
#include <tandem/environment.hpp>

namespace tandem::inline v0::detail {

class TANDEM_API watch_base {
 public:
  static constexpr lock_word::word closed = lock_word::one;

  watch_base(const watch_base&) = delete;
  watch_base& operator=(const watch_base&) = delete;

  void close() noexcept;
  bool is_closed() const noexcept { return (word_.load() & closed) != 0; }
  std::uint64_t version() const noexcept { return value_.now(); }
  std::size_t readers() const noexcept { return joined_.load(std::memory_order_relaxed); }
  std::size_t waiting() noexcept;
  std::uint64_t last_writer() const noexcept { return last_task_.load(std::memory_order_relaxed); }

  void join() noexcept { joined_.fetch_add(1, std::memory_order_relaxed); }
  void leave() noexcept { joined_.fetch_sub(1, std::memory_order_relaxed); }
  /// Whether a reader that has seen that version has nothing to wait for.
  bool has_news(std::uint64_t seen) const noexcept { return version() != seen || is_closed(); }
  /// watches/wait. What await_suspend returns.
  bool start(waiter& self, promise_base& waiting, std::uint64_t seen) noexcept;
  /// selecting/arm. @returns whether there is nothing to wait for
  bool arm(waiter& self, std::uint64_t seen) noexcept;

 protected:
  friend class watch_waiter;

  watch_base() noexcept : word_(0) {}
  ~watch_base() { TANDEM_ASSERT(readers() == 0, "a watch was destroyed before its readers"); }

  /// watches/set. Under the lock, which it releases: a new version was written.
  void end_set(lock_word::word state) noexcept;

  lock_word word_;
  shared_value value_{1};
  std::atomic<std::size_t> joined_{0};       // readers that there are; for people
  std::atomic<std::uint64_t> last_task_{0};  // id of a task; 0: outside any task
  wait_list waiting_;                        // under the lock
};

/// A reader that waits.
class TANDEM_API watch_waiter : public waiter {
 public:
  explicit watch_waiter(watch_base& target) noexcept;
  const watch_base* const of;
};

}  // namespace tandem::inline v0::detail
