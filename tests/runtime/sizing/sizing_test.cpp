// sizing_test.cpp: how many threads a load needs, and how many CPUs there are for it.
// SPDX-License-Identifier: MIT
#include <tandem/sizing.hpp>

#include <gtest/gtest.h>

#include <unistd.h>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

#include "platform/linux/control_group.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::recommended_threads;

TEST(sizing, compute_takes_one_thread_more_than_there_are_cpus) {
  EXPECT_EQ(recommended_threads(), tandem::usable_cpus() + 1);
}

TEST(sizing, a_load_that_waits_takes_cpus_times_utilisation_times_one_and_wait_by_compute) {
  EXPECT_EQ(recommended_threads(100ms, 10ms, 1, 2), 22U);
  EXPECT_EQ(recommended_threads(100ms, 10ms, 0.5, 2), 11U);
  EXPECT_EQ(recommended_threads(0ms, 10ms, 1, 8), 8U);
  EXPECT_EQ(recommended_threads(90ms, 10ms, 0.7, 1), 7U);  // not 8, though 10 x 0.7 is above 7
  EXPECT_EQ(recommended_threads(1ms, 3ms, 1, 2), 3U);      // 2.67
  EXPECT_EQ(recommended_threads(9ms, 1ms), 10 * tandem::usable_cpus());
}

TEST(sizing, it_is_at_least_one_and_at_most_what_a_number_holds) {
  EXPECT_EQ(recommended_threads(0ms, 10ms, 0.001, 1), 1U);
  EXPECT_EQ(recommended_threads(std::chrono::hours(1'000'000), 1ns, 1, 1024),
            std::numeric_limits<unsigned>::max());
}

TEST(sizing, what_makes_no_sense_is_refused_by_name) {
  const auto refused = [](std::chrono::nanoseconds wait, std::chrono::nanoseconds compute,
                          double utilisation, unsigned cpus) -> std::string {
    try {
      recommended_threads(wait, compute, utilisation, cpus);
    } catch (const std::invalid_argument& failure) {
      return failure.what();
    }
    return "";
  };
  EXPECT_NE(refused(-1ns, 1ms, 1, 1).find("wait is -1 ns"), std::string::npos);
  EXPECT_NE(refused(1ms, 0ms, 1, 1).find("compute is 0 ns"), std::string::npos);
  EXPECT_NE(refused(1ms, 1ms, 0, 1).find("utilisation is 0"), std::string::npos);
  EXPECT_NE(refused(1ms, 1ms, 1.5, 1).find("utilisation is 1.5"), std::string::npos);
  EXPECT_NE(refused(1ms, 1ms, std::numeric_limits<double>::quiet_NaN(), 1).find("utilisation"),
            std::string::npos);
  EXPECT_NE(refused(1ms, 1ms, 1, 0).find("cpus is 0"), std::string::npos);
}

/// Files as the kernel shows them.
class control_groups : public testing::Test {
 protected:
  control_groups()
      : folder_(std::filesystem::temp_directory_path() /
                ("tandem-sizing-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~control_groups() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& path, const std::string& text) {
    const auto file = folder_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  unsigned cpus() {
    return tandem::platform::cpus_of_control_groups((folder_ / "cgroup").string(),
                                                    (folder_ / "fs").string());
  }

 private:
  const std::filesystem::path folder_;
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
