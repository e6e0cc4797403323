// control_group_test.cpp: the quota of CPUs that Linux gives a process, from the kernel's files.
// SPDX-License-Identifier: MIT
#include "platform/linux/control_group.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/temporary_folder.hpp"

namespace {

/// Files as the kernel shows them.
class control_groups : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = folder_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  unsigned cpus() {
    return tandem::platform::cpus_of_control_groups(folder_ / "cgroup", folder_ / "fs");
  }

 private:
  const tandem::test::temporary_folder folder_;
};

TEST_F(control_groups, version_2_is_read_and_whole_cpus_count) {
  write("cgroup", "0::/service/one\n");
  write("fs/service/one/cpu.max", "150000 100000\n");
  EXPECT_EQ(cpus(), 1U);
  write("fs/service/one/cpu.max", "200000 100000\n");
  EXPECT_EQ(cpus(), 2U);
  write("fs/service/one/cpu.max", "1000 100000\n");
  EXPECT_EQ(cpus(), 1U);
}

TEST_F(control_groups, the_tightest_quota_on_the_way_to_the_root_counts) {
  write("cgroup", "0::/service/one\n");
  write("fs/service/one/cpu.max", "800000 100000\n");
  write("fs/service/cpu.max", "300000 100000\n");
  EXPECT_EQ(cpus(), 3U);
  write("fs/cpu.max", "100000 50000\n");
  EXPECT_EQ(cpus(), 2U);
}

TEST_F(control_groups, version_1_is_read_for_the_controller_cpu_alone) {
  write("cgroup", "5:memory:/other\n3:cpu,cpuacct:/service\n2:cpuset:/set\n");
  write("fs/cpu/service/cpu.cfs_quota_us", "250000\n");
  write("fs/cpu/service/cpu.cfs_period_us", "100000\n");
  write("fs/cpu/other/cpu.cfs_quota_us", "100000\n");
  write("fs/cpu/other/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpus(), 2U);
}

TEST_F(control_groups, both_versions_at_once_give_the_tighter_one) {
  write("cgroup", "1:cpu:/a\n0::/b\n");
  write("fs/cpu/a/cpu.cfs_quota_us", "400000\n");
  write("fs/cpu/a/cpu.cfs_period_us", "100000\n");
  write("fs/b/cpu.max", "200000 100000\n");
  EXPECT_EQ(cpus(), 2U);
}

TEST_F(control_groups, no_limit_and_no_file_are_no_limit) {
  EXPECT_EQ(cpus(), 0U);
  write("cgroup", "0::/service\n1:cpu:/service\n");
  EXPECT_EQ(cpus(), 0U);
  write("fs/service/cpu.max", "max 100000\n");
  write("fs/cpu/service/cpu.cfs_quota_us", "-1\n");
  write("fs/cpu/service/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpus(), 0U);
}

TEST_F(control_groups, what_cannot_be_read_is_no_limit) {
  for (const char* const text : {"", "100000", "x y", "1e5 100000", "100000 0", "-5 100000",
                                 "99999999999999999999999 100000"}) {
    write("cgroup", "0::/service\n");
    write("fs/service/cpu.max", text);
    EXPECT_EQ(cpus(), 0U) << text;
  }
  write("fs/service/cpu.max", "9223372036854775807 1");
  EXPECT_EQ(cpus(), 4096U);  // more than any machine has, and no overflow
  write("fs/cpu.max", "100000 100000\n");
  for (const char* const text :
       {"0::", "0::service", "0::/service/../x", "0::/service\n\n:\n::\n"}) {
    write("cgroup", text);
    EXPECT_EQ(cpus(), 1U) << text;  // by the root's quota
  }
}

}  // namespace
