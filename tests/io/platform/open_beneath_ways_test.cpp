// open_beneath_ways_test.cpp: paths that others have chosen do not lead out of a folder, with openat2() and without.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/blocking.hpp>
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
using tandem::io::open_mode;
using tandem::io::open_options;
using tandem::test::beneath_tree;
using tandem::test::bytes_of;
using tandem::test::get;
using tandem::test::on_every_home;
using tandem::test::paths_beneath;
using tandem::test::text_of;

constexpr errc none{};

/// From here on openat2() fails with this error number on this thread and on those that it starts.
bool hide_openat2(int error) {
  const unsigned answer = SECCOMP_RET_ERRNO | (static_cast<unsigned>(error) & SECCOMP_RET_DATA);
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

int error_of_openat2() {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  const long answer = ::syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how);
  if (answer < 0) return errno;
  ::close(static_cast<int>(answer));
  return 0;
}

/// As the kernel does it, and where the call is missing, or a filter refuses it: a filter is the
/// thread's and its children's, so each way has a runtime of its own.
template <class Body>
void each_way(Body body) {
  for (const int hidden : {0, ENOSYS, EPERM}) {
    std::thread([&] {
      SCOPED_TRACE("openat2: error " + std::to_string(hidden));
      if (hidden != 0 && !hide_openat2(hidden)) {
        ADD_FAILURE() << "no seccomp filter: error " << errno;
        return;
      }
      on_every_home([&]() -> task<void> {
        const int error = co_await tandem::blocking(&error_of_openat2);
        if (hidden != 0) {
          EXPECT_EQ(error, hidden);
        }
        co_await body();
      });
    }).join();
  }
}

/// With links, too.
class linked_tree : public beneath_tree {
 public:
  linked_tree() {
    const std::vector<std::pair<std::string, std::string>> links{
        {"hello", "inside"},      {"../hello", "sub/up"},        {"sub", "folder"},
        {"../secret", "outside"}, {"../../secret", "sub/out"},   {root + "/hello", "absolute"},
        {"sub/new", "dangling"},  {"folder/", "to_folder"},      {"loop", "loop"},
        {"..", "above"},          {"sub/../folder/up", "round"}, {"hello", "link0"},
    };
    for (const auto& [target, name] : links) link(target, name);
    for (int i = 1; i <= 40; ++i) {
      link("link" + std::to_string(i - 1), "link" + std::to_string(i));
    }
  }

 private:
  void link(const std::string& target, const std::string& name) const {
    std::filesystem::create_symlink(target, root + "/" + name);
  }
};

TEST(open_beneath, what_stays_in_the_folder_is_found_and_all_else_refused) {
  const linked_tree files;
  auto cases = paths_beneath();
  const std::vector<std::pair<std::string, errc>> by_links{
      {"inside", none},
      {"sub/up", none},
      {"folder/page", none},
      {"folder/../hello", none},
      {"to_folder/page", none},
      {"round", none},
      {"link39", none},
      {"dangling", errc::no_such_file_or_directory},
      {"inside/", errc::not_a_directory},
      {"loop", errc::too_many_symbolic_link_levels},
      {"loop/x", errc::too_many_symbolic_link_levels},
      {"link40", errc::too_many_symbolic_link_levels},
      {std::string(300, 'a'), errc::filename_too_long},
      {std::string(5000, '/'), errc::filename_too_long},
      {files.root + "/hello", errc::cross_device_link},
      {"absolute", errc::cross_device_link},
      {"outside", errc::cross_device_link},
      {"sub/out", errc::cross_device_link},
      {"above/secret", errc::cross_device_link},
      {"above", errc::cross_device_link},
  };
  cases.insert(cases.end(), by_links.begin(), by_links.end());
  each_way([&]() -> task<void> {
    file root = co_await file::open(files.root);
    for (const auto& [path, expected] : cases) {
      auto found = co_await as_result(root.open_beneath(path));
      EXPECT_EQ(found.error(), expected == none ? std::error_code() : make_error_code(expected))
          << path.substr(0, 40);
      if (found) {
        EXPECT_EQ(co_await text_of(found.value()), "inside") << path;
      }
    }
  });
}

TEST(open_beneath, the_folder_and_those_in_it_are_found_too) {
  const linked_tree files;
  each_way([&]() -> task<void> {
    file root = co_await file::open(files.root);
    for (const char* path :
         {".", "./", "sub/..", "sub", "sub/", "folder/", "to_folder", "sub/deep/.."}) {
      file found = co_await root.open_beneath(path);
      const tandem::io::file_status status = co_await found.status();
      EXPECT_EQ(status.kind, tandem::io::file_kind::directory) << path;
    }
  });
}

// What is behind them is no file beneath anything.
TEST(open_beneath, links_of_the_kernel_are_not_followed) {
  each_way([]() -> task<void> {
    file self = co_await file::open("/proc/self");
    for (const char* path : {"exe", "root/etc", "cwd", "fd/0"}) {
      EXPECT_FALSE(co_await as_result(self.open_beneath(path))) << path;
    }
  });
}

TEST(open_beneath, a_new_file_is_made_beneath_the_folder_only) {
  each_way([]() -> task<void> {
    const linked_tree files;
    file root = co_await file::open(files.root);
    open_options exclusive = open_options::overwrite();
    exclusive.exclusive = true;
    const std::vector<std::pair<std::string, errc>> cases{
        {"made", none},
        {"sub/made", none},
        {"dangling", errc::file_exists},
        {"hello", errc::file_exists},
        {"outside", errc::file_exists},
        {"missing/made", errc::no_such_file_or_directory},
        {"../made", errc::cross_device_link},
        {"above/made", errc::cross_device_link},
    };
    for (const auto& [path, expected] : cases) {
      auto made = co_await as_result(root.open_beneath(path, exclusive));
      EXPECT_EQ(made.error(), expected == none ? std::error_code() : make_error_code(expected))
          << path;
    }
    for (const char* path : {"made", "inside", "dangling"}) {
      file made = co_await root.open_beneath(path, open_options::overwrite());
      co_await made.write_all_at(bytes_of("new"), 0);
    }
    EXPECT_EQ(get(files.root + "/made"), "new");
    EXPECT_EQ(get(files.root + "/hello"), "new");
    EXPECT_EQ(get(files.root + "/sub/new"), "new");
    const auto outside =
        co_await as_result(root.open_beneath("outside", open_options::overwrite()));
    EXPECT_EQ(outside.error(), errc::cross_device_link);
    EXPECT_EQ(get(files.folder / "secret"), "secret");
    struct ::stat status{};
    open_options secret = open_options::overwrite();
    secret.permissions = 0600;
    (void)co_await root.open_beneath("private", secret);
    EXPECT_EQ(::stat((files.root + "/private").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0600U);
  });
}

// openat2() refuses what open() leaves out of account: a mode as stat() gives it.
TEST(open_beneath, permissions_may_come_with_the_kind_of_file_as_for_open) {
  each_way([]() -> task<void> {
    const linked_tree files;
    file root = co_await file::open(files.root);
    open_options copied = open_options::overwrite();
    copied.permissions = S_IFREG | 0640U;
    (void)co_await file::open(files.root + "/by_name", copied);
    auto made = co_await as_result(root.open_beneath("beneath", copied));
    EXPECT_EQ(made.error(), std::error_code());
    for (const char* name : {"/by_name", "/beneath"}) {
      struct ::stat status{};
      EXPECT_EQ(::stat((files.root + name).c_str(), &status), 0) << name;
      EXPECT_EQ(status.st_mode & 07777U, 0640U) << name;
    }
  });
}

TEST(open_beneath, failures_name_folder_and_path) {
  const linked_tree files;
  each_way([&]() -> task<void> {
    file root = co_await file::open(files.root);
    std::string said;
    try {
      (void)co_await root.open_beneath("outside");
    } catch (const std::system_error& failure) {
      said = failure.what();
    }
    EXPECT_NE(said.find("file::open_beneath \"" + files.root + "\": \"outside\""),
              std::string::npos)
        << said;
    file none_such;
    EXPECT_EQ((co_await as_result(none_such.open_beneath("hello"))).error(),
              errc::bad_file_descriptor);
    file no_folder = co_await file::open(files.root + "/hello");
    EXPECT_EQ((co_await as_result(no_folder.open_beneath("hello"))).error(), errc::not_a_directory);
  });
}

/// Puts links to the outside in the place of files and folders, and folders outside, and back.
class swapping {
 public:
  explicit swapping(const std::string& root) : thread_([this, root] { run(root); }) {}
  ~swapping() {
    over_ = true;
    thread_.join();
  }

 private:
  void run(const std::string& root) {
    const std::string spare = root + "/spare";
    const std::string place = root + "/place";
    const std::string folder = root + "/moving";
    const std::string deep = root + "/sub/deep";
    const auto move = [](const std::string& from, const std::string& to) {
      EXPECT_EQ(::rename(from.c_str(), to.c_str()), 0) << from;
    };
    while (!over_) {
      EXPECT_EQ(::link((root + "/hello").c_str(), spare.c_str()), 0);
      move(spare, place);
      EXPECT_EQ(::symlink("../secret", spare.c_str()), 0);
      move(spare, place);
      EXPECT_EQ(::symlink("inside", spare.c_str()), 0);
      move(spare, place);
      EXPECT_EQ(::symlink("sub", spare.c_str()), 0);
      move(spare, folder);
      EXPECT_EQ(::symlink("../other", spare.c_str()), 0);
      move(spare, folder);
      move(deep, root + "/../other/deep");
      move(root + "/../other/deep", deep);
    }
  }

  std::atomic<bool> over_{false};
  std::thread thread_;
};

TEST(open_beneath, whoever_exchanges_files_folders_and_links_meanwhile_does_not_lead_out) {
  const linked_tree files;
  each_way([&]() -> task<void> {
    file root = co_await file::open(files.root);
    const swapping at_work(files.root);
    // Until each was found, and not found, so often.
    for (const char* path : {"place", "moving/page", "sub/deep/../page"}) {
      int found = 0;
      int refused = 0;
      while (found < 30 || refused < 30) {
        auto opened = co_await as_result(root.open_beneath(path));
        if (!opened) {
          ++refused;
          continue;
        }
        ++found;
        const std::string text = co_await text_of(opened.value());
        EXPECT_EQ(text, "inside") << path;
        if (text != "inside") co_return;
      }
    }
  });
}

}  // namespace
