// file_copy.cpp: copies a file, 8 blocks in flight. file_copy [--direct] FROM TO; without arguments it tests itself.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <tandem/io/file.hpp>
#include <tandem/io/read_file.hpp>
#include <tandem/io/write_file.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>

namespace io = tandem::io;
constexpr std::size_t block_bytes = std::size_t{256} << 10;
struct copying {
  io::file from, to;
  std::uint64_t size = 0;
  std::atomic<std::uint64_t> next = 0, done = 0;  // what nobody has taken yet; what is copied
};

// Takes one block after the other. What is all zeros stays a hole; what is too much is cut off
// later.
tandem::task<void> copy_blocks(copying& job) {
  io::aligned_buffer block(block_bytes, job.from.direct_io_alignment());
  for (std::uint64_t at = 0; (at = job.next.fetch_add(block_bytes)) < job.size;) {
    const std::size_t got = co_await job.from.read_at(block.bytes(), at);
    std::ranges::fill(block.bytes().subspan(got), std::byte{0});
    if (std::ranges::any_of(block.bytes(), [](std::byte b) { return b != std::byte{0}; }))
      co_await job.to.write_all_at(block.bytes(), at);
    job.done += std::min<std::uint64_t>(block_bytes, job.size - at);
  }
}

tandem::task<void> show_progress(const copying& job) {
  for (std::uint64_t done = 0; done < job.size;) {
    co_await tandem::sleep_for(std::chrono::milliseconds(50));
    done = job.done;
    std::cerr << "\r[" << std::string(40 * done / job.size, '#') << "] " << done << " bytes";
  }
}

tandem::task<void> copy_file(std::string from, std::string to, bool direct) {
  copying job;
  auto reads = io::open_options(), writes = io::open_options::overwrite();
  reads.direct = writes.direct = direct;
  job.from = co_await io::file::open(from, reads);
  job.to = co_await io::file::open(to, writes);
  job.size = (co_await job.from.status()).size;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(show_progress(job));
    for (int i = 0; i < 8; ++i) scope.spawn(copy_blocks(job));
    co_return;
  });
  co_await job.to.truncate(job.size);
  co_await job.to.sync();
  std::cerr << '\n';
}

tandem::task<bool> test_itself(std::string folder) {
  std::string text(3'000'001, '\0');
  text[300'000] = text[2'000'000] = text.back() = 'x';
  co_await io::write_file(folder + "/from", text);
  co_await copy_file(folder + "/from", folder + "/to", false);
  co_return co_await io::read_file(folder + "/to") == text;
}

int main(int argc, char** argv) {
  const bool direct = argc > 1 && std::string(argv[1]) == "--direct";
  if (argc == (direct ? 4 : 3)) {
    tandem::run(copy_file(argv[argc - 2], argv[argc - 1], direct));
    return 0;
  }
  const std::string name = "file_copy-" + std::to_string(std::random_device()());
  const std::string folder = (std::filesystem::temp_directory_path() / name).string();
  if (argc != 1 || !std::filesystem::create_directory(folder)) return 2;
  const bool same = tandem::run(test_itself(folder));
  std::filesystem::remove_all(folder);
  return same ? 0 : 1;
}
