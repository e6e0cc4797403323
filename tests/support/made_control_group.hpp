// made_control_group.hpp: a quota of CPUs that a test sets and changes, and looks every millisecond.
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <tandem/detail/machine_watch.hpp>

#include "platform/cpus.hpp"
#include "support/temporary_folder.hpp"

namespace tandem::test {

/// Where there is one CPU a quota changes nothing.
inline bool has_several_cpus() {
  return platform::limits_of_cpus(platform::whose_mask::main_threads).of_mask > 1;
}

/// While it lives the process is in a control group of version 2 that does not exist.
class made_control_group {
 public:
  explicit made_control_group(const std::string& quota) {
    std::filesystem::create_directories(folder_ / "fs/service");
    std::ofstream(folder_ / "cgroup") << "0::/service\n";
    set(quota);
    platform::read_control_groups_from(folder_ / "cgroup", folder_ / "fs");
    detail::machine_look_ns = 1'000'000;
  }
  made_control_group(const made_control_group&) = delete;
  made_control_group& operator=(const made_control_group&) = delete;
  ~made_control_group() {
    detail::machine_look_ns = usual_;
    platform::read_control_groups_from("/proc/self/cgroup", "/sys/fs/cgroup");
  }

  /// As in cpu.max: "150000 100000". At once: nobody reads half of it.
  void set(const std::string& quota) {
    const auto file = folder_ / "fs/service/cpu.max";
    const auto fresh = folder_ / "cpu.max.fresh";
    std::ofstream(fresh) << quota << '\n';
    std::filesystem::rename(fresh, file);
  }

 private:
  const temporary_folder folder_;
  const std::int64_t usual_ = detail::machine_look_ns;
};

}  // namespace tandem::test
