// temporary_test.cpp: temporary files and directories leave nothing behind.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/detail/split_mix.hpp>
#include <tandem/io/file_operations.hpp>
#include <tandem/io/temporary.hpp>
#include <tandem/task_scope.hpp>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::file;
using tandem::io::open_temporary_file;
using tandem::io::temporary_directory;
using tandem::io::with_temporary_directory;
using tandem::test::bytes_of;
using tandem::test::get;
using tandem::test::on_every_home;
using tandem::test::put;
using tandem::test::temporary_folder;
namespace fs = std::filesystem;

TEST(temporary, a_file_is_read_and_written_and_is_gone_when_it_is_closed) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    {
      file first = co_await open_temporary_file(folder.path());
      file second = co_await open_temporary_file(folder.path());
      co_await first.write_all_at(bytes_of("contents"), 0);
      std::vector<std::byte> room(8);
      co_await first.read_exactly_at(room, 0);
      EXPECT_EQ((co_await second.status()).size, 0U);
    }
    EXPECT_EQ(folder.entries(), 0U);
    EXPECT_TRUE((co_await open_temporary_file()).is_open());
    const auto failed = co_await as_result(open_temporary_file(folder / "none"));
    EXPECT_EQ(failed.error(), std::errc::no_such_file_or_directory);
  });
}

TEST(temporary, a_directory_is_removed_with_all_that_is_in_it_however_its_use_ends) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    const auto fill = [](temporary_directory& scratch) -> task<int> {
      co_await scratch.folder().make_directories("a/b");
      put(scratch.path() + "/a/f", bytes_of("contents"));
      co_return 7;
    };
    EXPECT_EQ(co_await with_temporary_directory(fill, folder.path()), 7);
    EXPECT_EQ(folder.entries(), 0U);
    const auto fail = [&](temporary_directory& scratch) -> task<void> {
      (void)co_await fill(scratch);
      EXPECT_EQ(folder.entries(), 1U);
      throw std::runtime_error("enough");
    };
    EXPECT_FALSE(co_await as_result(with_temporary_directory(fail, folder.path())));
    EXPECT_EQ(folder.entries(), 0U);
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      const auto stop = [&](temporary_directory& scratch) -> task<void> {
        (void)co_await fill(scratch);
        scope.request_stop();
        co_await scratch.folder().make_directory("after the stop");
      };
      const auto stopped = co_await as_result(with_temporary_directory(stop, folder.path()));
      EXPECT_TRUE(stopped.is_cancelled());
    });
    EXPECT_EQ(folder.entries(), 0U);
    const auto missing = co_await as_result(with_temporary_directory(fill, folder / "none"));
    EXPECT_EQ(missing.error(), std::errc::no_such_file_or_directory);
    // Whoever removes it does no harm.
    const auto remove = [](temporary_directory& scratch) -> task<void> {
      co_await tandem::io::remove_directory(scratch.path());
    };
    co_await with_temporary_directory(remove, folder.path());
  });
}

/// What split_mix() counts up, from what it has made of it.
std::uint64_t state_of(std::uint64_t made) {
  const auto unshifted = [](std::uint64_t bits, unsigned by) {
    std::uint64_t before = bits;
    for (unsigned i = 0; i < 64 / by; ++i) before = bits ^ (before >> by);
    return before;
  };
  const auto inverse = [](std::uint64_t odd) {
    std::uint64_t found = odd;
    for (int i = 0; i < 6; ++i) found *= 2 - odd * found;
    return found;
  };
  std::uint64_t state = unshifted(made, 31) * inverse(0x94D049BB133111EBU);
  state = unshifted(state, 27) * inverse(0xBF58476D1CE4E5B9U);
  return unshifted(state, 30);
}

TEST(temporary, who_has_seen_a_name_does_not_know_a_later_one) {
  const temporary_folder folder;
  on_every_home([&]() -> task<void> {
    std::set<std::uint64_t> foretold;
    for (int i = 0; i < 20; ++i) {
      std::uint64_t number = 0;
      const auto look = [&](temporary_directory& scratch) -> task<void> {
        const std::string& path = scratch.path();
        number = std::stoull(path.substr(path.rfind('-') + 1), nullptr, 16);
        co_return;
      };
      co_await with_temporary_directory(look, folder.path());
      EXPECT_FALSE(foretold.contains(number));
      std::uint64_t state = state_of(number);
      EXPECT_EQ(tandem::detail::mixed(state), number);
      for (int later = 0; later < 10; ++later) foretold.insert(tandem::detail::split_mix(state));
    }
  });
}

TEST(temporary,
     a_directory_is_removed_where_it_was_made_wherever_the_process_or_its_folder_is_now) {
  const temporary_folder folder;
  const fs::path before = fs::current_path();
  on_every_home([&]() -> task<void> {
    fs::create_directory(folder / "inner");
    fs::current_path(folder.path());
    const auto go_away = [&](temporary_directory& scratch) -> task<void> {
      fs::current_path(before);
      EXPECT_TRUE(fs::is_directory(scratch.path())) << scratch.path();
      put(scratch.path() + "/f", bytes_of("contents"));
      co_return;
    };
    co_await with_temporary_directory(go_away, "inner");
    EXPECT_TRUE(fs::is_empty(folder / "inner"));
    const auto take = [](temporary_directory& scratch) -> task<void> {
      const tandem::io::directory taken = std::move(scratch.folder());
      EXPECT_FALSE(scratch.path().empty());
      co_return;
    };
    co_await with_temporary_directory(take, folder / "inner");
    EXPECT_TRUE(fs::is_empty(folder / "inner"));
  });
  fs::current_path(before);
}

}  // namespace
