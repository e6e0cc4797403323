// directory_cases.cpp: the rows of paths, directories, locks and temporary files.
// SPDX-License-Identifier: MIT
//
// As of files: each takes its time, which may be none. What is done can be done again, and by
// several at once.
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <tandem/io/file_lock.hpp>
#include <tandem/io/file_operations.hpp>
#include <tandem/io/temporary.hpp>
#include <tandem/io/walk.hpp>

#include "io/support/file_support.hpp"
#include "io_case.hpp"

namespace tandem::registry {
namespace io_rows {

/// A folder with a file in it; a case that fails looks for what is not there.
class path_case : public io_case {
 public:
  static constexpr bool self_completing = true;
  static constexpr on_stop during = on_stop::may_end;

  task<void> begin() {
    if (!std::filesystem::exists(shared() / "f")) test::put(shared() / "f", {});
    co_return;
  }
  using io_case::took;

 protected:
  static const test::temporary_folder& shared() {
    static const test::temporary_folder made;
    return made;
  }
  std::string path() const { return fails_ ? shared() / "none/f" : shared() / "f"; }
  std::string folder() const { return fails_ ? shared() / "none" : shared().path(); }
};

class set_permissions_case : public path_case {
 public:
  static constexpr std::string_view name = "set_permissions";
  using awaiters = covers<io::path_command_awaiter>;

  auto make() { return io::set_permissions(path(), 0600); }
};

class rename_case : public path_case {
 public:
  static constexpr std::string_view name = "rename_file";
  using awaiters = covers<io::path_pair_awaiter>;

  auto make() { return io::rename_file(path(), path()); }
};

class status_of_case : public path_case {
 public:
  static constexpr std::string_view name = "status_of";
  using awaiters = covers<io::path_status_awaiter>;

  auto make() { return io::status_of(path()); }
  ended took(const io::file_status& found) {
    EXPECT_EQ(found.kind, io::file_kind::regular);
    return ended::returned;
  }
};

class open_directory_case : public path_case {
 public:
  static constexpr std::string_view name = "directory::open";
  using awaiters = covers<io::directory_open_awaiter>;

  auto make() { return io::directory::open(folder()); }
  ended took(const io::directory& opened) {
    EXPECT_TRUE(opened.is_open());
    return ended::returned;
  }
};

/// The first entry of a directory, each time of a new reader.
class list_case : public path_case {
 public:
  static constexpr std::string_view name = "directory_reader::next";
  using awaiters = covers<io::directory_read_awaiter>;
  static constexpr row cells = every_column.without(
      column::contended, "a reader is for one task at a time, and its entries are there at once");

  auto make() { return reader_.emplace(io::list_directory(folder())).next(); }
  ended took(const std::optional<io::directory_entry>& entry) {
    EXPECT_TRUE(entry);
    return ended::returned;
  }

 private:
  std::optional<io::directory_reader> reader_;
};

class remove_tree_case : public path_case {
 public:
  static constexpr std::string_view name = "remove_tree";
  using awaiters = covers<io::remove_tree_awaiter>;

  // What is not there is removed already; what cannot be a tree is refused.
  auto make() { return io::remove_tree(fails_ ? "." : shared() / "none"); }
  ended took(std::uint64_t removed) {
    EXPECT_EQ(removed, 0U);
    return ended::returned;
  }
};

class make_directories_case : public path_case {
 public:
  static constexpr std::string_view name = "make_directories";
  using awaiters = covers<task<void>::awaiter>;

  task<void> make() { return io::make_directories(fails_ ? shared() / "f/d" : shared() / "a/b"); }
};

class walk_case : public path_case {
 public:
  static constexpr std::string_view name = "walk";

  task<io::walk_summary> make() {
    return io::walk(folder(), [](const io::walk_batch&) {});
  }
  ended took(const io::walk_summary& met) {
    EXPECT_GE(met.entries, 1U);
    return ended::returned;
  }
};

/// A shared lock, so that several have it at once.
class locking_case : public path_case {
 public:
  task<void> begin() {
    co_await path_case::begin();
    file_ = co_await io::file::open(path());
  }
  task<void> end() {
    file_.close();
    co_return;
  }

 protected:
  io::file& used() { return fails_ ? closed_ : file_; }

 private:
  io::file file_;
  io::file closed_;
};

class lock_case : public locking_case {
 public:
  static constexpr std::string_view name = "lock_file";

  task<io::file_lock> make() { return io::lock_file(used(), io::lock_mode::shared); }
  ended took(const io::file_lock& held) {
    EXPECT_TRUE(held);
    return ended::returned;
  }
};

class try_lock_case : public locking_case {
 public:
  static constexpr std::string_view name = "try_lock_file";

  task<std::optional<io::file_lock>> make() {
    return io::try_lock_file(used(), io::lock_mode::shared);
  }
  ended took(const std::optional<io::file_lock>& held) {
    EXPECT_TRUE(held);
    return ended::returned;
  }
};

class temporary_file_case : public path_case {
 public:
  static constexpr std::string_view name = "open_temporary_file";

  task<io::file> make() { return io::open_temporary_file(folder()); }
  ended took(const io::file& opened) {
    EXPECT_TRUE(opened.is_open());
    return ended::returned;
  }
};

class temporary_directory_case : public path_case {
 public:
  static constexpr std::string_view name = "with_temporary_directory";

  task<int> make() {
    return io::with_temporary_directory(
        [](io::temporary_directory& scratch) -> task<int> {
          co_await scratch.folder().make_directory("d");
          co_return 7;
        },
        folder());
  }
  ended took(int value) {
    EXPECT_EQ(value, 7);
    return ended::returned;
  }
};

using directory_rows =
    ::testing::Types<set_permissions_case, rename_case, status_of_case, open_directory_case,
                     list_case, remove_tree_case, make_directories_case, walk_case, lock_case,
                     try_lock_case, temporary_file_case, temporary_directory_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(directories, awaitable, directory_rows, case_names);

}  // namespace io_rows
}  // namespace tandem::registry
