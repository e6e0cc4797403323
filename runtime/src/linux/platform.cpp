// platform.cpp: futexes, CPU counts and threads on Linux.
// SPDX-License-Identifier: MIT
#include "../platform.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace tandem::inline v0::platform {

namespace {

std::uint32_t* address_of(std::atomic<std::uint32_t>& word) noexcept {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  return reinterpret_cast<std::uint32_t*>(&word);  // NOLINT
}

/// CPUs that "quota period" allows, rounded up; 0 if there is no limit.
unsigned cpus_of_quota(long long quota_us, long long period_us) noexcept {
  if (quota_us <= 0 || period_us <= 0) return 0;
  return static_cast<unsigned>(
      std::clamp<long long>((quota_us + period_us - 1) / period_us, 1, 4096));
}

unsigned smaller_limit(unsigned a, unsigned b) noexcept {
  if (a == 0) return b;
  if (b == 0) return a;
  return std::min(a, b);
}

unsigned quota_of_v2_group(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  std::string quota;
  long long period = 0;
  if (!(file >> quota >> period) || quota == "max") return 0;
  try {
    return cpus_of_quota(std::stoll(quota), period);
  } catch (const std::exception&) {
    return 0;
  }
}

unsigned quota_of_v1_group(const std::string& folder) {
  long long quota = 0;
  long long period = 0;
  std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
  std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  return cpus_of_quota(quota, period);
}

/// The tightest quota on the path from `path` up to the root of the hierarchy.
unsigned tightest(const std::string& mount, std::string path,
                  unsigned (*quota)(const std::string&)) {
  unsigned limit = quota(mount);
  while (path.size() > 1) {
    limit = smaller_limit(limit, quota(mount + path));
    path.resize(path.rfind('/'));
  }
  return limit;
}

unsigned quota_of_control_groups() {
  std::ifstream groups("/proc/self/cgroup");
  std::string line;
  unsigned limit = 0;
  while (std::getline(groups, line)) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      limit = smaller_limit(limit, tightest("/sys/fs/cgroup", path, quota_of_v2_group));
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      limit = smaller_limit(limit, tightest("/sys/fs/cgroup/cpu", path, quota_of_v1_group));
    }
  }
  return limit;
}

}  // namespace

bool wait_on(std::atomic<std::uint32_t>& word, std::uint32_t expected,
             std::int64_t deadline_ns) noexcept {
  timespec until{};
  timespec* limit = nullptr;
  if (deadline_ns != no_deadline) {
    const std::int64_t when = std::max<std::int64_t>(deadline_ns, 0);
    until.tv_sec = when / 1'000'000'000;
    until.tv_nsec = when % 1'000'000'000;
    limit = &until;
  }
  // FUTEX_WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC, which is the steady clock.
  const long answer = syscall(SYS_futex, address_of(word), FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG,
                              expected, limit, nullptr, FUTEX_BITSET_MATCH_ANY);
  return !(answer == -1 && errno == ETIMEDOUT);
}

#if defined(__SANITIZE_THREAD__)
#define TANDEM_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TANDEM_THREAD_SANITIZER 1
#endif
#endif

void wait_outside(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
#if defined(TANDEM_THREAD_SANITIZER)
  // ThreadSanitizer calls a signal's handler in calls that it intercepts, and a futex is none: a thread
  // that only ever waits for one would never see its signals.
  constexpr std::int64_t slice_ns = 20'000'000;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  wait_on(word, expected, std::chrono::nanoseconds(now).count() + slice_ns);
  usleep(1);
#else
  wait_on(word, expected);
#endif
}

void wake_one(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, address_of(word), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void wake_all(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, address_of(word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

unsigned usable_cpus() noexcept {
  unsigned cpus = 0;
  // The mask may be larger than a cpu_set_t: grow until the kernel accepts it.
  for (int count = CPU_SETSIZE; count <= (1 << 18) && cpus == 0; count *= 4) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(count));
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(count));
    CPU_ZERO_S(bytes, set);
    if (sched_getaffinity(0, bytes, set) == 0)
      cpus = static_cast<unsigned>(CPU_COUNT_S(bytes, set));
    CPU_FREE(set);
  }
  try {
    cpus = smaller_limit(cpus, quota_of_control_groups());
  } catch (const std::exception&) {
    // No memory for a few strings: the mask alone has to do.
  }
  return std::max(1U, cpus);
}

std::chrono::nanoseconds cpu_time_of_process() noexcept {
  timespec used{};
  (void)::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

std::thread start_thread(const char* name, std::function<void()> body) {
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  for (const int synchronous : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) {
    sigdelset(&blocked, synchronous);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  try {
    std::thread thread(std::move(body));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    // The kernel keeps 15 characters.
    pthread_setname_np(thread.native_handle(), std::string(name).substr(0, 15).c_str());
    return thread;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

int process_id() noexcept { return ::getpid(); }

void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  if (const int error = ::pthread_atfork(before, in_parent, in_child); error != 0) {
    throw std::system_error(error, std::system_category(), "tandem: pthread_atfork failed");
  }
}

void prefer_huge_pages(void* memory, std::size_t bytes) noexcept {
  madvise(memory, bytes, MADV_HUGEPAGE);  // refused where there are none: nothing is lost
}

void spin_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace tandem::inline v0::platform
