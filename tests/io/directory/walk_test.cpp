// walk_test.cpp: trees are read whole, by several threads, and each entry is told once.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file_operations.hpp>
#include <tandem/io/walk.hpp>
#include <tandem/latch.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <utility>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::directory;
using tandem::io::file_kind;
using tandem::io::walk;
using tandem::io::walk_batch;
using tandem::io::walk_entry;
using tandem::io::walk_options;
using tandem::io::walk_summary;
using tandem::test::bytes_of;
using tandem::test::on_every_home;
using tandem::test::put;
using tandem::test::temporary_folder;
namespace fs = std::filesystem;

/// What a walk tells, whoever calls at the same time.
class names {
 public:
  void add(const walk_batch& found) {
    const std::lock_guard guard(lock_);
    for (const walk_entry entry : found) {
      paths_.insert(fs::path(entry.path()).generic_string());
    }
  }
  std::multiset<std::string> take() { return std::exchange(paths_, {}); }

 private:
  std::mutex lock_;
  std::multiset<std::string> paths_;
};

/// What the standard library finds.
std::multiset<std::string> known_paths(const std::string& root) {
  std::multiset<std::string> paths;
  for (const auto& each : fs::recursive_directory_iterator(root)) {
    paths.insert(each.path().generic_string());
  }
  return paths;
}

/// Directories in directories, with some files in each.
void make_tree(const std::string& root, int width, int depth, int files) {
  for (int i = 0; i < files; ++i) put(root + "/file " + std::to_string(i), bytes_of("1234"));
  for (int i = 0; depth > 0 && i < width; ++i) {
    const std::string inner = root + "/" + std::to_string(i);
    fs::create_directory(inner);
    make_tree(inner, width, depth - 1, files);
  }
}

TEST(walk, every_entry_of_a_tree_is_told_once_whatever_the_number_of_threads_and_the_batches) {
  const temporary_folder folder(temporary_folder::in_memory());
  make_tree(folder.path(), 4, 3, 5);
  const auto expected = known_paths(folder.path());
  on_every_home([&]() -> task<void> {
    for (const unsigned threads : {1U, 2U, 7U}) {
      for (const std::size_t batch : {1U, 10U, 4096U}) {
        walk_options options;
        options.threads = threads;
        options.batch_entries = batch;
        names found;
        const walk_summary summary =
            co_await walk(folder.path(), [&](const walk_batch& some) { found.add(some); }, options);
        EXPECT_EQ(found.take(), expected);
        EXPECT_EQ(summary.entries, expected.size());
        EXPECT_EQ(summary.directories, 1U + 4 + 16 + 64);
        EXPECT_EQ(summary.unreadable + summary.vanished, 0U);
      }
    }
  });
}

/// How often a visitor is called by one thread.
task<int> calls_for(const std::string& root, std::size_t batch_entries) {
  walk_options options;
  options.threads = 1;
  options.batch_entries = batch_entries;
  int calls = 0;
  bool is_inside = false;
  const auto count = [&](const walk_batch&) -> task<void> {
    EXPECT_FALSE(std::exchange(is_inside, true)) << "one thread, one call at a time";
    co_await tandem::yield();
    is_inside = false;
    ++calls;
  };
  co_await walk(root, count, options);
  co_return calls;
}

TEST(walk, a_visitor_gets_about_as_much_at_once_as_was_asked_for) {
  const temporary_folder folder(temporary_folder::in_memory());
  make_tree(folder.path(), 4, 2, 3);
  on_every_home([&]() -> task<void> {
    const int directories = 1 + 4 + 16;
    EXPECT_GE(co_await calls_for(folder.path(), 1), directories);
    EXPECT_EQ(co_await calls_for(folder.path(), 4096), 1);
  });
}

TEST(walk, as_many_visits_as_threads_are_under_way_at_once) {
  const temporary_folder folder(temporary_folder::in_memory());
  make_tree(folder.path(), 9, 2, 3);
  on_every_home([&]() -> task<void> {
    walk_options options;
    options.threads = 5;
    options.batch_entries = 1;
    tandem::latch all_inside(5);
    std::atomic<int> calls{0};
    // With fewer threads the first ones would wait for ever.
    const auto wait_for_others = [&](const walk_batch&) -> task<void> {
      if (++calls <= 5) all_inside.count_down();
      co_await all_inside.wait();
    };
    co_await walk(folder.path(), wait_for_others, options);
    EXPECT_GE(calls, 5);
  });
}

TEST(walk, depth_and_a_question_limit_what_is_entered) {
  const temporary_folder folder(temporary_folder::in_memory());
  make_tree(folder.path(), 2, 3, 1);
  on_every_home([&]() -> task<void> {
    std::atomic<unsigned> deepest{0};
    const auto look = [&](const walk_batch& found) {
      for (const walk_entry entry : found) {
        unsigned before = deepest;
        while (before < entry.depth() && !deepest.compare_exchange_weak(before, entry.depth())) {}
      }
    };
    walk_options flat;
    flat.max_depth = 1;
    EXPECT_EQ((co_await walk(folder.path(), look, flat)).entries, 3U);
    EXPECT_EQ(deepest, 1U);
    walk_options two;
    two.max_depth = 2;
    EXPECT_EQ((co_await walk(folder.path(), look, two)).entries, 3U + 2 * 3);
    EXPECT_EQ(deepest, 2U);
    walk_options chosen;
    chosen.enters = [](const walk_entry& entry) { return entry.name() == "0"; };
    EXPECT_EQ((co_await walk(folder.path(), look, chosen)).entries, 3U + 3 + 3 + 1);
  });
}

TEST(walk, status_is_told_where_it_is_asked_for) {
  const temporary_folder folder(temporary_folder::in_memory());
  make_tree(folder.path(), 3, 2, 2);
  on_every_home([&]() -> task<void> {
    walk_options options;
    options.with_status = true;
    std::atomic<std::uint64_t> bytes{0};
    co_await walk(
        folder.path(),
        [&](const walk_batch& found) {
          for (const walk_entry entry : found) {
            EXPECT_NE(entry.status(), nullptr);
            EXPECT_EQ(entry.status()->kind, entry.kind());
            if (entry.kind() == file_kind::regular) bytes += entry.status()->size;
          }
        },
        options);
    EXPECT_EQ(bytes, 4U * 2 * (1 + 3 + 9));
    co_await walk(folder.path(), [](const walk_batch& found) {
      for (const walk_entry entry : found) EXPECT_EQ(entry.status(), nullptr);
    });
  });
}

TEST(walk, a_visitor_may_wait_and_what_it_throws_ends_the_walk) {
  const temporary_folder folder(temporary_folder::in_memory());
  make_tree(folder.path(), 4, 3, 2);
  on_every_home([&]() -> task<void> {
    walk_options options;
    options.batch_entries = 4;
    std::atomic<std::uint64_t> entries{0};
    const auto slow = [&](const walk_batch& found) -> task<void> {
      co_await tandem::yield();
      entries += found.size();
    };
    const walk_summary summary = co_await walk(folder.path(), slow, options);
    EXPECT_EQ(summary.entries, entries);
    const auto failing = [&](const walk_batch&) { throw std::runtime_error("enough"); };
    const auto failed = co_await as_result(walk(folder.path(), failing, options));
    EXPECT_FALSE(failed);
  });
}

TEST(walk, a_stop_ends_it) {
  const temporary_folder folder(temporary_folder::in_memory());
  make_tree(folder.path(), 4, 3, 2);
  on_every_home([&]() -> task<void> {
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      walk_options options;
      options.batch_entries = 1;
      const auto stop = [&](const walk_batch&) { scope.request_stop(); };
      const auto walked = co_await as_result(walk(folder.path(), stop, options));
      EXPECT_TRUE(walked.is_cancelled());
    });
  });
}

TEST(walk, the_root_has_to_be_there_and_options_have_to_make_sense) {
  const temporary_folder folder(temporary_folder::in_memory());
  on_every_home([&]() -> task<void> {
    const auto nothing = [](const walk_batch&) {};
    walk_options options;
    options.on_unreadable = [](const std::string&, std::error_code) { ADD_FAILURE(); };
    const auto missing = co_await as_result(walk(folder / "none", nothing, options));
    EXPECT_EQ(missing.error(), std::errc::no_such_file_or_directory);
    directory none;
    EXPECT_EQ((co_await as_result(walk(none, nothing))).error(), std::errc::bad_file_descriptor);
    options.batch_entries = 0;
    bool is_refused = false;
    try {
      (void)co_await walk(folder.path(), nothing, options);
    } catch (const std::invalid_argument&) {
      is_refused = true;
    }
    EXPECT_TRUE(is_refused);
  });
}

}  // namespace
