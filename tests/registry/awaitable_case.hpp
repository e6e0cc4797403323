// awaitable_case.hpp: what the registry knows of an awaitable: its row of cells, and how to handle it.
// SPDX-License-Identifier: MIT
//
// The registry is a table: a row for each awaitable of the library, a column for each situation
// that it has to get through. A row is a class (a "case") that says how to make the awaitable, how
// to complete it from outside and how to make it fail; the columns (columns.cpp) are written once,
// for all of them.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tandem/errors.hpp>
#include <tandem/task.hpp>

#include "planned_failure.hpp"

namespace tandem::registry {

enum class column : std::uint8_t {
  ready,             ///< what it waits for is there already
  suspended,         ///< it waits, and is completed
  contended,         ///< 8 tasks on 2 workers
  cancelled_before,  ///< the stop came before the await
  cancelled_during,  ///< the stop comes while it waits
  cancelled_racing,  ///< stop and completion at the same time: exactly one outcome, nothing lost
  timed_out,         ///< with_timeout around it
  dropped,           ///< destroyed before it was started
  exception,         ///< it fails, and the exception arrives once
};
inline constexpr std::size_t column_count = 9;

/// A row's cells: each column is tested, unless a reason says why it cannot exist.
class row {
 public:
  constexpr row() = default;

  consteval row without(column which, std::string_view why) const {
    if (why.size() < 20) throw std::invalid_argument("a cell is left out for a reason, in words");
    row changed = *this;
    changed.why_not_[static_cast<std::size_t>(which)] = why;
    return changed;
  }
  /// @returns  empty: it is tested
  constexpr std::string_view why_not(column which) const {
    return why_not_[static_cast<std::size_t>(which)];
  }

 private:
  std::array<std::string_view, column_count> why_not_{};
};
inline constexpr row every_column;

enum class ended : std::uint8_t { returned, cancelled, failed };
const char* to_string(ended how);

/// What a stop does to the await.
enum class on_stop : std::uint8_t {
  ends,     ///< cancels it
  goes_on,  ///< nothing: it waits for the completion
  may_end,  ///< either, depending on how far it is
};

enum class clock_kind : std::uint8_t { virtual_clock, real_clock };

/// The failure that a case throws on demand.
using tandem::test::planned_failure;

/// Goes into every frame and closure of a case, so that one that is not destroyed shows.
class counted {
 public:
  counted() noexcept { ++alive_; }
  counted(const counted& /*other*/) noexcept { ++alive_; }
  counted& operator=(const counted&) noexcept = default;
  ~counted() { --alive_; }
  static long alive() noexcept { return alive_; }

 private:
  inline static std::atomic<long> alive_{0};
};

/// A case as the columns see it.
class awaitable_case {
 public:
  awaitable_case() = default;
  awaitable_case(const awaitable_case&) = delete;
  awaitable_case& operator=(const awaitable_case&) = delete;
  virtual ~awaitable_case();

  /// Brings the case into the state in which the await waits.
  virtual task<void> begin() = 0;
  /// Checks that nothing is lost, and gives back what needs the runtime.
  virtual task<void> end() = 0;
  /// Awaits it once, and says how that ended.
  virtual task<ended> await_once() = 0;
  /// The same inside with_timeout.
  virtual task<ended> await_limited(std::chrono::microseconds limit) = 0;
  /// Makes it, moves it, drops it.
  virtual task<void> drop() = 0;
  /// What it waits for comes; from any thread.
  virtual void complete() = 0;
  /// From now on it fails when it is completed.
  virtual void fail() = 0;
  /// How long one that completes by itself takes.
  virtual void set_span(std::chrono::microseconds span) = 0;
  /// Whether it has got as far as can be seen from outside.
  virtual bool is_waiting() = 0;

  /// Of the last await that was cancelled.
  stop_reason reason() const noexcept { return reason_; }

 protected:
  void note(stop_reason reason) noexcept { reason_ = reason; }
  std::atomic<bool> begun_{false};

 private:
  std::atomic<stop_reason> reason_{stop_reason::none};
};

/// A row of the registry.
struct entry {
  std::string_view name;
  row cells;
  clock_kind clock = clock_kind::virtual_clock;
  on_stop before = on_stop::ends;
  on_stop during = on_stop::ends;
  bool ready_at_once = false;
  bool one_waiter = false;
  bool self_completing = false;
  int relays = 1;
  std::chrono::microseconds limit{1000};
  std::unique_ptr<awaitable_case> (*make)() = nullptr;
  bool (*own)(column) = nullptr;
};

/// A row's name as GoogleTest may spell it.
std::string spelled(std::string_view name);

/// Runs one cell of the table, in a fresh runtime, and checks it.
void run_cell(const entry& of, column which);

}  // namespace tandem::registry
