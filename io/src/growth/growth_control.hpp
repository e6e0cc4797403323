// growth_control.hpp: turns what the watch sees into readings, and decisions into threads.
// SPDX-License-Identifier: MIT
//
// Lives on the watch's thread (stall_watch.hpp), which looks at the engines anyway and sleeps when
// nothing happens. Protocol growth: io/src/growth/README.md.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <tandem/detail/decision_log.hpp>
#include <vector>

#include "growth/growth_rule.hpp"
#include "growth/growth_target.hpp"

namespace tandem::inline v0::io {

/// One thread at one look.
class growth_sight {
 public:
  growth_sight() noexcept = default;

  unsigned thread = 0;
  bool busy = false;                 ///< has a thread of the system, which does not sleep
  std::chrono::nanoseconds keeps{};  ///< how long the task that runs has been running; 0: none does
  std::size_t backlog = 0;           ///< tasks that lie there for others to take
  std::uint64_t segments = 0;        ///< that it has run since the start
};

class growth_control {
 public:
  using clock = growth_rule::clock;

  /// @param options  valid
  growth_control(const completion_growth& options, growth_target& target,
                 tandem::detail::decision_log& log, unsigned least, unsigned most,
                 clock::time_point now);

  /// How often it wants to look.
  std::chrono::nanoseconds interval() const noexcept { return options_.period / options_.looks; }
  /// Whether that long has passed since the last look.
  bool is_due(clock::time_point now) const noexcept { return now >= next_look_; }
  /// growth/look. Once for each engine, also for those that do not run, then looked().
  void see(const growth_sight& sight) noexcept;
  /// The look is over; with the last one of a period it is decided.
  void looked(clock::time_point now) noexcept;

  /// spreading/arrive. So many connections have come whose tasks live on the threads.
  /// @returns  false if it could not look, and has to be asked again
  bool serve_arrivals(unsigned arrived, clock::time_point now) noexcept;
  /// spreading/arrive. Whether it has to hear of them now: else it comes back to those that it has
  /// heard of, when a thread can be had. Any thread.
  bool wants_arrivals() const noexcept { return missed_.load(std::memory_order_relaxed) == 0; }

  /// growth/rest. Nothing goes on, and nothing has since the last look.
  /// @returns  whether nobody has to look before next_retirement()
  bool idles(clock::time_point now) noexcept;
  /// growth/rest. When it has to be told, however long nothing goes on.
  clock::time_point next_retirement() const noexcept { return rule_.next_retirement(); }

 private:
  struct seen {
    unsigned busy = 0;  // looks
    bool stalled = false;
  };

  void start_over() noexcept;
  void decide(clock::time_point now) noexcept;
  /// @returns  whether there is one more
  bool grow(const growth_reading& reading, decision_reason why) noexcept;
  void retire(const growth_reading& reading, decision_reason why) noexcept;
  /// pre: locked
  void add_for(unsigned arrived, growth_reading reading) noexcept;
  void log(const growth_reading& reading, pool_action action, decision_reason why,
           unsigned after) noexcept;
  static void say_refused(unsigned thread, const char* why) noexcept;

  const completion_growth options_;
  growth_target& target_;
  tandem::detail::decision_log& log_;
  const clock::time_point born_;
  growth_rule rule_;

  std::vector<seen> seen_;  // since the period began
  unsigned looks_ = 0;
  double backlog_ = 0;          // of all looks together
  std::uint64_t segments_ = 0;  // in this look
  std::uint64_t segments_before_ = 0;
  clock::time_point decided_;
  clock::time_point next_look_;
  std::atomic<unsigned> missed_{
      0};                    // arrivals for which there was no thread; written by its thread
  bool decides_ = false;     // inside decide(): what was seen is a whole period
  clock::time_point retry_;  // not before a thread may be started: the last time it was refused
};

}  // namespace tandem::inline v0::io
