// crew.cpp: threads are started, retired, and joined.
// SPDX-License-Identifier: MIT
#include "crew/crew.hpp"

#include <cstdio>
#include <mutex>
#include <new>
#include <utility>

#include <tandem/detail/frame_idle.hpp>
#include <tandem/detail/thread_context.hpp>

#include "crew/thread_start.hpp"
#include "platform/threads.hpp"

namespace tandem::inline v0::detail {

namespace {

constexpr int first_worker_attempts = 20;
constexpr auto attempt_distance = std::chrono::milliseconds(10);

}  // namespace

bool crew::start_one(unsigned limit, job* first) noexcept {
  // Whoever joins all joins this one, too: nobody starts after the door was closed.
  const unsigned there = threads();
  if (there >= limit || !workers_.has_free_number()) return false;
  // After a failure others do the work for a while.
  if (there != 0 && next_attempt_ != std::chrono::steady_clock::time_point() &&
      std::chrono::steady_clock::now() < next_attempt_) {
    return false;
  }
  short_text reason;
  try {
    worker& fresh = workers_.take();
    fresh.handed = first;
    // Under queue_first a thread above the core brings its own room (submissions/own_room).
    const bool brings_room =
        limits_.growth() == growth_order::queue_first && there >= limits_.core();
    // With an item in hand it does not look for one.
    const bool searches = first == nullptr;
    word_.come(searches, brings_room);
    if (start(fresh, brings_room, reason)) {
      if (brings_room) ++brought_;
      next_attempt_ = {};
      return true;
    }
    word_.come_undone(searches, brings_room);
    fresh.handed = nullptr;
    workers_.give_back(fresh);
  } catch (const std::bad_alloc&) {
    reason.assign("", "out of memory");
  }
  next_attempt_ = std::chrono::steady_clock::now() + attempt_distance;
  report_no_thread(reason.c_str(), there == 0);
  // Work is queued, nobody can ever run it, and a post cannot report it: no silent hang. A
  // submission's own item is not queued yet: there it goes on. Whoever is on its way out looks once
  // more, and starts somebody (crew/numbers).
  if (there == 0 && present_ == 0 && owner_.anything_queued()) std::terminate();
  return false;
}

bool crew::start(worker& fresh, bool for_full_queue, short_text& reason) noexcept {
  bool by_factory = true;
  for (int attempt = 0; attempt < first_worker_attempts; ++attempt) {
    try {
      start_thread_of(fresh, by_factory);
      fresh.started.store(true, std::memory_order_relaxed);
      threads_.fetch_add(1, std::memory_order_relaxed);
      ++present_;
      const decision_reason why = owner_.thread_started(for_full_queue);
      started_for_[static_cast<std::size_t>(why)].fetch_add(1, std::memory_order_relaxed);
      return true;
    } catch (const std::exception& failure) {
      reason.assign(by_factory ? "thread_options::factory: " : "", failure.what());
    } catch (...) {
      reason.assign(by_factory ? "thread_options::factory: " : "", "not a std::exception");
    }
    // Without this one others do the work; the first one is worth waiting for.
    if (threads() != 0) break;
    if (std::exchange(by_factory, false)) {
      report_no_thread(reason.c_str(), false);
    } else {
      std::this_thread::sleep_for(attempt_distance);
    }
  }
  return false;
}

void crew::start_thread_of(worker& fresh, bool& by_factory) {
  const std::string thread_name = name_ + "-" + std::to_string(fresh.number);
  fresh.settings = owner_.settings();
  fresh.signal.store(worker::running, std::memory_order_relaxed);  // nobody else knows it
  const thread_options::factory_function& factory = fresh.settings->threads.factory;
  by_factory = by_factory && factory != nullptr;
  const auto body = [this, &fresh] { live(fresh); };
  fresh.thread = by_factory ? start_by_factory(factory, thread_name, body)
                            : platform::start_thread(thread_name.c_str(), body);
}

void crew::report_no_thread(const char* reason, bool at_once) noexcept {
  // Work may be posted a million times a second.
  const auto now = std::chrono::steady_clock::now();
  if (!at_once && now < next_report_) return;
  next_report_ = now + std::chrono::seconds(1);
  std::fprintf(
      stderr,
      "tandem: pool %s could not start a worker (%s); it has %u threads. Check the limits on "
      "processes (ulimit -u, pids.max) and on memory.\n",
      name_.c_str(), reason, threads());
}

template <class Step>
void crew::suppress(const Step& step) noexcept {
  try {
    step();
  } catch (...) {
    owner_.suppressed(std::current_exception());
  }
}

void crew::live(worker& self) noexcept {
  const thread_options& options = self.settings->threads;
  // changes/make_thread. No worker yet: what the hook spawns comes from outside. But it may not
  // wait for the runtime.
  this_thread().current_executor = &home_;
  short_text own_name;
  own_name.assign(name_.c_str(), self.number);
  platform::name_this_thread(own_name.c_str());
  suppress([&] { place_worker_thread(options, self.number); });
  self.searching = self.handed == nullptr;  // as whoever started it has counted it
  if (options.on_start) {
    const bool was_searching = self.searching;
    if (was_searching) begin_hook(self);
    suppress([&] { options.on_start(self.number); });
    if (was_searching) starting_.fetch_sub(1, std::memory_order_relaxed);
  }
  owner_.run(self);
}

void crew::begin_hook(worker& self) noexcept {
  // parking/start_hook. Relaxed: a count of hooks, by which too many or too few are woken at worst
  // for a moment.
  const unsigned starting = starting_.fetch_add(1, std::memory_order_relaxed) + 1;
  const busy_word::counts before = word_.end_search();
  self.searching = false;
  if (owner_.queued() > starting && before.room() > 0) owner_.wake_one();
}

void crew::say_goodbye(worker& self) noexcept {
  const std::shared_ptr<const pool_options> settings = std::move(self.settings);
  if (!settings->threads.on_exit) return;
  // changes/make_thread. Its lanes are nobody's any more: what the hook spawns goes to the
  // injection queue.
  thread_context& context = this_thread();
  context.current_worker = nullptr;
  context.lane = nullptr;
  context.lane_home = nullptr;
  suppress([&] { settings->threads.on_exit(self.number); });
}

void crew::leave(worker& self) noexcept {
  say_goodbye(self);
  std::thread before;
  bool was_last = false;
  {
    const std::lock_guard lock(idle_.lock());
    // Else join_all() has taken it, and joins it.
    if (self.thread.joinable()) before = std::exchange(last_left_, std::move(self.thread));
    self.started.store(false, std::memory_order_relaxed);
    workers_.give_back(self);
    --present_;
    was_last = closed_ && present_ == 0;  // submissions/terminate
  }
  // It may have been the last one that was awake, and not have lain for as long as keeping takes.
  if (word_.busy() == 0) trim_frame_store_for_good();
  // Whoever found no free number left the item to us (crew/numbers).
  if (owner_.anything_queued()) owner_.wake_one();
  if (before.joinable()) before.join();  // it has nothing left to do but this
  if (was_last) owner_.last_one_left();
}

bool crew::retire_one() noexcept {
  worker* oldest = nullptr;
  decision_reason why = decision_reason::keep_alive;
  {
    const std::lock_guard lock(idle_.lock());
    const unsigned left = threads();
    if (left > workers_.most()) why = decision_reason::outside_change;  // changes/look_again
    if (closed_ || left <= limits_.stay()) return false;
    // ports/lie_in. Whoever waits in the port stays, unless there must not be so many.
    oldest = idle_.take_oldest(left > workers_.most());
    if (oldest == nullptr) return false;
    threads_.store(left - 1, std::memory_order_relaxed);
    if (brought_ != 0) {
      // Only a submission that finds the queue full may bring this thread back: its room goes, too.
      --brought_;
      word_.take_room_along();
    }
    oldest->tell(worker::dismissed);
  }
  retirements_.fetch_add(1, std::memory_order_relaxed);
  owner_.thread_retired(why);
  return true;
}

int crew::count_brought_anew(const pool_options& options) noexcept {
  const unsigned there = threads();
  const bool bring = options.growth == growth_order::queue_first && there > options.min_threads;
  const unsigned before = std::exchange(brought_, bring ? there - options.min_threads : 0);
  return static_cast<int>(brought_) - static_cast<int>(before);
}

bool crew::close_door() noexcept { return !std::exchange(closed_, true); }

bool crew::open_door() noexcept { return std::exchange(closed_, false); }

bool crew::has_to_stay(worker& self) noexcept {
  // Whoever leaves does not look again (parking/look); what came meanwhile is the last one's.
  if (threads() == 1 && owner_.anything_queued()) {
    self.signal.store(worker::running, std::memory_order_relaxed);
    return true;
  }
  threads_.fetch_sub(1, std::memory_order_relaxed);
  const bool takes_room_along = brought_ != 0;  // a thread above the core
  if (takes_room_along) --brought_;
  word_.go(self.searching, takes_room_along);  // the rest is for whoever comes back
  return false;
}

void crew::join_all() {
  // One by one, and nothing is collected: the end must not ask for memory. Nobody starts any more,
  // and a worker that leaves meanwhile either finds its thread taken, or leaves it in last_left_ and
  // joins the one that was there: so after the last worker no further thread gets there.
  for (worker& each : workers_.all()) join_if_there(each.thread);
  join_if_there(last_left_);
}

void crew::join_if_there(std::thread& thread) {
  std::thread mine;
  {
    const std::lock_guard lock(idle_.lock());
    mine.swap(thread);
  }
  if (mine.joinable()) mine.join();
}

}  // namespace tandem::inline v0::detail
