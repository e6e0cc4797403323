// system.cpp: what tests ask of Linux.
// SPDX-License-Identifier: MIT
#include "system.hpp"

#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "sanitized.hpp"

namespace tandem::test {

void set_variable(const char* name, const char* value) { ::setenv(name, value, 1); }
void unset_variable(const char* name) { ::unsetenv(name); }

int process_id() { return ::getpid(); }

bool cheap_threads() { return true; }

std::string name_of_this_thread() {
  char name[16] = {};
  ::pthread_getname_np(::pthread_self(), name, sizeof name);
  return name;
}

bool has_signals() { return true; }

bool blocks_signals() {
  sigset_t blocked;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return ::sigismember(&blocked, SIGPIPE) == 1 && ::sigismember(&blocked, SIGTERM) == 1;
}

void start_quiet_thread(void (*run)()) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(run).detach();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void wait_forever() {
  for (;;) ::pause();
}

void interrupt_this_process() { ::kill(::getpid(), SIGINT); }

// Bounded: gdb itself may hang on a broken process.
void print_stacks() {
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  const std::string command =
      "command -v gdb >/dev/null && timeout -k 5 40 gdb -p " + std::to_string(::getpid()) +
      " -batch -nx -ex 'set pagination off' -ex 'thread apply all bt 30' 1>&2 2>/dev/null";
  if (std::system(command.c_str()) != 0) {
    std::fputs("watchdog: no stacks (gdb is not installed or could not attach)\n", stderr);
  }
}

std::vector<unsigned> cpus_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  std::vector<unsigned> cpus;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

bool run_on_cpus(const std::vector<unsigned>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const unsigned cpu : cpus) CPU_SET(cpu, &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

std::error_code cancelled_by_system() { return {ECANCELED, std::system_category()}; }

std::size_t resident_bytes() {
  std::size_t all = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

namespace {

std::size_t entries(const char* folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

}  // namespace

std::size_t allocated_bytes() {
  const struct mallinfo2 now = ::mallinfo2();
  return now.uordblks + now.hblkhd;
}

holdings holdings_of_process(std::size_t threads) {
  for (int i = 0; i < 1000 && entries("/proc/self/task") > threads; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {entries("/proc/self/task"), entries("/proc/self/fd"), ::mallinfo2().uordblks};
}

// malloc's per-thread cache counts as used bytes, and what is in it is chance: without it the
// numbers are exact. It can only be switched off before main. Under a sanitizer its allocator is
// not mallinfo2's anyway.
int run_with_exact_bytes(const std::string& filter) {
  if (sanitized || std::getenv("GLIBC_TUNABLES") != nullptr) return -1;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      "GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1 '" + self +
      "' --gtest_filter=" + filter;
  return std::system(command.c_str());
}

small_stacks::small_stacks() {
  auto* const before = new pthread_attr_t;
  before_ = before;
  ::pthread_getattr_default_np(before);
  pthread_attr_t small;
  ::pthread_attr_init(&small);
  ::pthread_attr_setstacksize(&small, std::size_t{256} * 1024);
  if (::pthread_setattr_default_np(&small) != 0) std::abort();
  ::pthread_attr_destroy(&small);
}

small_stacks::~small_stacks() {
  auto* const before = static_cast<pthread_attr_t*>(before_);
  ::pthread_setattr_default_np(before);
  delete before;
}

bool is_ready(pollable_handle watched, int limit_ms) {
  pollfd one{watched, POLLIN, 0};
  return ::poll(&one, 1, limit_ms) == 1;
}

}  // namespace tandem::test
