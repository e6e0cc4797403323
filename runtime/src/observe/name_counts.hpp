// name_counts.hpp: counters for each name of tasks. Protocol records: README.md beside this.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <tandem/detail/own_counter.hpp>
#include <tandem/task_counts.hpp>

#include "observe/parts_by_worker.hpp"

namespace tandem::inline v0::detail {

class worker;

/// records/names. Any thread.
class name_counts {
 public:
  using index = std::uint16_t;
  /// How many names are told apart; what comes later is "other", by this number.
  static constexpr index most = 256;
  enum class what : std::uint8_t { ended, waits, wakes, stalls, steals, run_ns, queue_wait_ns };

  /// @throws  std::bad_alloc
  name_counts();
  name_counts(const name_counts&) = delete;
  name_counts& operator=(const name_counts&) = delete;
  /// pre: the workers have been joined
  ~name_counts();

  /// @param name  static text
  index index_of(const char* name) noexcept;
  /// @param on  the calling thread as a worker of the runtime; null: it is none
  void add(const worker* on, index of, what kind, std::uint64_t n = 1) noexcept;
  /// Those of which anything was counted, in the order in which their names came. @throws
  /// std::bad_alloc
  std::vector<task_counts> read() const;

 private:
  static constexpr std::size_t kinds = static_cast<std::size_t>(what::queue_wait_ns) + 1;
  static constexpr std::size_t places = 1024;  // for addresses of names

  struct place {
    std::atomic<const char*> name{nullptr};
    std::atomic<index> of{0};  // written before the name
  };
  /// Of one worker, written by its thread alone.
  struct alignas(64) own_counts {
    std::array<std::array<own_counter, kinds>, most + 1> of;
  };

  index find(const char* name) noexcept;

  // The address says most; several may have the same text.
  std::array<place, places> places_;
  mutable std::mutex lock_;
  std::array<const char*, most> names_{};  // under the lock
  index count_ = 0;                        // under the lock
  // By number of the worker; made by its thread when it has the first to count.
  parts_by_worker<own_counts> by_worker_;
  std::array<std::array<std::atomic<std::uint64_t>, kinds>, most + 1> by_others_{};
};

}  // namespace tandem::inline v0::detail
