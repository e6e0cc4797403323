// cpus.cpp: affinity masks and control groups on Linux.
// SPDX-License-Identifier: MIT
#include "platform/cpus.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include <tandem/config.hpp>

#include "platform/linux/control_group.hpp"

namespace tandem::inline v0::platform {

namespace {

/// Calls `use` with the affinity mask of that thread (0: this one) and its size in bytes, if the
/// kernel tells it.
template <class Use>
void with_mask(pid_t thread, Use use) {
  // The mask may be larger than a cpu_set_t: grow until the kernel accepts it.
  for (int count = CPU_SETSIZE; count <= (1 << 18); count *= 4) {
    cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(count));
    if (set == nullptr) return;
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> owner(
        set, [](cpu_set_t* mine) { CPU_FREE(mine); });
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(count));
    CPU_ZERO_S(bytes, set);
    if (sched_getaffinity(thread, bytes, set) != 0) continue;
    use(*set, bytes);
    return;
  }
}

/// Where the kernel says what the groups of this process are, and what they allow.
struct control_group_files {
  std::string groups = "/proc/self/cgroup";
  std::string mount = "/sys/fs/cgroup";
  const control_group_files* before = nullptr;  // what a test has set stays: threads may be at it
};
const control_group_files usual_files;
// Without a lock, which a child of fork() might find taken.
std::atomic<const control_group_files*> files{&usual_files};

}  // namespace

cpu_limits limits_of_cpus(whose_mask whose) noexcept {
  cpu_limits limits;
  const auto count = [&limits](cpu_set_t& set, std::size_t bytes) {
    limits.of_mask = static_cast<unsigned>(CPU_COUNT_S(bytes, &set));
  };
  if (whose == whose_mask::main_threads) with_mask(::getpid(), count);
  if (limits.of_mask == 0) with_mask(0, count);  // the main thread may have ended
  try {
    const control_group_files& from = *files.load(std::memory_order_acquire);
    limits.of_quota = cpus_of_control_groups(from.groups, from.mount);
  } catch (const std::exception&) {
    // No memory for a few strings: the mask alone has to do.
  }
  return limits;
}

unsigned present_cpus() noexcept {
  return static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
}

void read_control_groups_from(const std::string& groups, const std::string& mount) {
  files.store(new control_group_files{groups, mount, files.load(std::memory_order_relaxed)},
              std::memory_order_release);
}

std::vector<unsigned> allowed_cpus() {
  std::vector<unsigned> cpus;
  with_mask(0, [&](cpu_set_t& set, std::size_t bytes) {
    for (unsigned cpu = 0; cpu < bytes * CHAR_BIT; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, &set)) cpus.push_back(cpu);
    }
  });
  return cpus;
}

std::error_code place_this_thread(const std::vector<unsigned>& cpus) {
  TANDEM_ASSERT(!cpus.empty(), "a thread is placed on no CPU at all");
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
  return placed ? std::error_code() : std::error_code(error, std::system_category());
}

}  // namespace tandem::inline v0::platform
