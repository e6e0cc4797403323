// platform.cpp: futexes, CPU counts and threads on Linux.
// SPDX-License-Identifier: MIT
#include "platform/platform.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <system_error>

#include "platform/linux/control_group.hpp"

namespace tandem::inline v0::platform {

namespace {

std::uint32_t* address_of(std::atomic<std::uint32_t>& word) noexcept {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  return reinterpret_cast<std::uint32_t*>(&word);  // NOLINT
}

/// Calls `use` with the affinity mask of this thread and its size in bytes, if the kernel tells it.
template <class Use>
void with_own_mask(Use use) {
  // The mask may be larger than a cpu_set_t: grow until the kernel accepts it.
  for (int count = CPU_SETSIZE; count <= (1 << 18); count *= 4) {
    cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(count));
    if (set == nullptr) return;
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> owner(
        set, [](cpu_set_t* mine) { CPU_FREE(mine); });
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(count));
    CPU_ZERO_S(bytes, set);
    if (sched_getaffinity(0, bytes, set) != 0) continue;
    use(*set, bytes);
    return;
  }
}

/// The kernel keeps 15 characters.
void set_name(pthread_t thread, const char* name) noexcept {
  char kept[16] = {};
  std::strncpy(kept, name, sizeof kept - 1);
  pthread_setname_np(thread, kept);
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
  // ThreadSanitizer calls a signal's handler in calls that it intercepts, and a futex is none: a
  // thread that only ever waits for one would never see its signals.
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
  with_own_mask([&](cpu_set_t& set, std::size_t bytes) {
    cpus = static_cast<unsigned>(CPU_COUNT_S(bytes, &set));
  });
  try {
    const unsigned quota = cpus_of_control_groups("/proc/self/cgroup", "/sys/fs/cgroup");
    if (quota != 0) cpus = std::min(std::max(1U, cpus), quota);
  } catch (const std::exception&) {
    // No memory for a few strings: the mask alone has to do.
  }
  return std::max(1U, cpus);
}

std::vector<unsigned> allowed_cpus() {
  std::vector<unsigned> cpus;
  with_own_mask([&](cpu_set_t& set, std::size_t bytes) {
    for (unsigned cpu = 0; cpu < bytes * CHAR_BIT; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, &set)) cpus.push_back(cpu);
    }
  });
  return cpus;
}

void place_this_thread(const std::vector<unsigned>& cpus) {
  const unsigned last = *std::max_element(cpus.begin(), cpus.end());
  const std::size_t count = std::max<std::size_t>(CPU_SETSIZE, last + 1U);
  cpu_set_t* const set = CPU_ALLOC(count);
  if (set == nullptr) throw std::bad_alloc();
  const std::size_t bytes = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(bytes, set);
  for (const unsigned cpu : cpus) CPU_SET_S(cpu, bytes, set);
  const bool placed = sched_setaffinity(0, bytes, set) == 0;
  const int error = errno;
  CPU_FREE(set);
  if (!placed) {
    throw std::system_error(error, std::system_category(),
                            "tandem: a worker could not be placed on the CPUs of "
                            "runtime_options::threads.cpus, and runs elsewhere");
  }
}

std::chrono::nanoseconds cpu_time_of_process() noexcept {
  timespec used{};
  (void)::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

struct blocked_signals::masks {
  sigset_t before;
};

blocked_signals::blocked_signals() : masks_(std::make_unique<masks>()) {
  sigset_t blocked;
  sigfillset(&blocked);
  for (const int synchronous : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) {
    sigdelset(&blocked, synchronous);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, &masks_->before);
}

blocked_signals::~blocked_signals() { pthread_sigmask(SIG_SETMASK, &masks_->before, nullptr); }

std::thread start_thread(const char* name, std::function<void()> body) {
  const blocked_signals until_it_runs;
  std::thread thread(std::move(body));
  set_name(thread.native_handle(), name);  // nothing may fail any more: it runs
  return thread;
}

void name_this_thread(const char* name) noexcept { set_name(pthread_self(), name); }

bool at_thread_exit(exit_step step, thread_exit_function run) noexcept {
  struct exit_key {
    pthread_key_t key = 0;
    const bool made = ::pthread_key_create(&key, [](void* function) {
                        reinterpret_cast<thread_exit_function>(function)();  // NOLINT
                      }) == 0;
  };
  static const std::array<exit_key, 2> keys{};
  const exit_key& own = keys[static_cast<std::size_t>(step)];
  return own.made && ::pthread_setspecific(own.key, reinterpret_cast<void*>(run)) == 0;  // NOLINT
}

int process_id() noexcept { return ::getpid(); }

void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  if (const int error = ::pthread_atfork(before, in_parent, in_child); error != 0) {
    throw std::system_error(error, std::system_category(), "tandem: pthread_atfork failed");
  }
}

void spin_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace tandem::inline v0::platform
