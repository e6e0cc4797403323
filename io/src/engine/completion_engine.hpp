// completion_engine.hpp: an OS thread with a backend; it runs what lives on its completion threads.
// SPDX-License-Identifier: MIT
//
// A completion_thread is a place where tasks and sockets live; an engine is what makes it go.
// Usually engine i hosts thread i and nothing else. When it retires its guests move on (guests.hpp),
// and nobody else notices: addresses, executors and sockets stay what they are. Here is its loop;
// the rest is its parts'. Protocols: README.md beside this.
#pragma once

#include <atomic>
#include <tandem/detail/own_counter.hpp>
#include <tandem/executor.hpp>

#include "engine/engine_ring.hpp"
#include "engine/guests.hpp"
#include "engine/started_thread.hpp"
#include "growth/thread_pulse.hpp"
#include "ready/hand_overs.hpp"
#include "ready/lane_owner.hpp"
#include "ring/gather_choice.hpp"
#include "ring/idle_trim.hpp"
#include "ring/ring_sleep.hpp"

namespace tandem::inline v0 {
namespace detail {
struct thread_context;
}

namespace io {

class completion_engine final : public lane_owner {
 public:
  using host = completion_thread::impl;

  /// @param most           how many threads it may have to host
  /// @param drives_timers      whether the runtime's deadlines end its sleep
  /// @param workers_fill_cpus  ring_sleep/gather
  completion_engine(runtime& owner, stealable_executor& shared, moves& moved, unsigned index,
                    unsigned most, bool drives_timers, bool workers_fill_cpus,
                    const completion_options& options);
  completion_engine(const completion_engine&) = delete;
  completion_engine& operator=(const completion_engine&) = delete;
  ~completion_engine();

  /// Waits for the end of its last thread first. @throws what the backend's set-up threw
  void start();
  /// pre: no task lives, so nothing is in flight.
  void stop() noexcept;

  /// Of the calling thread, or null.
  static completion_engine* current() noexcept;
  bool is_current() const noexcept { return current() == this; }
  unsigned index() const noexcept { return pulse_.index(); }

  // Its parts; who may do what says each.
  ring_sleep& sleeping() noexcept { return sleep_; }
  const thread_pulse& pulse() const noexcept { return pulse_; }
  engine_ring& ring() noexcept { return ring_; }
  guests& hosted() noexcept { return hosted_; }

  /// operations/complete. Owner: its operation has ended. It goes on here, or with the batch for
  /// its home. It holds the clock.
  void route(tandem::detail::promise_base& waiting) noexcept;
  /// Any thread.
  void add_stats(completion_pool_stats& out) const noexcept;

 private:
  void set_up();
  void run() noexcept;
  void loop() noexcept;
  bool is_done() noexcept;
  bool has_jobs() const noexcept;
  void run_jobs(tandem::detail::thread_context& context) noexcept;
  void run_job(tandem::detail::thread_context& context, job* item, tandem::executor& as) noexcept;
  void post_what_ended() noexcept;
  void sleep() noexcept;
  void look() noexcept;
  /// recording/write. The ring was looked at, and brought so much.
  void record_look(unsigned reaped) noexcept;
  static void operation_ended(void* self, detail::operation& ended) noexcept;

  tandem::runtime& owner_;
  const bool drives_timers_;
  std::atomic<bool> stopping_{false};
  ring_sleep sleep_;
  thread_pulse pulse_;
  engine_ring ring_;
  guests hosted_;
  hand_overs hand_overs_;
  gather_choice gathers_;
  idle_trim trim_;
  tandem::detail::own_counter items_;
  tandem::detail::own_counter rests_;               // see listed_thread
  const tandem::detail::recorded_thread recorded_;  // recording/take
  std::uint64_t submitted_before_ = 0;              // what the last look event has told
  started_thread thread_;                           // the last one: it uses the others
};

}  // namespace io
}  // namespace tandem::inline v0
