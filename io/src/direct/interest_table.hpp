// interest_table.hpp: the memory of interests: none is given back before the port's end.
// SPDX-License-Identifier: MIT
//
// An event that is on its way may name a socket that has been closed meanwhile. So what it names
// stays an interest, of nobody or of another socket, which takes it for one call in vain.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "direct/interest.hpp"

namespace tandem::inline v0::io {

/// Any thread.
class interest_table {
 public:
  interest_table() noexcept = default;
  interest_table(const interest_table&) = delete;
  interest_table& operator=(const interest_table&) = delete;
  ~interest_table();

  /// @returns  null: there is no memory
  detail::interest* take() noexcept;
  void give_back(detail::interest& one) noexcept;
  /// How many operations wait. Looks at all, without the lock: also in a child of fork().
  std::uint64_t waits() const noexcept;
  /// Whether any does. seq_cst: pairs with direct/wait.
  bool any_waits() const noexcept;

 private:
  static constexpr std::size_t in_chunk = 64;
  struct chunk {
    std::array<detail::interest, in_chunk> each;
    std::unique_ptr<chunk> next;
  };

  std::mutex lock_;
  // Written under the lock.
  std::unique_ptr<chunk> chunks_;
  std::atomic<const chunk*> newest_{nullptr};  // the same, for those without the lock
  detail::interest* free_ = nullptr;
};

}  // namespace tandem::inline v0::io
