// walks.cpp: suite io: a walk of a million files in memory, beside find.
// SPDX-License-Identifier: MIT
//
// Each sample makes its tree, below TANDEM_BENCH_TREE, else /dev/shm, and removes it. find is asked
// for nothing (-false): so neither side writes names.
#include "io/walks.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <tandem/io/file_operations.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/walk.hpp>
#include <tandem/sync_wait.hpp>
#include <vector>

namespace tandem::bench {

namespace {

using clock = std::chrono::steady_clock;

constexpr int folders = 1000;
constexpr int files_each = 1000;
constexpr std::uint64_t all_entries = std::uint64_t{folders} * (files_each + 1);

double per_second(clock::time_point start) {
  return static_cast<double>(all_entries) /
         std::chrono::duration<double>(clock::now() - start).count();
}

/// Plain calls: it is the walk that is measured.
void fill(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0) throw std::runtime_error("cannot make " + folder);
  for (int i = 0; i < files_each; ++i) {
    const std::string path = folder + "/some file " + std::to_string(i);
    const int made = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (made < 0) throw std::runtime_error("cannot make " + path);
    ::close(made);
  }
}

class tree {
 public:
  tree() {
    const char* const given = std::getenv("TANDEM_BENCH_TREE");
    path_ = (given != nullptr ? given : "/dev/shm") + std::string("/tandem-bench-") +
            std::to_string(::getpid());
    if (::mkdir(path_.c_str(), 0700) != 0) throw std::runtime_error("cannot make " + path_);
    for (int i = 0; i < folders; ++i) fill(path_ + "/" + std::to_string(i));
  }
  tree(const tree&) = delete;
  tree& operator=(const tree&) = delete;
  ~tree() {
    runtime rt;
    sync_wait(rt.workers(), [](std::string path) -> task<void> {
      (void)co_await io::remove_tree(std::move(path));
    }(path_));
  }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

task<std::uint64_t> count_files(std::string root, unsigned threads) {
  io::walk_options options;
  options.threads = threads;
  std::atomic<std::uint64_t> files{0};
  const auto count = [&](const io::walk_batch& found) {
    std::uint64_t some = 0;
    for (const io::walk_entry entry : found) {
      some += entry.kind() == io::file_kind::regular ? 1 : 0;
    }
    files += some;
  };
  (void)co_await io::walk(std::move(root), count, options);
  co_return files.load();
}

double walked(int threads) {
  const tree given;
  runtime_options options;
  options.min_threads = static_cast<unsigned>(threads);
  runtime rt(options);
  io::install(rt);
  const auto start = clock::now();
  const std::uint64_t files =
      sync_wait(rt.workers(), count_files(given.path(), static_cast<unsigned>(threads)));
  const double rate = per_second(start);
  if (files != std::uint64_t{folders} * files_each) throw std::runtime_error("a wrong count");
  return rate;
}

double found() {
  const tree given;
  const char* const argv[] = {"find", given.path().c_str(), "-false", nullptr};
  pid_t child = 0;
  const auto start = clock::now();
  if (::posix_spawnp(&child, "find", nullptr, nullptr, const_cast<char**>(argv),  // NOLINT
                     environ) != 0) {
    throw std::runtime_error("no find");
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  const double rate = per_second(start);
  if (status != 0) throw std::runtime_error("find has failed");
  return rate;
}

}  // namespace

std::vector<bench_case> walk_cases() {
  const char* const what = "1,000 directories of 1,000 files on tmpfs";
  return {
      {"walk_1m", "tandem", "self", "entries/s", "higher", what, {1, 2}, &walked},
      {"walk_1m", "find", "peer", "entries/s", "higher", what, {2}, [](int) { return found(); }},
  };
}

}  // namespace tandem::bench
