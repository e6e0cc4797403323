// service_table.hpp: what others have plugged into a runtime, in the order in which it came.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <tandem/runtime.hpp>

#include "recorder/trace_story.hpp"

namespace tandem::inline v0::detail {

class service_table {
 public:
  service_table() = default;
  service_table(const service_table&) = delete;
  service_table& operator=(const service_table&) = delete;

  /// Held by whoever makes a service and adds it; a service may use another one while it is made.
  std::recursive_mutex& lock() noexcept { return lock_; }
  /// Under the lock. @throws std::length_error
  void add(const void* key, std::unique_ptr<service> made);

  // Any thread.

  service* find(const void* key) const noexcept;
  void append_metrics(std::vector<metric_family>& out) const;
  bool awaits_anything() const noexcept;
  /// @throws  std::bad_alloc
  void append_decisions(std::vector<timed_decision>& out) const;
  /// The newest first.
  void stop() noexcept;

 private:
  struct entry {
    const void* key = nullptr;
    std::unique_ptr<service> object;
  };
  static constexpr std::size_t limit = 32;

  std::recursive_mutex lock_;
  std::array<entry, limit> entries_;
  std::atomic<std::size_t> count_{0};  // entries below it are constant
};

}  // namespace tandem::inline v0::detail
