// hand_overs.hpp: tasks whose I/O has ended, on their way home.
// SPDX-License-Identifier: MIT
//
// operations/complete. A batch is one post, one wake for each home, of which there are few. Nothing
// is allocated for it: what is of further homes has its turn after the others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tandem/detail/own_counter.hpp>
#include <tandem/executor.hpp>

namespace tandem::inline v0 {
namespace detail {
class promise_base;
}

namespace io {

/// All of it is the engine's thread's, but posts().
class hand_overs {
 public:
  /// @param waiting  holds the clock
  void add(tandem::detail::promise_base& waiting) noexcept;
  bool empty() const noexcept { return count_ == 0; }
  /// Posts everything. @returns how much of it went to `workers`
  std::size_t flush(runtime& owner, const tandem::executor& workers) noexcept;
  /// Any thread: posts so far.
  std::uint64_t posts() const noexcept { return posts_.read(); }

 private:
  struct hand_over {
    tandem::executor* target = nullptr;
    job_list items;
  };
  static constexpr std::size_t homes_at_once = 8;

  std::size_t post_all(runtime& owner, const tandem::executor& workers) noexcept;

  std::array<hand_over, homes_at_once> each_;
  std::size_t count_ = 0;
  job_list of_further_homes_;
  tandem::detail::own_counter posts_;
};

}  // namespace io
}  // namespace tandem::inline v0
