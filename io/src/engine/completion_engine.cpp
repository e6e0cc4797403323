// completion_engine.cpp: the loop: inboxes, jobs, batches, sleep.
// SPDX-License-Identifier: MIT
#include "engine/completion_engine.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <tandem/detail/clock_hold.hpp>
#include <tandem/detail/forked.hpp>
#include <tandem/detail/idle_threads.hpp>
#include <tandem/detail/listed_thread.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/detail/recording.hpp>
#include <tandem/detail/thread_context.hpp>

#include "ready/stealable_executor.hpp"

namespace tandem::inline v0::io {

namespace {

constexpr std::size_t items_between_looks = 64;  // jobs run before the ring is looked at again
constexpr auto longest_gathering = std::chrono::microseconds(500);  // ring_sleep/gather

}  // namespace

completion_engine::completion_engine(runtime& owner, stealable_executor& shared, moves& moved,
                                     unsigned index, unsigned most, bool drives_timers,
                                     bool workers_fill_cpus, const completion_options& options)
    : lane_owner(shared, sleep_, index),
      owner_(owner),
      drives_timers_(drives_timers),
      pulse_(index, sleep_, lane().open_part()),
      ring_(options, sleep_, slot()),
      hosted_(*this, moved, most),
      gathers_(workers_fill_cpus),
      recorded_(owner, tandem::detail::recorded_thread::role::completion, index),
      thread_(
          owner.options().name + "-io-" + std::to_string(index), [this] { set_up(); },
          [this] { run(); }) {}

completion_engine::~completion_engine() = default;

completion_engine* completion_engine::current() noexcept {
  return static_cast<completion_engine*>(lane_owner::current());
}

void completion_engine::start() {
  thread_.join();
  hosted_.open();
  stopping_.store(false, std::memory_order_relaxed);  // published by the start
  thread_.start();
}

void completion_engine::stop() noexcept {
  if (!thread_.is_there()) return;
  stopping_.store(true, std::memory_order_seq_cst);
  sleep_.wake();
  thread_.join();
}

void completion_engine::set_up() {
  ring_.open(sleep_);
  pulse_.started();
}

void completion_engine::run() noexcept {
  tandem::detail::thread_context& context = tandem::detail::this_thread();
  const tandem::detail::recorded_here recorded(recorded_);
  context.current_executor = &lane().shared();
  const tandem::detail::listed_thread here(&owner_, "completion thread", static_cast<int>(index()),
                                           &rests_);
  enter();
  loop();
  leave();
  context.current_executor = nullptr;
  ring_.stock().close();
  sleep_.wait_for_wakers();
  lane().end();
  ring_.close();
  pulse_.ended();
}

void completion_engine::loop() noexcept {
  tandem::detail::thread_context& context = tandem::detail::this_thread();
  while (true) {
    if (hosted_.is_asked()) [[unlikely]]
      hosted_.look();  // moving/ask
    for (host* const each : hosted_) each->take_inbox();
    lane().look_outside(has_jobs());
    run_jobs(context);
    post_what_ended();
    // ring_sleep/clock. What they have begun holds the clock itself.
    for (host* const each : hosted_) each->local().settle();
    hosted_.go_on();  // moving/drain
    if (is_done()) break;
    if (has_jobs() || (!hosted_.empty() && lane().steal())) {
      ring_.wait(std::chrono::steady_clock::time_point::min());
    } else {
      sleep();
    }
    look();
  }
}

bool completion_engine::is_done() noexcept {
  if (stopping_.load(std::memory_order_acquire)) {
    bool ended = !has_jobs() && !hosted_.is_asked();
    for (host* const each : hosted_) ended &= each->sources().end() && !each->has_mail();
    if (!ended) return false;
    for (host* const each : hosted_) each->sources().leave();
    return true;
  }
  if (!hosted_.may_leave()) return false;
  lane().give_away();  // moving/leave
  return true;
}

bool completion_engine::has_jobs() const noexcept {
  for (host* const each : hosted_) {
    if (!each->local().empty()) return true;
  }
  return !lane().empty();
}

void completion_engine::sleep() noexcept {
  using clock = std::chrono::steady_clock;
  // ring_sleep/announce. First we say that we sleep, then we look once more; whoever comes after
  // that look sees the flag and wakes us.
  const bool gathers = gathers_.decide();
  sleep_.announce(gathers);
  clock::time_point deadline = clock::time_point::max();
  tandem::detail::timer_service& timers = tandem::detail::timers_of(owner_);
  if (drives_timers_) deadline = timers.sleep_begins(&sleep_);
  bool work = stopping_.load(std::memory_order_seq_cst) || hosted_.is_asked() ||  // moving/ask
              ring_.stock().can_feed() || lane().shared().has_work();             // stealable/take
  for (host* const each : hosted_) work |= each->has_mail();
  if (gathers && !work) {
    sleep_.gather(owner_.workers(), std::min(deadline, clock::now() + longest_gathering));
    work = true;
  }
  const clock::time_point lies_until =
      work ? clock::time_point::max()
           : trim_.lie_down(pulse_.segments(), timers, !ring_.has_in_flight());
  if (!work) rests_.add();  // odd: it rests
  ring_.wait(work ? clock::time_point::min() : std::min(deadline, lies_until));
  if (!work) rests_.add();
  if (trim_.get_up()) tandem::detail::threads_are_idle(owner_);  // deadlocks/idle
  sleep_.got_up();
  if (drives_timers_) timers.sleep_ended(&sleep_);
  lane().shared().kick_watch();  // stalls/look
}

void completion_engine::look() noexcept {
  const unsigned reaped = ring_.reap(&completion_engine::operation_ended, this);
  if (drives_timers_) {
    tandem::detail::timer_service& timers = tandem::detail::timers_of(owner_);
    timers.expire(timers.now());
  }
  ring_.stock().feed();
  post_what_ended();
  // A single one is told by the task that it wakes.
  if (reaped > 1 && tandem::detail::is_recorded()) [[unlikely]]
    record_look(reaped);
}

void completion_engine::record_look(unsigned reaped) noexcept {
  constexpr std::uint64_t most = (std::uint64_t{1} << 28) - 1;
  const std::uint64_t submitted = ring_.submitted();
  tandem::detail::record_loop(tandem::detail::trace_kind::look, reaped,
                              std::min(submitted - submitted_before_, most));
  submitted_before_ = submitted;
}

void completion_engine::operation_ended(void* self, detail::operation& ended) noexcept {
  (void)self;  // one of its guests
  ended.thread()->implementation().ended(ended);
}

void completion_engine::route(tandem::detail::promise_base& waiting) noexcept {
  waiting.note_queued();
  if (waiting.home == &lane().shared()) {
    gathers_.brought_to_own_tasks();
    lane().add_reaped(&waiting);
    return;
  }
  if (waiting.home != &owner_.workers()) {  // there may be many guests
    for (host* const each : hosted_) {
      if (waiting.home != each) continue;
      gathers_.brought_to_own_tasks();
      each->local().add_held(&waiting);
      return;
    }
  }
  hand_overs_.add(waiting);
}

void completion_engine::post_what_ended() noexcept {
  lane().publish_reaped();
  if (hand_overs_.empty()) return;
  gathers_.brought_to_workers(hand_overs_.flush(owner_, owner_.workers()));
}

void completion_engine::run_job(tandem::detail::thread_context& context, job* item,
                                tandem::executor& as) noexcept {
  items_.add();
  context.current_executor = &as;
  context.env = item->env;
  context.budget = tandem::detail::await_budget;
  if (const environment* const task = item->env) {
    pulse_.segment_begins(task->spawned_at(), task->name());
  } else {
    pulse_.segment_begins(std::source_location(), "");
  }
  item->run(item);
  pulse_.segment_ends();
  // A child of fork() must leave the rings, which it shares with its parent, alone.
  if (context.current_executor == nullptr) [[unlikely]]
    tandem::detail::end_forked_child();
  context.env = nullptr;
}

void completion_engine::run_jobs(tandem::detail::thread_context& context) noexcept {
  for (std::size_t ran = 0; ran < items_between_looks;) {
    // In turn: of each guest one, and one that anybody may run.
    bool any = false;
    for (std::size_t k = 0; k < hosted_.size(); ++k) {
      host& guest = hosted_[k];
      if (job* const item = guest.local().pop_front()) {
        run_job(context, item, guest);
        any = true;
        ++ran;
      }
    }
    if (job* const item = lane().take()) {
      run_job(context, item, lane().shared());
      tandem::detail::release_clock(owner_);  // ring_sleep/clock
      any = true;
      ++ran;
    }
    if (!any) break;
  }
  context.current_executor = &lane().shared();
}

void completion_engine::add_stats(completion_pool_stats& out) const noexcept {
  if (pulse_.is_running()) ++out.threads;
  ring_.add_stats(out);
  out.handed_over += hand_overs_.posts();
  out.items += items_.read();
  out.stolen += lane().stolen();
  out.backlog += pulse_.backlog();
  out.wakes += sleep_.wakes();
}

}  // namespace tandem::inline v0::io
