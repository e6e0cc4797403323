// cpus.cpp: affinity masks and control groups on Linux.
// SPDX-License-Identifier: MIT
#include "platform/cpus.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include <tandem/config.hpp>

#include "platform/linux/control_group.hpp"

namespace tandem::inline v0::platform {

namespace {

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

/// Where the kernel says what the groups of this process are, and what they allow.
struct control_group_files {
  std::mutex lock;
  std::string groups = "/proc/self/cgroup";
  std::string mount = "/sys/fs/cgroup";
};
// Never destroyed: threads may ask while the process ends.
control_group_files& files() {
  static control_group_files& only = *new control_group_files;
  return only;
}

}  // namespace

cpu_limits limits_of_cpus() noexcept {
  cpu_limits limits;
  with_own_mask([&](cpu_set_t& set, std::size_t bytes) {
    limits.of_mask = static_cast<unsigned>(CPU_COUNT_S(bytes, &set));
  });
  try {
    const std::lock_guard lock(files().lock);
    limits.of_quota = cpus_of_control_groups(files().groups, files().mount);
  } catch (const std::exception&) {
    // No memory for a few strings: the mask alone has to do.
  }
  return limits;
}

unsigned present_cpus() noexcept {
  return static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
}

void read_control_groups_from(const std::string& groups, const std::string& mount) {
  const std::lock_guard lock(files().lock);
  files().groups = groups;
  files().mount = mount;
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
