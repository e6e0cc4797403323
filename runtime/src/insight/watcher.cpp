// watcher.cpp: the thread that looks by itself. Protocol deadlocks: README.md beside this.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstdio>

#include <tandem/blocking.hpp>

#include "insight/advice.hpp"
#include "insight/insight.hpp"
#include "insight/signal_dumps.hpp"
#include "platform/threads.hpp"
#include "process/suppressed.hpp"
#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0::detail {

namespace {
constexpr std::size_t most_remembered = 1000;
// A wait until a time that the clock cannot tell would end at once.
constexpr std::chrono::milliseconds longest_wait = std::chrono::hours(24 * 365);
}  // namespace

insight::~insight() { end(); }

void insight::end() noexcept {
  no_dump_on_signal(*this);
  std::thread ended;
  {
    const std::lock_guard hold(watch_lock_);
    ends_ = true;
    ended = std::move(watcher_);
  }
  watch_changed_.notify_all();
  if (ended.joinable()) ended.join();
}

void insight::workers_are_idle() noexcept {
  const runtime_options& options = owner_.options();
  if (options.deadlock_after <= std::chrono::milliseconds::zero() || options.clock) return;
  if (!may_stand_still()) return;
  {
    const std::lock_guard hold(watch_lock_);
    if (ends_) return;
    is_asked_ = true;
  }
  start_watcher();
  watch_changed_.notify_all();
}

bool insight::may_stand_still() const noexcept {
  // deadlocks/suspect
  runtime::impl& of = owner_.implementation();
  if (of.live() == 0 || timers_of_tasks() != 0) return false;
  if (const blocking_pool* const calls = owner_.find_service<blocking_pool>()) {
    const blocking_stats now = calls->stats();
    if (now.threads != now.idle) return false;
  }
  // A plain job of a worker is no task, and may be about to wake one.
  if (of.pool.implementation().word.busy() != 0) return false;
  return !of.services.awaits_anything();
}

void insight::start_watcher() noexcept {
  const std::lock_guard hold(watch_lock_);
  if (ends_ || watcher_.joinable()) return;
  try {
    watcher_ = platform::start_thread("tandem-insight", [this] { watch(); });
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "tandem: deadlocks are not looked for: no thread (%s)\n", failure.what());
  }
}

void insight::watch() {
  const std::chrono::milliseconds every = std::min(owner_.options().look_every, longest_wait);
  std::unique_lock hold(watch_lock_);
  while (!ends_) {
    if (is_asked_) {
      is_asked_ = false;
      hold.unlock();
      look_for_deadlocks(true);
      hold.lock();
    } else if (every > std::chrono::milliseconds::zero()) {
      const bool told = watch_changed_.wait_for(hold, every, [this] { return ends_ || is_asked_; });
      if (told) continue;
      hold.unlock();
      look_for_deadlocks(false);
      hold.lock();
    } else {
      watch_changed_.wait(hold, [this] { return ends_ || is_asked_; });
    }
  }
}

void insight::look_for_deadlocks(bool only_standstill) {
  try {
    std::vector<deadlock_report> found;
    {
      const std::lock_guard lock(lock_);
      const snapshot first = look(frames_of_advice, true);
      if (!only_standstill) {
        found = deadlocks_of(first, names_);  // by the looks before
        names_.rest();
        std::erase_if(found, [](const deadlock_report& each) {
          return each.kind == deadlock_kind::standstill;
        });
      } else if (!stands_still(first)) {
        return;
      }
    }
    if (only_standstill) {
      // deadlocks/confirm
      {
        std::unique_lock hold(watch_lock_);
        if (watch_changed_.wait_for(hold, std::min(owner_.options().deadlock_after, longest_wait),
                                    [this] { return ends_; })) {
          return;
        }
      }
      const std::lock_guard lock(lock_);
      const snapshot second = look(frames_of_advice, true);
      if (!stands_still(second) || second.known_waits != second.waits) return;
      found = deadlocks_of(second, names_);
      names_.rest();
    }
    for (const deadlock_report& each : found) {
      {  // deadlocks/tell
        const std::lock_guard lock(lock_);
        if (told_.size() > most_remembered) told_.clear();
        if (!told_.insert(each.tasks).second) continue;
      }
      tell(each);
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "tandem: deadlocks were not looked for: %s\n", failure.what());
  }
}

void insight::tell(const deadlock_report& report) {
  const runtime_options& options = owner_.options();
  if (options.log_deadlock) {
    const std::string text =
        "tandem: runtime \"" + owner_.implementation().series + "\": " + report.text;
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
  }
  if (!options.on_deadlock) return;
  try {
    options.on_deadlock(report);
  } catch (...) {
    suppressed(options, std::current_exception());
  }
}

}  // namespace tandem::inline v0::detail
