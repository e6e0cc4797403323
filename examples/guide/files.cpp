// files.cpp: whole files, and parts of a large one, several at once.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/read_file.hpp>
#include <tandem/io/write_file.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

namespace io = tandem::io;
using tandem::task;

// All of it or nothing: whoever reads the file meanwhile sees the old text or the new one.
task<void> save(std::string path, std::string text) { co_await io::write_file(path, text); }

// How often a byte is in the file: four tasks read blocks, each where the others have not been.
task<long> count(std::string path, char wanted) {
  auto file = co_await io::file::open(path);
  const std::uint64_t size = (co_await file.status()).size;
  constexpr std::size_t block_bytes = std::size_t{64} << 10;
  std::atomic<std::uint64_t> next = 0;
  std::atomic<long> found = 0;
  const auto read_blocks = [&]() -> task<void> {
    std::vector<std::byte> block(block_bytes);
    for (std::uint64_t at = 0; (at = next.fetch_add(block_bytes)) < size;) {
      const std::size_t got = co_await file.read_at(block, at);
      const auto end = block.begin() + static_cast<std::ptrdiff_t>(got);
      const auto here = std::count(block.begin(), end, static_cast<std::byte>(wanted));
      found += static_cast<long>(here);
    }
  };
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    for (int i = 0; i < 4; ++i) scope.spawn(read_blocks);
    co_return;
  });
  co_return found;
}

// Appended lines go to the disk before sync() returns.
task<void> log_line(std::string path, std::string line) {
  auto log = co_await io::file::open(path, io::open_options::append_to());
  co_await log.append(io::bytes_of(line + "\n"));
  co_await log.sync();
}

task<int> all_of_them(std::string folder) {
  std::string text(1'000'000, '.');
  for (std::size_t at = 0; at < text.size(); at += 1000) text[at] = 'x';
  co_await save(folder + "/text", text);
  const bool same = co_await io::read_file(folder + "/text") == text;
  const long found = co_await count(folder + "/text", 'x');
  co_await log_line(folder + "/log", "one");
  co_await log_line(folder + "/log", "two");
  const std::string log = co_await io::read_file(folder + "/log");
  std::printf("%ld times, and a log of %zu bytes\n", found, log.size());
  co_return same&& found == 1000 && log == "one\ntwo\n" ? 0 : 1;
}

int main() {
  const std::string name = "guide-" + std::to_string(std::random_device()());
  const std::string folder = (std::filesystem::temp_directory_path() / name).string();
  if (!std::filesystem::create_directory(folder)) return 2;
  const int status = tandem::run(all_of_them(folder));
  std::filesystem::remove_all(folder);
  return status;
}
