// stall_watch.cpp: a look at each engine, once a period, as long as anything happens.
// SPDX-License-Identifier: MIT
#include "growth/stall_watch.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <tandem/detail/place_text.hpp>
#include <tandem/detail/pool_thread.hpp>
#include <tandem/detail/recording.hpp>
#include <utility>

#include "growth/growth_control.hpp"
#include "growth/line_limit.hpp"
#include "growth/thread_pulse.hpp"
#include "platform/os_thread.hpp"

namespace tandem::inline v0::io {

namespace {

using namespace std::chrono_literals;

constexpr auto rest_after = 1s;
constexpr auto blocked_for = 50ms;
constexpr std::chrono::nanoseconds longest_unattended = 5ms;  // ports/attend

double milliseconds(std::chrono::nanoseconds time) noexcept {
  return static_cast<double>(time.count()) * 1e-6;
}

/// It computes, or it blocks for so long. Not so if it gets no CPU: an overloaded machine would
/// have it said of everybody.
bool is_worth_a_line(const stall_report& report) noexcept {
  return report.cpu_time * 2 >= report.lasted ||
         (report.lasted >= blocked_for && platform::is_blocked(report.os_thread));
}

void print(const stall_report& report) {
  static line_limit lines;  // of the process
  if (!lines.is_due(std::chrono::steady_clock::now())) return;
  std::string by = "what it runs";
  if (report.spawned_at.line() != 0) {
    by = "the task ";
    if (report.task[0] != 0) by += std::string("\"") + report.task + "\" ";
    by += "spawned at " + tandem::detail::place_text(report.spawned_at);
  }
  std::fprintf(
      stderr,
      "tandem::io: completion thread %u (thread %d of the system) has not looked at its ring for "
      "%.0f ms (%.0f ms of CPU): its connections wait for %s. Move "
      "what computes to the workers (resume_on), what blocks to blocking().\n",
      report.thread, report.os_thread, milliseconds(report.lasted), milliseconds(report.cpu_time),
      by.c_str());
}

}  // namespace

stall_watch::stall_watch(runtime& owner, std::string name, std::chrono::nanoseconds threshold,
                         std::function<void(const stall_report&)> tell)
    : owner_(owner),
      name_(std::move(name)),
      threshold_(threshold),
      interval_(threshold),
      tell_(std::move(tell)) {}

stall_watch::~stall_watch() { stop(); }

void stall_watch::add(const thread_pulse& engine) {
  engines_.push_back(watched{&engine});
  untold_.reserve(engines_.size());
}

void stall_watch::serve(growth_control& control) noexcept {
  growth_ = &control;
  look_every(control.interval());
}

void stall_watch::serve(watched_port& port) noexcept {
  port_ = &port;
  look_every(longest_unattended);
}

void stall_watch::look_every(std::chrono::nanoseconds interval) noexcept {
  interval_ = interval_.count() > 0 ? std::min(interval_, interval) : interval;
}

void stall_watch::start() {
  thread_ = tandem::detail::start_pool_thread(name_.c_str(), [this] { run(); });
}

void stall_watch::stop() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard guard(lock_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void stall_watch::hurry() noexcept {
  // The first one wakes; the others are found with it. seq_cst: pairs with run().
  if (arrived_.fetch_add(1, std::memory_order_seq_cst) == 0) wake();
}

void stall_watch::wake() noexcept {
  {
    const std::lock_guard guard(lock_);
    rests_.store(false, std::memory_order_seq_cst);
  }
  changed_.notify_one();
}

void stall_watch::run() noexcept {
  std::unique_lock lock(lock_);
  clock::time_point quiet_since = clock::now();
  while (!stopping_) {
    changed_.wait_for(lock, interval_, [this] {
      return stopping_ || arrived_.load(std::memory_order_seq_cst) != 0;
    });
    const clock::time_point now = clock::now();
    growth_looks_ = growth_ != nullptr && growth_->is_due(now);
    const bool any = look(now);
    attend(lock);
    tell_all(lock);
    if (growth_ != nullptr) serve_arrivals(lock, now);
    if (growth_looks_) {
      lock.unlock();  // a thread may be started, and whoever wakes must not wait for that
      growth_->looked(now);
      lock.lock();
    }
    if (any) {
      quiet_since = now;
      continue;
    }
    if (now - quiet_since < rest_after) continue;
    growth_looks_ = false;
    rests_.store(true, std::memory_order_seq_cst);  // stalls/look: then the look
    const bool again = look(now);
    tell_all(lock);
    if (again) {
      rests_.store(false, std::memory_order_seq_cst);
    } else {
      rest(lock);
      rests_.store(false, std::memory_order_seq_cst);  // also where arrivals have ended it
    }
    quiet_since = clock::now();
  }
}

void stall_watch::serve_arrivals(std::unique_lock<std::mutex>& lock,
                                 clock::time_point now) noexcept {
  const unsigned arrived = arrived_.exchange(0, std::memory_order_seq_cst);
  if (arrived == 0) return;
  lock.unlock();  // threads are started
  const bool heard = growth_->serve_arrivals(arrived, now);
  lock.lock();
  if (heard) return;
  // Somebody resizes, which takes its time.
  arrived_.fetch_add(arrived, std::memory_order_seq_cst);
  changed_.wait_for(lock, interval_, [this] { return stopping_; });
}

void stall_watch::rest(std::unique_lock<std::mutex>& lock) noexcept {
  const auto is_over = [this] {
    return stopping_ || !rests_.load(std::memory_order_seq_cst) ||
           arrived_.load(std::memory_order_seq_cst) != 0;
  };
  if (growth_ == nullptr) return changed_.wait(lock, is_over);
  // growth/rest. After rests_: whoever changes the number from now on ends the rest.
  if (growth_->idles(clock::now())) {
    const clock::time_point until = growth_->next_retirement();
    if (until == clock::time_point::max()) return changed_.wait(lock, is_over);
    if (changed_.wait_until(lock, until, is_over)) return;
    (void)growth_->idles(clock::now());
  }
  rests_.store(false, std::memory_order_seq_cst);
}

bool stall_watch::look(clock::time_point now) noexcept {
  bool any = port_ != nullptr && port_->is_unattended();  // ports/rest
  for (watched& each : engines_) {
    const std::uint64_t segment = each.engine->segments();
    const bool runs = segment % 2 == 1;
    const bool idle = each.engine->idle();
    any = any || runs || segment != each.segment || !idle;
    if (segment != each.segment) {
      if (each.engine == driving_) relieve(false);
      each.segment = segment;
      each.since = now;
      each.counted = each.told = false;
      if (runs) each.cpu = each.engine->cpu_time();
    } else if (runs && !each.told && is_stalled(each, now)) {
      notice(each, now);
    }
    if (growth_looks_) show(each, !idle, now);
  }
  return any;
}

bool stall_watch::is_stalled(const watched& one, clock::time_point now) const noexcept {
  return threshold_.count() > 0 && now - one.since >= threshold_;
}

void stall_watch::show(const watched& one, bool busy, clock::time_point now) noexcept {
  growth_sight sight;
  sight.thread = one.engine->index();
  sight.busy = busy;
  sight.backlog = one.engine->backlog();
  sight.segments = one.segment / 2;
  if (one.segment % 2 == 1) sight.keeps = now - one.since;
  growth_->see(sight);
}

void stall_watch::notice(watched& of, clock::time_point now) noexcept {
  stall_report report;
  report.thread = of.engine->index();
  report.os_thread = of.engine->os_thread();
  report.lasted = now - of.since;
  report.cpu_time = of.engine->cpu_time() - of.cpu;
  report.spawned_at = of.engine->running_at();
  report.task = of.engine->running_name();
  report.waiting = of.engine->backlog();
  if (of.engine->segments() != of.segment) return;  // it has just gone on: whose place was that?
  if (of.engine == driving_) relieve(true);
  if (!std::exchange(of.counted, true)) stalls_.fetch_add(1, std::memory_order_relaxed);
  of.told = tell_ || is_worth_a_line(report);  // else a later look finds it blocked for longer
  if (of.told) untold_.push_back(report);      // there is a place for each engine
}

void stall_watch::attend(std::unique_lock<std::mutex>& lock) noexcept {
  if (port_ == nullptr || !port_->is_unattended()) return;
  lock.unlock();  // it posts, and whoever leaves a port asks whether we rest
  port_->attend();
  lock.lock();
}

void stall_watch::relieve(bool on) noexcept {
  if (std::exchange(is_relieved_, on) == on) return;
  timers_->set_driver(on ? nullptr : driver_);
}

void stall_watch::tell_all(std::unique_lock<std::mutex>& lock) noexcept {
  if (untold_.empty()) return;
  lock.unlock();                         // who is told may resize the pool, which wakes us
  tandem::detail::record_stall(owner_);  // first: who is told may take long
  for (const stall_report& each : untold_) tell(each);
  lock.lock();
  untold_.clear();
}

void stall_watch::tell(const stall_report& report) const noexcept {
  try {
    if (tell_) {
      tell_(report);
    } else {
      print(report);
    }
  } catch (...) {  // a hook that throws must not end the process for a hint
    std::fputs(tell_ ? "tandem::io: completion_options::on_stall has thrown\n"
                     : "tandem::io: a stall was not told: there is no memory for its text\n",
               stderr);
  }
}

}  // namespace tandem::inline v0::io
