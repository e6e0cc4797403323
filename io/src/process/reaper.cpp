// reaper.cpp: one thread for all abandoned children, which is there while there are some.
// SPDX-License-Identifier: MIT
#include "process/reaper.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <tandem/detail/pool_thread.hpp>
#include <utility>
#include <vector>

#include "platform/descriptor.hpp"

namespace tandem::inline v0::io {

namespace {

using detail::child_process;
using clock = std::chrono::steady_clock;

/// Is never destroyed: its thread may outlive main().
class reaper {
 public:
  static reaper& only() noexcept {
    static reaper* const made = new (std::nothrow) reaper;  // NOLINT: see above
    if (made != nullptr) return *made;
    static reaper without_memory;
    return without_memory;
  }

  void add(child_process& child) noexcept;
  void sweep() noexcept;

 private:
  reaper() noexcept {
    static_cast<void>(platform::at_fork([] { only().alone_.lock(); },
                                        [] { only().alone_.unlock(); },
                                        [] { only().begin_in_child_of_fork(); }));
  }
  /// processes/fork. pre: alone_ is held. Its thread, and the children, are the parent's.
  void begin_in_child_of_fork() noexcept;
  /// pre: alone_ is held. @returns whether it has a thread
  bool start() noexcept;
  void run() noexcept;
  /// pre: alone_ is held. Kills what is due, frees what has ended.
  void look(clock::time_point now) noexcept;
  /// pre: alone_ is held. @returns until the next kill is due; negative: none is
  std::chrono::milliseconds list_ends(std::vector<native_descriptor>& out,
                                      clock::time_point now) const noexcept;

  std::mutex alone_;
  child_process* first_ = nullptr;  // guarded by alone_
  bool runs_ = false;               // likewise
  platform::wake_pair wake_;        // likewise; once there, constant
};

void reaper::add(child_process& child) noexcept {
  const process_end how = child.on_scope_end();
  if (how.how() == process_end::kind::kill) child.send(platform::ending::kill);
  if (how.how() == process_end::kind::terminate) {
    child.send(platform::ending::terminate);
    child.kill_at = clock::now() + how.patience();
  }
  const std::lock_guard lock(alone_);
  child.next = std::exchange(first_, &child);
  if (!start() && child.kill_at) {  // nobody could do it later
    child.send(platform::ending::kill);
    child.kill_at.reset();
  }
  if (detail::is_descriptor(wake_.set)) platform::set_wake(wake_);
}

bool reaper::start() noexcept {
  if (runs_) return true;
  if (!detail::is_descriptor(wake_.seen)) {
    const auto made = platform::make_wake();
    if (!made) return false;
    wake_ = made.value();
  }
  try {
    tandem::detail::start_pool_thread("tandem-reaper", [this] { run(); }).detach();
    runs_ = true;
  } catch (...) {
    return false;
  }
  return true;
}

void reaper::begin_in_child_of_fork() noexcept {
  first_ = nullptr;
  runs_ = false;
  // Of the pipe the child has descriptors of its own.
  for (const native_descriptor each : {wake_.seen, wake_.set}) {
    if (detail::is_descriptor(each)) platform::close(each);
  }
  wake_ = platform::wake_pair();
  alone_.unlock();
}

void reaper::sweep() noexcept {
  const std::lock_guard lock(alone_);
  if (first_ == nullptr || start()) return;
  look(clock::now());
}

void reaper::look(clock::time_point now) noexcept {
  child_process** at = &first_;
  while (*at != nullptr) {
    child_process& child = **at;
    if (child.kill_at && *child.kill_at <= now) {
      child.send(platform::ending::kill);
      child.kill_at.reset();
    }
    const auto taken = child.take(child.on_scope_end().how() != process_end::kind::leave);
    if (taken || taken.error() != std::errc::resource_unavailable_try_again) {
      *at = child.next;
      const std::unique_ptr<child_process> done(&child);
    } else {
      at = &child.next;
    }
  }
}

std::chrono::milliseconds reaper::list_ends(std::vector<native_descriptor>& out,
                                            clock::time_point now) const noexcept {
  std::chrono::milliseconds limit{-1};
  out.clear();
  try {
    out.push_back(wake_.seen);
    for (const child_process* each = first_; each != nullptr; each = each->next) {
      out.push_back(each->end_event());
      if (!each->kill_at) continue;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*each->kill_at - now);
      const auto wait = std::max(left, std::chrono::milliseconds(0));
      if (limit.count() < 0 || wait < limit) limit = wait;
    }
  } catch (...) {  // no memory for all of them: it looks again soon
    limit = std::chrono::milliseconds(100);
  }
  return limit;
}

void reaper::run() noexcept {
  std::vector<native_descriptor> ends;
  while (true) {
    std::chrono::milliseconds limit{-1};
    {
      const std::lock_guard lock(alone_);
      platform::clear_wake(wake_);
      look(clock::now());
      if (first_ == nullptr) {
        runs_ = false;  // whoever comes now starts another thread
        return;
      }
      limit = list_ends(ends, clock::now());
    }
    platform::wait_for_any(ends, limit);
  }
}

}  // namespace

void abandon(detail::child_process& child) noexcept { reaper::only().add(child); }

void sweep_abandoned() noexcept { reaper::only().sweep(); }

}  // namespace tandem::inline v0::io
