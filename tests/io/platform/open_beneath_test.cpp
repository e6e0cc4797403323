// open_beneath_test.cpp: paths that others have chosen do not lead out of a folder, on every system.
// SPDX-License-Identifier: MIT
//
// Links, and the two ways of Linux: open_beneath_ways_test.cpp.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "io/support/beneath_tree.hpp"

namespace {

using std::errc;
using tandem::as_result;
using tandem::task;
using tandem::io::file;
using tandem::io::open_options;
using tandem::test::beneath_tree;
using tandem::test::bytes_of;
using tandem::test::get;
using tandem::test::on_every_home;
using tandem::test::paths_beneath;
using tandem::test::text_of;

constexpr errc none{};

TEST(beneath, what_stays_in_the_folder_is_found_and_all_else_refused) {
  const beneath_tree files;
  on_every_home([&]() -> task<void> {
    file root = co_await file::open(files.root);
    for (const auto& [path, expected] : paths_beneath()) {
      auto found = co_await as_result(root.open_beneath(path));
      EXPECT_TRUE(expected == none ? !found.error() : found.error() == expected)
          << path.substr(0, 40) << ": " << found.error().message();
      if (found) {
        EXPECT_EQ(co_await text_of(found.value()), "inside") << path;
      }
    }
    auto long_name = co_await as_result(root.open_beneath(std::string(300, 'a')));
    EXPECT_FALSE(long_name);
    // 16 bits do not hold its size: what is left of them would name "hello".
    auto longer = co_await as_result(root.open_beneath("hello" + std::string(32768, 'a')));
    EXPECT_EQ(longer.error(), errc::filename_too_long);
  });
}

TEST(beneath, the_folder_and_those_in_it_are_found_too) {
  const beneath_tree files;
  on_every_home([&]() -> task<void> {
    file root = co_await file::open(files.root);
    for (const char* path : {".", "./", "sub/..", "sub", "sub/", "sub/deep/.."}) {
      file found = co_await root.open_beneath(path);
      EXPECT_EQ((co_await found.status()).kind, tandem::io::file_kind::directory) << path;
    }
  });
}

TEST(beneath, a_new_file_is_made_beneath_the_folder_only) {
  on_every_home([]() -> task<void> {
    const beneath_tree files;
    file root = co_await file::open(files.root);
    open_options exclusive = open_options::overwrite();
    exclusive.exclusive = true;
    const std::vector<std::pair<std::string, errc>> cases{
        {"made", none},
        {"sub/made", none},
        {"hello", errc::file_exists},
        {"missing/made", errc::no_such_file_or_directory},
        {"../made", errc::cross_device_link},
        {"sub/../../made", errc::cross_device_link},
    };
    for (const auto& [path, expected] : cases) {
      auto made = co_await as_result(root.open_beneath(path, exclusive));
      EXPECT_TRUE(expected == none ? !made.error() : made.error() == expected)
          << path << ": " << made.error().message();
    }
    for (const char* path : {"made", "sub/made"}) {
      file made = co_await root.open_beneath(path, open_options::overwrite());
      co_await made.write_all_at(bytes_of("new"), 0);
    }
    EXPECT_EQ(get(files.root + "/made"), "new");
    EXPECT_EQ(get(files.root + "/sub/made"), "new");
    EXPECT_FALSE(std::filesystem::exists(files.folder / "made"));
    EXPECT_EQ(get(files.folder / "secret"), "secret");
  });
}

TEST(beneath, failures_name_folder_and_path) {
  const beneath_tree files;
  on_every_home([&]() -> task<void> {
    file root = co_await file::open(files.root);
    std::string said;
    try {
      (void)co_await root.open_beneath("../secret");
    } catch (const std::system_error& failure) {
      said = failure.what();
    }
    EXPECT_NE(said.find("file::open_beneath \"" + files.root + "\": \"../secret\""),
              std::string::npos)
        << said;
    file none_such;
    EXPECT_EQ((co_await as_result(none_such.open_beneath("hello"))).error(),
              errc::bad_file_descriptor);
    file no_folder = co_await file::open(files.root + "/hello");
    EXPECT_EQ((co_await as_result(no_folder.open_beneath("hello"))).error(), errc::not_a_directory);
  });
}

/// Moves a folder out of the root, and back.
class moving {
 public:
  explicit moving(const std::string& root)
      : thread_([this, root] {
          const std::string inside = root + "/sub";
          const std::string outside = root + "/../other/sub";
          while (!over_) {
            // Windows: not while somebody is in it.
            std::error_code refused;
            std::filesystem::rename(inside, outside, refused);
            if (refused) continue;
            do std::filesystem::rename(outside, inside, refused);
            while (refused);
          }
        }) {}
  ~moving() {
    over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

TEST(beneath, whoever_moves_a_folder_away_meanwhile_does_not_lead_out) {
  const beneath_tree files;
  on_every_home([&]() -> task<void> {
    file root = co_await file::open(files.root);
    const moving at_work(files.root);
    int found = 0;
    int refused = 0;
    while (found < 20 || refused < 20) {
      auto opened = co_await as_result(root.open_beneath("sub/deep/../page"));
      if (!opened) {
        ++refused;
        continue;
      }
      ++found;
      EXPECT_EQ(co_await text_of(opened.value()), "inside");
    }
  });
}

}  // namespace
