// whole_file_test.cpp: read_file() and write_file().
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <tandem/as_result.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/read_file.hpp>
#include <tandem/io/write_file.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <thread>
#include <vector>

#include "file_system.hpp"
#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "seeded.hpp"
#include "system.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::file;
using tandem::io::read_file;
using tandem::io::read_file_bytes;
using tandem::io::write_file;
using tandem::io::write_options;
using tandem::test::bytes_of;
using tandem::test::get;
using tandem::test::number_of_file;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::put;
using tandem::test::take_away;
using tandem::test::temporary_folder;
using tandem::test::test_runtime;

TEST(read_file, all_bytes_come_however_many) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    for (const std::size_t size : {0U, 1U, 4095U, 4096U, 4097U, 1'500'000U}) {
      const std::vector<std::byte> whole = pattern(size, 1);
      put(folder / "f", whole);
      EXPECT_EQ(co_await read_file_bytes(folder / "f"), whole);
      const std::string text = co_await read_file(folder / "f");
      EXPECT_EQ(text.size(), size);
      EXPECT_TRUE(size == 0 || std::memcmp(text.data(), whole.data(), size) == 0);
    }
  });
}

TEST(write_file, a_path_may_be_longer_than_older_calls_of_windows_take_it) {
  const temporary_folder folder;
  const std::string name = "/" + std::string(100, 'f');
  const std::string deep = folder / std::string(200 - folder.path().size(), 'd');
  std::filesystem::create_directory(deep);
  on_every_home([&]() -> task<void> {
    for (const std::string& path :
         {deep + name, deep + "/.//../" + deep.substr(deep.find_last_of("/\\") + 1) + name}) {
      co_await write_file(path, "first");
      co_await write_file(path, "second");
      EXPECT_EQ(co_await read_file(path), "second");
      EXPECT_TRUE(take_away(deep + name));
    }
  });
}

TEST(read_file, a_file_that_grows_and_is_cut_off_meanwhile_gives_what_was_there) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    const std::string path = folder / "grows";
    put(path, {});
    std::atomic<bool> ends{false};
    std::thread other([&] {
      const std::string chunk(10'000, 'x');
      for (int i = 0; !ends; i = (i + 1) % 100) {
        if (i == 0) std::filesystem::resize_file(path, 0);
        std::ofstream(path, std::ios::binary | std::ios::app) << chunk;
      }
    });
    for (int i = 0; i < 20; ++i) {
      const std::string text = co_await read_file(path);
      EXPECT_LE(text.size(), 1'000'000U);
      EXPECT_EQ(text.find_first_not_of(std::string("x\0", 2)), std::string::npos);
    }
    ends = true;
    other.join();
  });
}

TEST(read_file, a_failure_names_the_file) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    EXPECT_EQ((co_await as_result(read_file(folder / "none"))).error(),
              std::errc::no_such_file_or_directory);
    try {
      (void)co_await read_file(folder.path());
      ADD_FAILURE() << "a folder was read";
    } catch (const std::system_error& failure) {
      EXPECT_NE(std::string(failure.what()).find(folder.path()), std::string::npos);
    }
  });
}

TEST(write_file, a_file_is_made_or_replaced) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    co_await write_file(folder / "f", "new");
    EXPECT_EQ(get(folder / "f"), "new");
    write_options durable;
    durable.durable = true;
    co_await write_file(folder / "f", "", durable);
    EXPECT_EQ(get(folder / "f"), "");
    const std::vector<std::byte> large = pattern(1'500'000, 2);
    co_await write_file(folder / "g", large);
    const std::string written = get(folder / "g");
    EXPECT_EQ(written.size(), large.size());
    EXPECT_EQ(std::memcmp(written.data(), large.data(), large.size()), 0);
    EXPECT_EQ(folder.entries(), 2U);
    std::filesystem::remove(folder / "f");
    std::filesystem::remove(folder / "g");
  });
}

TEST(write_file, what_is_no_file_is_refused_and_the_text_says_which_step) {
  const temporary_folder folder;
  std::filesystem::create_directory(folder / "d");
  on_every_home([&]() -> task<void> {
    EXPECT_EQ((co_await as_result(write_file(folder / "d", "x"))).error(),
              std::errc::is_a_directory);
    EXPECT_EQ((co_await as_result(write_file(folder / "none/f", "x"))).error(),
              std::errc::no_such_file_or_directory);
    EXPECT_TRUE((co_await as_result(write_file("", "x"))).error());
    try {
      co_await write_file(folder / "none/f", "x");
    } catch (const std::system_error& failure) {
      const std::string text = failure.what();
      EXPECT_TRUE(text.starts_with("tandem::io::write_file \"" + folder / "none/f" + "\": create"))
          << text;
    }
    EXPECT_EQ(folder.entries(), 1U);
  });
}

/// Contents that show whether they are whole: a digit, repeated.
std::string version(std::size_t number) {
  return std::string(40'000 + number % 10 * 3000, static_cast<char>('0' + number % 10));
}
bool is_whole(const std::string& text) {
  return !text.empty() && text == version(static_cast<std::size_t>(text[0] - '0'));
}

task<void> write_versions(std::string path, std::size_t first, std::atomic<int>& writers) {
  for (std::size_t i = 0; i < 40; ++i) {
    const std::string text = version(first + i);
    co_await write_file(path, text);
  }
  --writers;
}

TEST(write_file, readers_find_one_version_or_another_never_a_part_or_none) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    co_await write_file(folder / "f", version(0));
    std::atomic<int> writers = 2;
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn(write_versions(folder / "f", 0, writers));
      scope.spawn(write_versions(folder / "f", 1, writers));
      for (int i = 0; i < 3; ++i) {
        scope.spawn([](std::string path, std::atomic<int>& w) -> task<void> {
          while (w != 0) EXPECT_TRUE(is_whole(co_await read_file(path)));
        }(folder / "f", writers));
      }
      co_return;
    });
    EXPECT_EQ(folder.entries(), 1U);
  });
}

TEST(write_file, a_stop_leaves_the_old_contents_or_the_new_ones_and_nothing_beside) {
  const temporary_folder folder;
  std::mt19937_64 dice(tandem::test::stress_seed());
  const std::vector<std::byte> large(3U << 20, std::byte{'n'});  // several looks for a stop
  on_every_home([&]() -> task<void> {
    int replaced = 0;
    for (int round = 0; round < 10; ++round) {
      co_await write_file(folder / "f", "old");
      bool returned = false;
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        scope.spawn([](std::string path, std::span<const std::byte> bytes, bool& r) -> task<void> {
          const auto ended = co_await as_result(write_file(path, bytes));
          r = ended.has_value();
          EXPECT_TRUE(r || ended.is_cancelled());
        }(folder / "f", large, returned));
        co_await tandem::sleep_for(std::chrono::microseconds(dice() % 2000));
        scope.request_stop();
      });
      EXPECT_EQ(std::filesystem::file_size(folder / "f"), returned ? large.size() : 3U);
      EXPECT_EQ(folder.entries(), 1U);
      replaced += returned ? 1 : 0;
    }
    std::printf("%d of 10 were replaced\n", replaced);
  });
}

/// The test below in another process, which ends when it is killed.
void write_for_ever(const std::string& path) {
  test_runtime rt;
  rt.run([&]() -> task<void> {
    for (std::size_t i = 0;; ++i) {
      const std::string text = version(i);
      co_await write_file(path, text);
    }
  }());
}

TEST(write_file, a_writer_that_is_killed_leaves_one_version_or_another) {
  if (const char* const given = std::getenv("TANDEM_TEST_WRITES_TO")) return write_for_ever(given);
  const temporary_folder folder;
  const std::string path = folder / "f";
  put(path, bytes_of(version(0)));
  std::mt19937_64 dice(tandem::test::stress_seed());
  tandem::test::set_variable("TANDEM_TEST_WRITES_TO", path.c_str());
  for (int round = 0; round < 5; ++round) {
    const std::uint64_t first = number_of_file(path);
    tandem::test::child_process writer("write_file.a_writer_that_is_killed*");
    // Until it is in the midst of it. Windows: a name may be no file's for a moment.
    while (true) {
      const std::uint64_t now = number_of_file(path);
      if (now != first && now != 0) break;
      std::this_thread::yield();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(dice() % 5000));
    EXPECT_TRUE(writer.kill());
    EXPECT_TRUE(is_whole(get(path)));
  }
  tandem::test::unset_variable("TANDEM_TEST_WRITES_TO");
}

}  // namespace
