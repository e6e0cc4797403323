// fork_guard.cpp: keeps a child of fork() away from the runtimes of its parent.
// SPDX-License-Identifier: MIT
//
// The child has one thread, and copies of everything else as it was: locks held by threads that are
// not there, queues, rings shared with the parent. So nothing of an old runtime is touched. What
// new runtimes share with old ones, the registry below and the central store of frames, is locked
// across the fork, and so is consistent in the child.
#include "process/fork_guard.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>

#include <tandem/detail/listed_thread.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/errors.hpp>
#include <tandem/executor.hpp>

#include "frames/frame_store.hpp"
#include "platform/process.hpp"
#include "process/debug_root.hpp"
#include "recorder/trace_ring.hpp"

namespace tandem::inline v0::detail {

namespace {

struct entry {
  int process;       // that made it
  std::string name;  // no two that live in a process have the same
  // It may be called when the runtime is gone, by a thread that cannot ask for memory.
  std::shared_ptr<const runtime_options::exception_handler> unhandled;
};

struct registry {
  std::mutex lock;
  // Under the lock.
  std::map<const tandem::runtime*, entry> living;
  std::map<const tandem::runtime*, entry> forked;
};

// Never destroyed: runtimes may be static objects, which end after the ones of this file. In place:
// whoever asks first may be a destructor.
registry& runtimes() noexcept {
  alignas(registry) static std::array<std::byte, sizeof(registry)> room;
  static registry& only = *::new (room.data()) registry;
  return only;
}

// Set in a child before it has a second thread, which is why relaxed is enough.
constinit std::atomic<bool> is_child{false};
// 0, or the parent of a child whose only thread called fork() inside a task.
constinit thread_local int forked_in_task = 0;

void before_fork() {
  runtimes().lock.lock();
  lock_frame_store();
  listed_thread::lock();
  trace_rings::lock();
}

void after_fork_in_parent() {
  trace_rings::unlock();
  listed_thread::unlock();
  unlock_frame_store();
  runtimes().lock.unlock();
}

void after_fork_in_child() {
  registry& all = runtimes();
  thread_context& context = this_thread();
  if (context.env != nullptr && context.env->runtime() != nullptr) {
    const auto owner = all.living.find(context.env->runtime());
    if (owner != all.living.end()) forked_in_task = owner->second.process;
  }
  if (!all.living.empty()) is_child.store(true, std::memory_order_relaxed);
  all.forked.merge(all.living);
  all.living.clear();
  // The thread belongs to no pool here, whatever it was in the parent.
  context.env = nullptr;
  context.lane = nullptr;
  context.lane_home = nullptr;
  context.current_worker = nullptr;
  context.current_executor = nullptr;
  context.layer = nullptr;
  context.observed = nullptr;
  context.ring = nullptr;
  context.role = nullptr;
  context.fires_timers = false;
  trace_rings::unlock();
  listed_thread::forget_all();
  listed_thread::unlock();
  unlock_frame_store();
  all.lock.unlock();
}

/// @returns  the process that owns it, 0 if that is this one
int foreign_owner(const tandem::runtime& owner) noexcept {
  if (!is_child.load(std::memory_order_relaxed)) [[likely]]
    return 0;
  registry& all = runtimes();
  const std::lock_guard lock(all.lock);
  const auto found = all.forked.find(&owner);
  return found != all.forked.end() ? found->second.process : 0;
}

/// Under the lock.
std::string free_name(const registry& all, const std::string& wanted) {
  std::string name = wanted;
  const auto has_it = [&](const auto& each) { return each.second.name == name; };
  for (unsigned number = 2; std::any_of(all.living.begin(), all.living.end(), has_it); ++number) {
    name = wanted + "#" + std::to_string(number);
  }
  return name;
}

}  // namespace

std::string runtime_begins(const tandem::runtime& fresh) {
  static const bool told = [] {
    platform::at_fork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
    return true;
  }();
  (void)told;
  registry& all = runtimes();
  const std::lock_guard lock(all.lock);
  for_debuggers.living = &all.living;
  for_debuggers.a_context = &this_thread();
  const std::thread::id self = std::this_thread::get_id();
  std::memcpy(for_debuggers.a_thread.data(), &self, sizeof(self));
  std::string name = free_name(all, fresh.options().name);
  all.living.emplace(&fresh, entry{platform::process_id(), name,
                                   std::make_shared<const runtime_options::exception_handler>(
                                       fresh.options().on_unhandled_exception)});
  all.forked.erase(&fresh);  // an old one stood at this address
  return name;
}

void runtime_ends(const tandem::runtime& ended) noexcept {
  registry& all = runtimes();
  const std::lock_guard lock(all.lock);
  all.living.erase(&ended);
}

bool is_forked(const tandem::runtime& owner) noexcept { return foreign_owner(owner) != 0; }

void keep_forked(left_to_parent& left) noexcept {
  static constinit std::atomic<left_to_parent*> newest{nullptr};
  // Relaxed: nobody walks along it.
  left.next_kept_ = newest.exchange(&left, std::memory_order_relaxed);
}

void refuse_if_forked(const tandem::runtime& owner, const char* what) {
  if (const int process = foreign_owner(owner); process != 0) throw forked_runtime(what, process);
}

void refuse_if_forked(const executor& place, const char* what) {
  if (const tandem::runtime* const owner = place.owner()) refuse_if_forked(*owner, what);
}

void refuse_in_forked_task(const char* what) {
  if (forked_in_task != 0) throw forked_runtime(what, forked_in_task);
}

void throw_refused(const tandem::runtime& owner, const char* what) {
  refuse_if_forked(owner, what);
  throw runtime_stopped(what);
}

std::shared_ptr<const runtime_options::exception_handler> unhandled_handler_of(
    const tandem::runtime& owner) noexcept {
  registry& all = runtimes();
  const std::lock_guard lock(all.lock);
  const auto found = all.living.find(&owner);
  return found != all.living.end() ? found->second.unhandled : nullptr;
}

void end_forked_child() noexcept {
  std::fprintf(stderr,
               "tandem: a task called fork(), and returned in the child (process %d) into the "
               "runtime of its parent, whose threads do not exist here.\n"
               "  In the child call exec or _exit, or do the work with a new runtime and _exit.\n",
               platform::process_id());
  std::abort();
}

}  // namespace tandem::inline v0::detail
