// small_disk.hpp: runs a law on a disk that is soon full, in a process of its own that alone sees it.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "io/support/file_support.hpp"
#include "required.hpp"

namespace tandem::test {

/// What a command is put behind so that it may mount a disk that nobody else sees; empty: nothing
/// helps.
inline std::string where_disks_can_be_mounted(const std::string& mount) {
  // As root, or, where the host allows user namespaces, as anybody.
  for (const char* const with : {"--mount", "--user --map-root-user --mount"}) {
    const std::string apart = "unshare " + std::string(with) + " ";
    if (std::system((apart + mount + " 2>/dev/null").c_str()) == 0) return apart;
  }
  return "";
}

/// To be all of a law, which this executable is called again with.
///
/// @param options  of the disk's mount
/// @param body     called there with the disk's path
template <class Body>
void on_small_disk(const std::string& options, Body body) {
  if (const char* const disk = std::getenv("TANDEM_TEST_SMALL_DISK"))
    return body(std::string(disk));
  const temporary_folder folder;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string mount = "mount -t tmpfs -o " + options + " none " + folder.path();
  const std::string apart = where_disks_can_be_mounted(mount);
  if (apart.empty()) {
    ASSERT_FALSE(every_test_is_required())
        << "no disk can be mounted: neither user namespaces nor root's rights";
    GTEST_SKIP() << "no disk can be mounted here";
  }
  const auto& law = *::testing::UnitTest::GetInstance()->current_test_info();
  const std::string filter = std::string(law.test_suite_name()) + "." + law.name();
  EXPECT_EQ(std::system((apart + "sh -c '" + mount + " && TANDEM_TEST_SMALL_DISK=" + folder.path() +
                         " exec " + self + " --gtest_filter=" + filter + "'")
                            .c_str()),
            0);
}

/// As on_small_disk(): servers that the body starts have their folders on the disk. They give up
/// root's rights, which can only be done by one who really has them.
template <class Body>
void on_small_disk_of_a_server(const std::string& options, Body body) {
  if (std::system("test \"$(id -u)\" = 0") != 0) {
    ASSERT_FALSE(every_test_is_required()) << "a server on a disk of its own needs root's rights";
    GTEST_SKIP() << "a server on a disk of its own needs root's rights";
  }
  on_small_disk(options, [&body](const std::string& disk) {
    setenv("TMPDIR", disk.c_str(), 1);
    body(disk);
  });
}

}  // namespace tandem::test
