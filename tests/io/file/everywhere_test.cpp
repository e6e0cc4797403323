// everywhere_test.cpp: what files do on every system: no call of a system's own here.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/read_file.hpp>
#include <tandem/io/write_file.hpp>
#include <tandem/with_stop.hpp>
#include <vector>

#include "io/support/io_support.hpp"
#include "support/temporary_folder.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::bytes_of;
using tandem::io::file;
using tandem::io::open_mode;
using tandem::io::open_options;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::temporary_folder;

open_options made_anew() {
  open_options options(open_mode::read_write);
  options.create = options.truncate = true;
  return options;
}

TEST(everywhere, what_is_written_at_an_offset_is_read_there_and_a_read_is_short_at_the_end_only) {
  on_every_home([]() -> task<void> {
    const temporary_folder at;
    const std::vector<std::byte> whole = pattern(300'000, 7);
    file both = co_await file::open(at / "both", made_anew());
    co_await both.write_all_at(whole, 1000);
    std::vector<std::byte> back(whole.size() + 5000);
    EXPECT_EQ(co_await both.read_at(back, 1000), whole.size());
    back.resize(whole.size());
    EXPECT_EQ(back, whole);
    EXPECT_EQ(co_await both.read_at(std::span(back).first(10), 1'000'000), 0U);
    EXPECT_EQ((co_await both.status()).size, whole.size() + 1000);
  });
}

TEST(everywhere, a_list_of_buffers_is_one_transfer) {
  on_every_home([]() -> task<void> {
    const temporary_folder at;
    file both = co_await file::open(at / "both", made_anew());
    const std::array<std::span<const std::byte>, 3> parts{bytes_of("one"), bytes_of(""),
                                                          bytes_of("two")};
    co_await both.write_all_at(parts, 0);
    std::array<std::byte, 4> first;
    std::array<std::byte, 2> second;
    const std::array<std::span<std::byte>, 2> into{std::span<std::byte>(first),
                                                   std::span<std::byte>(second)};
    co_await both.read_exactly_at(into, 0);
    EXPECT_EQ(std::to_integer<char>(first[3]), 't');
    EXPECT_EQ(std::to_integer<char>(second[1]), 'o');
  });
}

TEST(everywhere, what_is_appended_goes_to_the_end) {
  on_every_home([]() -> task<void> {
    const temporary_folder at;
    {
      file log = co_await file::open(at / "log", open_options::append_to());
      co_await log.append(bytes_of("one "));
      co_await log.append(bytes_of("two "));
    }
    file log = co_await file::open(at / "log", open_options::append_to());
    co_await log.append(bytes_of("three"));
    EXPECT_EQ(co_await tandem::io::read_file(at / "log"), "one two three");
  });
}

TEST(everywhere, a_size_is_cut_and_grows_and_commands_say_so) {
  on_every_home([]() -> task<void> {
    const temporary_folder at;
    file both = co_await file::open(at / "both", made_anew());
    co_await both.write_all_at(bytes_of("0123456789"), 0);
    co_await both.truncate(4);
    EXPECT_EQ(co_await tandem::io::read_file(at / "both"), "0123");
    co_await both.allocate(0, 100);
    EXPECT_EQ((co_await both.status()).size, 100U);
    co_await both.sync();
    co_await both.sync_data();
    EXPECT_EQ((co_await both.status()).kind, tandem::io::file_kind::regular);
  });
}

TEST(everywhere, how_a_file_is_opened_says_what_happens_to_one_that_is_there) {
  on_every_home([]() -> task<void> {
    const temporary_folder at;
    const std::string path = at / "name";
    EXPECT_EQ((co_await as_result(file::open(path))).error(), std::errc::no_such_file_or_directory);
    co_await tandem::io::write_file(path, "contents");
    open_options once(open_mode::write);
    once.create = once.exclusive = true;
    EXPECT_EQ((co_await as_result(file::open(path, once))).error(), std::errc::file_exists);
    open_options kept(open_mode::read_write);
    kept.create = true;
    { const file opened = co_await file::open(path, kept); }
    EXPECT_EQ(co_await tandem::io::read_file(path), "contents");
    { const file opened = co_await file::open(path, open_options::overwrite()); }
    EXPECT_EQ(co_await tandem::io::read_file(path), "");
  });
}

TEST(everywhere, names_are_utf8) {
  on_every_home([]() -> task<void> {
    const temporary_folder at;
    const std::string path = at / "gr\xc3\xbc\xc3\x9f-\xe2\x82\xac";
    co_await tandem::io::write_file(path, "umlauts");
    EXPECT_EQ(co_await tandem::io::read_file(path), "umlauts");
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(
        std::u8string(reinterpret_cast<const char8_t*>(path.c_str())))));  // NOLINT
  });
}

TEST(everywhere, a_file_that_is_replaced_is_the_old_one_or_the_new_one_and_leaves_nothing_behind) {
  on_every_home([]() -> task<void> {
    const temporary_folder at;
    for (const char* text : {"first", "second", ""}) {
      co_await tandem::io::write_file(at / "name", text);
      EXPECT_EQ(co_await tandem::io::read_file(at / "name"), text);
    }
    tandem::io::write_options durable;
    durable.durable = true;
    co_await tandem::io::write_file(at / "name", "last", durable);
    EXPECT_EQ(co_await tandem::io::read_file(at / "name"), "last");
    const auto names = std::filesystem::directory_iterator(at.path());
    EXPECT_EQ(std::distance(begin(names), end(names)), 1);
  });
}

TEST(everywhere, a_path_beneath_a_folder_never_leads_out_of_it) {
  on_every_home([]() -> task<void> {
    const temporary_folder at;
    std::filesystem::create_directories(at / "root/inner");
    co_await tandem::io::write_file(at / "root/inner/file", "inside");
    co_await tandem::io::write_file(at / "secret", "outside");
    file root = co_await file::open(at / "root");
    {
      file found = co_await root.open_beneath("inner/../inner/file");
      std::array<std::byte, 6> text;
      co_await found.read_exactly_at(std::span<std::byte>(text), 0);
      EXPECT_EQ(std::to_integer<char>(text[0]), 'i');
    }
    for (const std::string path : {"../secret", "inner/../../secret", "/etc/passwd"}) {
      EXPECT_EQ((co_await as_result(root.open_beneath(path))).error(), std::errc::cross_device_link)
          << path;
    }
    EXPECT_EQ((co_await as_result(root.open_beneath("inner/none"))).error(),
              std::errc::no_such_file_or_directory);
  });
}

TEST(everywhere, a_closed_file_and_one_of_the_wrong_mode_are_errors) {
  on_every_home([]() -> task<void> {
    const temporary_folder at;
    file none;
    std::array<std::byte, 4> room;
    EXPECT_EQ((co_await as_result(none.read_at(std::span<std::byte>(room), 0))).error(),
              std::errc::bad_file_descriptor);
    co_await tandem::io::write_file(at / "name", "text");
    file only_read = co_await file::open(at / "name");
    EXPECT_TRUE((co_await as_result(only_read.write_at(bytes_of("x"), 0))).error());
  });
}

}  // namespace
