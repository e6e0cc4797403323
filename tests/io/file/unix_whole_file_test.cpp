// unix_whole_file_test.cpp: read_file() and write_file() as Linux and its like have files.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <tandem/as_result.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/read_file.hpp>
#include <tandem/io/write_file.hpp>
#include <thread>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "io/support/small_disk.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::file;
using tandem::io::read_file;
using tandem::io::write_file;
using tandem::io::write_options;
using tandem::test::bytes_of;
using tandem::test::get;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::put;
using tandem::test::temporary_folder;
using tandem::test::test_runtime;

/// Owner, group, permissions.
std::array<unsigned, 3> rights_of(const std::string& path) {
  struct ::stat found{};
  EXPECT_EQ(::stat(path.c_str(), &found), 0);
  return {found.st_uid, found.st_gid, found.st_mode & 07777U};
}

TEST(unix_write_file, a_file_is_made_or_replaced_and_its_permissions_stay) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    const auto mask = ::umask(022);
    co_await write_file(folder / "f", "new");
    EXPECT_EQ(get(folder / "f"), "new");
    EXPECT_EQ(rights_of(folder / "f")[2], 0644U);
    EXPECT_EQ(::chmod((folder / "f").c_str(), 0604), 0);
    write_options durable;
    durable.durable = true;
    co_await write_file(folder / "f", "", durable);
    EXPECT_EQ(get(folder / "f"), "");
    EXPECT_EQ(rights_of(folder / "f")[2], 0604U);
    write_options secret;
    secret.permissions = 0600;
    const std::vector<std::byte> large = pattern(1'500'000, 2);
    co_await write_file(folder / "g", large, secret);
    const std::string written = get(folder / "g");
    EXPECT_EQ(written.size(), large.size());
    EXPECT_EQ(std::memcmp(written.data(), large.data(), large.size()), 0);
    EXPECT_EQ(rights_of(folder / "g")[2], 0600U);
    ::umask(mask);
    EXPECT_EQ(folder.entries(), 2U);
    std::filesystem::remove(folder / "f");
    std::filesystem::remove(folder / "g");
  });
}

TEST(unix_write_file, the_owner_stays_where_it_may_be_set_and_else_no_other_group_gets_its_rights) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const temporary_folder folder;
  EXPECT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  test_runtime rt;
  const auto write = [&](const char* text) { rt.run(write_file(folder / "f", text)); };
  using rights = std::array<unsigned, 3>;
  put(folder / "f", bytes_of("old"));
  EXPECT_EQ(::chown((folder / "f").c_str(), 1234, 5678), 0);
  EXPECT_EQ(::chmod((folder / "f").c_str(), 0664), 0);
  write("by root");
  EXPECT_EQ(rights_of(folder / "f"), (rights{1234, 5678, 0664}));
  // By somebody who may not.
  EXPECT_EQ(::setegid(4321), 0);
  EXPECT_EQ(::seteuid(4321), 0);
  write("by another");
  EXPECT_EQ(::seteuid(0), 0);
  EXPECT_EQ(::setegid(0), 0);
  EXPECT_EQ(rights_of(folder / "f"), (rights{4321, 4321, 0644}));
  EXPECT_EQ(get(folder / "f"), "by another");
}

TEST(unix_write_file, a_link_is_followed_and_what_is_no_file_is_refused) {
  const temporary_folder folder;
  std::filesystem::create_directory(folder / "d");
  on_every_home([&]() -> task<void> {
    std::filesystem::create_symlink("d/target", folder / "link");
    std::filesystem::create_symlink("link", folder / "link2");
    co_await write_file(folder / "link2", "first");  // the link leads to nothing yet
    co_await write_file(folder / "link2", "second");
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
    EXPECT_EQ(get(folder / "d/target"), "second");
    std::filesystem::create_symlink("loop", folder / "loop");
    EXPECT_EQ((co_await as_result(write_file(folder / "loop", "x"))).error(),
              std::errc::too_many_symbolic_link_levels);
    EXPECT_EQ((co_await as_result(write_file(folder / "d", "x"))).error(),
              std::errc::is_a_directory);
    EXPECT_EQ((co_await as_result(write_file("/dev/null", "x"))).error(),
              std::errc::invalid_argument);
    EXPECT_EQ((co_await as_result(write_file(folder / "none/f", "x"))).error(),
              std::errc::no_such_file_or_directory);
    EXPECT_EQ((co_await as_result(write_file("", "x"))).error(), std::errc::invalid_argument);
    try {
      co_await write_file(folder / "none/f", "x");
    } catch (const std::system_error& failure) {
      const std::string text = failure.what();
      EXPECT_TRUE(text.starts_with("tandem::io::write_file \"" + folder / "none/f" + "\": create"))
          << text;
    }
    for (const char* const made : {"link", "link2", "loop", "d/target"}) {
      std::filesystem::remove(folder / made);
    }
    EXPECT_EQ(folder.entries(), 1U);
  });
}

TEST(unix_read_file, a_size_that_is_not_true_is_only_a_hint) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    // It says that it is empty.
    EXPECT_NE((co_await read_file("/proc/self/status")).find("Name:"), std::string::npos);
    EXPECT_GT((co_await read_file("/proc/kallsyms")).size(), 10'000U);
    // It grows, and is cut off, while it is read.
    std::atomic<bool> ends{false};
    std::thread other([&] {
      const std::string path = folder / "grows";
      const int out = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
      const std::string chunk(10'000, 'x');
      for (int i = 0; !ends; i = (i + 1) % 100) {
        EXPECT_TRUE(i != 0 || ::ftruncate(out, 0) == 0);
        EXPECT_GT(::pwrite(out, chunk.data(), chunk.size(), i * 10'000), 0);
      }
      ::close(out);
    });
    for (int i = 0; i < 20; ++i) {
      auto got = co_await as_result(read_file(folder / "grows"));
      if (!got && got.error() == std::errc::no_such_file_or_directory) continue;
      const std::string text = std::move(got).value();
      EXPECT_LE(text.size(), 1'000'000U);
      EXPECT_EQ(text.find_first_not_of(std::string("x\0", 2)), std::string::npos);
    }
    ends = true;
    other.join();
  });
}

TEST(unix_read_file, a_failure_names_the_file) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    EXPECT_EQ((co_await as_result(read_file(folder / "none"))).error(),
              std::errc::no_such_file_or_directory);
    try {
      (void)co_await read_file(folder.path());
      ADD_FAILURE() << "a folder was read";
    } catch (const std::system_error& failure) {
      EXPECT_EQ(failure.code(), std::errc::is_a_directory);
      EXPECT_NE(std::string(failure.what()).find(folder.path()), std::string::npos);
    }
  });
}

/// The test below, on a disk of 64 KiB.
task<void> fill_disk(std::string disk) {
  co_await write_file(disk + "/settings", "old");
  file out = co_await file::open(disk + "/f", tandem::io::open_options::overwrite());
  const std::vector<std::byte> bytes(100'000);
  const std::size_t fitted = co_await out.write_at(bytes, 0);  // told first
  EXPECT_GT(fitted, 0U);
  EXPECT_LT(fitted, bytes.size());
  EXPECT_EQ((co_await out.status()).size, fitted);
  const auto expect_full = [](const std::error_code& error) {
    EXPECT_EQ(error, std::errc::no_space_on_device);
  };
  for (int i = 0; i < 2; ++i) {
    expect_full((co_await as_result(out.write_at(bytes, fitted))).error());
    expect_full((co_await as_result(out.write_all_at(bytes, 0))).error());
    expect_full((co_await as_result(out.append(bytes))).error());
    expect_full((co_await as_result(out.allocate(0, bytes.size()))).error());
    expect_full((co_await as_result(write_file(disk + "/settings", bytes))).error());
    EXPECT_EQ(get(disk + "/settings"), "old");
  }
  EXPECT_EQ((co_await out.status()).size, fitted);
  const std::filesystem::directory_iterator entries(disk);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 2);
  co_await out.truncate(0);
  co_await write_file(disk + "/settings", "new");
  EXPECT_EQ(get(disk + "/settings"), "new");
}

TEST(unix_write_file, a_full_disk_leaves_the_old_contents_and_nothing_beside) {
  tandem::test::on_small_disk("size=64k", [](const std::string& disk) {
    test_runtime rt;
    rt.run(fill_disk(disk));
  });
}

}  // namespace
