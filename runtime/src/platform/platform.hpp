// platform.hpp: THE contract between the runtime and the operating system. One folder per platform.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace tandem::inline v0::platform {

/// No deadline: wait for ever.
inline constexpr std::int64_t no_deadline = INT64_MAX;

/// Blocks while `word == expected`, until woken or until the steady clock reaches `deadline_ns`.
/// Returns early at will. @returns false if the deadline has passed.
bool wait_on(std::atomic<std::uint32_t>& word, std::uint32_t expected,
             std::int64_t deadline_ns = no_deadline) noexcept;
/// wait_on() for a thread outside the runtime, at which signals of the process arrive.
void wait_outside(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
/// Wakes at most one thread in wait_on(word). The word's owner may be gone already.
void wake_one(std::atomic<std::uint32_t>& word) noexcept;
void wake_all(std::atomic<std::uint32_t>& word) noexcept;

/// What all threads of the process have used.
std::chrono::nanoseconds cpu_time_of_process() noexcept;

/// Whether ticks() is a clock: the same on all CPUs, at one pace, going on while CPUs sleep.
bool has_ticks() noexcept;
/// A counter of unknown pace, cheaper to read than the steady clock. Only where has_ticks().
std::uint64_t ticks() noexcept;

/// CPUs of the affinity mask, limited by the quota of the control group; at least 1.
unsigned usable_cpus() noexcept;

/// The numbers of the CPUs in the calling thread's affinity mask, rising; none if the system does
/// not tell.
/// @throws  std::bad_alloc
std::vector<unsigned> allowed_cpus();
/// The calling thread runs on these from now on. @throws std::system_error, std::bad_alloc
void place_this_thread(const std::vector<unsigned>& cpus);
/// What debuggers and `top` show; the kernel keeps 15 characters.
void name_this_thread(const char* name) noexcept;

/// While it lives asynchronous signals and SIGPIPE are blocked in its thread, and in those that it
/// starts.
class blocked_signals {
 public:
  /// @throws  std::bad_alloc
  blocked_signals();
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;
  ~blocked_signals();

 private:
  struct masks;
  std::unique_ptr<masks> masks_;
};

using thread_exit_function = void (*)() noexcept;
/// Whose function: one each for a thread.
enum class exit_step : std::uint8_t { frames, notes };
/// Has `run` called when the calling thread ends, after its thread_locals were destroyed; what is
/// trivial of them is still there. Not for the thread of main(). In no order. A thread_local with a
/// destructor would end the process if there were no memory to register it.
///
/// @returns  false if that is refused
bool at_thread_exit(exit_step step, thread_exit_function run) noexcept;

/// Starts a thread in which asynchronous signals and SIGPIPE are blocked from birth.
/// @throws  std::system_error, std::bad_alloc
std::thread start_thread(const char* name, std::function<void()> body);

/// A descriptor for foreign event loops: readable after notify(), or once a deadline has passed.
class pollable {
 public:
  /// @throws  std::system_error
  pollable();
  pollable(const pollable&) = delete;
  pollable& operator=(const pollable&) = delete;
  ~pollable();

  int descriptor() const noexcept { return set_; }
  /// Any thread.
  void notify() noexcept;
  /// Not readable any more but for later calls of notify(); no deadline.
  void clear() noexcept;
  /// By the steady clock; no_deadline: none.
  void set_deadline(std::int64_t deadline_ns) noexcept;

 private:
  void close() noexcept;

  int set_ = -1;
  int event_ = -1;
  int timer_ = -1;
  std::atomic<bool> notified_{false};
};

int process_id() noexcept;
/// Has the three called around every fork(): in the forking thread before it, then in the parent
/// and in the child. Never undone. @throws std::system_error
void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

/// Memory of the system's own, all zero, aligned to its size: a power of two and of pages. Null if
/// there is none.
void* map_memory(std::size_t bytes) noexcept;
/// All that map_memory() has given.
void unmap_memory(void* memory, std::size_t bytes) noexcept;
/// The whole pages of [from, to), which map_memory() has given, go back to the system; what is
/// written there afterwards gets fresh ones.
void release_pages(void* from, void* to) noexcept;
/// A hint: much of this memory, aligned to 2 MiB, will be used.
void prefer_huge_pages(void* memory, std::size_t bytes) noexcept;

/// A short pause inside a spin loop.
void spin_pause() noexcept;

}  // namespace tandem::inline v0::platform
