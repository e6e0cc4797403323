// virtual_time.hpp: a runtime whose clock jumps, and whose schedule is chosen by a seed.
// SPDX-License-Identifier: MIT
//
// Tests of code that sleeps, retries and times out: a day passes in a moment, and the same seed
// gives the same order of events. n logical workers share one thread; before each segment the seed
// chooses which of them steps next and what it takes. When nothing can run the clock moves to the
// next deadline; when there is none either, the wait that drives the runtime throws `stalled`.
// Protocol driving: runtime/src/worker/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

class runtime;

/// Set as runtime_options::clock: the runtime has a virtual clock and no threads of its own.
/// Whoever waits for something of it (run, sync_wait, join_handle::wait, drain, run_for, ...) runs
/// it.
///
///     tandem::runtime_options options;
///     options.clock = tandem::virtual_time(42, 4);      // seed, logical workers
///     tandem::run(a_day_of_retries(), options);         // takes milliseconds
///
/// The clock stands still while I/O is under way (a read that waits for its peer is), while a
/// blocking() call runs, while a task waits for foreign code (from_callback(), use_await, the next
/// value or the end of a callback_stream()), and while somebody holds a clock_hold. So a time limit
/// around a callback that never comes does not pass: have a test's library call back. It begins one hour after its epoch,
/// at every seed. A task that spins until a time has come, without sleeping, spins for ever: only
/// sleeping lets time pass.
///
/// What happens on other threads is not the seed's: when a blocking() call or I/O comes back,
/// others may have run more or fewer steps at the same virtual time.
///
/// What the seed decides is which task runs next wherever one suspends, and whether a ready await
/// (a free mutex, a channel with room) lets others in between. A child that is awaited runs at
/// once.
class virtual_time {
 public:
  /// @param seed     chooses the schedule, and all random numbers that tandem uses
  /// @param workers  logical workers, 1 to 1024
  explicit virtual_time(std::uint64_t seed = 1, unsigned workers = 1) noexcept
      : seed_(seed), workers_(workers) {}

  std::uint64_t seed() const noexcept { return seed_; }
  unsigned workers() const noexcept { return workers_; }

 private:
  std::uint64_t seed_;
  unsigned workers_;
};

/// Thrown by waits on a runtime with a virtual clock: what is waited for can never happen, since
/// all tasks wait, and no timer, no I/O and no blocking() call is left. A lost wake-up, most
/// likely. It says what the tasks wait for.
class TANDEM_API stalled : public std::runtime_error {
 public:
  /// @param waits  a line for each wait
  stalled(const char* what_waits, std::size_t tasks, std::uint64_t seed, const std::string& waits);
  stalled(const stalled&) = default;
  stalled& operator=(const stalled&) = default;
  ~stalled() override;

  /// Tasks that wait.
  std::size_t tasks() const noexcept { return tasks_; }
  /// With this seed it happens again.
  std::uint64_t seed() const noexcept { return seed_; }

 private:
  std::size_t tasks_;
  std::uint64_t seed_;
};

/// Keeps the virtual clock of a runtime from moving while another thread is about to post something
/// to it. Does nothing to a runtime with a real clock.
///
/// @thread_safety  as a value
class TANDEM_API clock_hold {
 public:
  explicit clock_hold(runtime& target) noexcept;
  clock_hold(const clock_hold&) = delete;
  clock_hold& operator=(const clock_hold&) = delete;
  ~clock_hold();

 private:
  runtime* target_;
};

}  // namespace tandem::inline v0
