// system.hpp: what tests ask of the operating system, in one place for each: linux/ and windows/.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <system_error>
#include <vector>

#include <tandem/detail/platform/pollable_handle.hpp>

namespace tandem::test {

/// Of the environment, also as the children of this process will see it.
void set_variable(const char* name, const char* value);
void unset_variable(const char* name);

int process_id();
/// Whether a thread begins and ends in microseconds.
bool cheap_threads();
/// As the system keeps it: on Linux its first 15 characters.
std::string name_of_this_thread();

/// Where no signal arrives at a thread there is nothing to block.
bool has_signals();
/// Whether SIGTERM and SIGPIPE go by this thread.
bool blocks_signals();
/// Starts a thread that no signal reaches; it is detached.
void start_quiet_thread(void (*run)());
/// Ctrl-C of a console: a signal_set yields SIGINT. pre: somebody catches it
void interrupt_this_process();
/// Never returns.
[[noreturn]] void wait_forever();
/// Every thread's stack on stderr, if a debugger is there to tell.
void print_stacks();

std::vector<unsigned> cpus_of_this_thread();
/// From now on this thread runs on these CPUs only: on Windows all of the process, whose mask
/// stands for its main thread's. @returns whether the system has done so
bool run_on_cpus(const std::vector<unsigned>& cpus);

/// What the system answers where an operation was cancelled.
std::error_code cancelled_by_system();

/// As much of the process as is in memory.
std::size_t resident_bytes();

/// What has been allocated, and not given back.
std::size_t allocated_bytes();

/// What a process holds.
struct holdings {
  std::size_t threads;
  std::size_t handles;  // descriptors of files
  std::size_t bytes;    // from malloc
};
/// Waits until no more than `threads` are left: one that was joined may be seen for a moment.
holdings holdings_of_process(std::size_t threads);
/// Whether what holdings_of_process() says of bytes is exact here; a process that this one starts
/// for the laws of `filter` has it so. @returns its exit status, or -1: this one has it so
int run_with_exact_bytes(const std::string& filter);

/// While it lives the threads that start get 256 KiB of stack. On Windows all threads of an
/// executable have what its linker was told: see small_stack_test() in runtime/CMakeLists.txt.
class small_stacks {
 public:
  small_stacks();
  ~small_stacks();
  small_stacks(const small_stacks&) = delete;
  small_stacks& operator=(const small_stacks&) = delete;

 private:
  void* before_ = nullptr;
};

/// Whether the handle says that there is something to do, now or before `limit_ms` are over; -1: no
/// limit.
bool is_ready(pollable_handle watched, int limit_ms);

}  // namespace tandem::test
