// disk_usage.cpp: what takes the most room in a folder. disk_usage [FOLDER]; without one it tests itself.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <tandem/io/file_operations.hpp>
#include <tandem/io/temporary.hpp>
#include <tandem/io/walk.hpp>
#include <tandem/io/write_file.hpp>
#include <tandem/run.hpp>
#include <vector>

namespace io = tandem::io;
using sizes = std::map<std::string, std::uint64_t>;

// What is in the folder itself, each with all that is beneath it; the visitor is called by several
// tasks at once.
tandem::task<sizes> usage_of(std::string root) {
  io::walk_options options;
  options.with_status = true;
  options.on_unreadable = [](const std::string& path, std::error_code why) {
    std::cerr << path + ": " + why.message() + '\n';
  };
  sizes bytes;
  std::mutex lock;
  const auto add_up = [&](const io::walk_batch& found) {
    const std::lock_guard guard(lock);
    for (const io::walk_entry entry : found) {
      const std::string below = entry.path().substr(root.size() + (root == "/" ? 0 : 1));
      const auto* const status = entry.status();
      bytes[below.substr(0, below.find('/'))] += status != nullptr ? status->allocated_bytes : 0;
    }
  };
  const io::walk_summary met = co_await io::walk(root, add_up, options);
  std::cout << met.entries << " entries in " << met.directories << " directories\n";
  co_return bytes;
}

tandem::task<void> print_usage(std::string root) {
  const sizes bytes = co_await usage_of(std::move(root));
  std::vector<std::pair<std::string, std::uint64_t>> largest(bytes.begin(), bytes.end());
  std::ranges::sort(largest, [](const auto& a, const auto& b) { return a.second > b.second; });
  largest.resize(std::min<std::size_t>(largest.size(), 20));
  for (const auto& [name, size] : largest) std::cout << (size >> 10) << " KiB  " << name << '\n';
}

// A folder of a known size, which is gone afterwards.
tandem::task<bool> test() {
  co_return co_await io::with_temporary_directory(
      [](io::temporary_directory& scratch) -> tandem::task<bool> {
        co_await scratch.folder().make_directories("large/deep");
        co_await scratch.folder().make_directory("small");
        const std::string text(100'000, 'x');
        co_await io::write_file(scratch.path() + "/large/deep/a", text);
        co_await io::write_file(scratch.path() + "/large/b", text);
        co_await io::write_file(scratch.path() + "/small/c", std::string_view(text).substr(0, 10));
        co_await print_usage(scratch.path());
        sizes found = co_await usage_of(scratch.path());
        co_return found.size() == 2 && found["large"] >= 200'000 && found["small"] < 100'000;
      });
}

int main(int argc, char** argv) {
  try {
    if (argc < 2) return tandem::run(test()) ? 0 : 1;
    std::string root = argv[1];
    while (root.size() > 1 && root.ends_with('/')) root.pop_back();
    tandem::run(print_usage(root));
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
