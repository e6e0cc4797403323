// read_file.cpp: reading until the end.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <tandem/io/file.hpp>
#include <tandem/io/read_file.hpp>

namespace tandem::inline v0::io {

namespace {

/// What the system remembers, without asking a disk or a server.
std::size_t size_hint(const file& source) noexcept {
  struct ::statx known{};
  constexpr int without_waiting = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
  if (::statx(source.native_handle(), "", without_waiting, STATX_SIZE, &known) != 0) return 0;
  return static_cast<std::size_t>(known.stx_size);
}

template <class Contents>
task<Contents> read_all(std::string path) {
  constexpr std::size_t least = 4096;
  file source = co_await file::open(std::move(path));
  Contents all;
  // One more than its size: then the first read meets the end.
  all.resize(std::max(least, size_hint(source) + 1));
  std::size_t have = 0;
  while (true) {
    const auto room = std::as_writable_bytes(std::span(all)).subspan(have);
    const std::size_t count = co_await source.read_at(room, have);
    have += count;
    if (count < room.size()) break;
    all.resize(all.size() * 2);
  }
  all.resize(have);
  co_return std::move(all);
}

}  // namespace

task<std::string> read_file(std::string path) { return read_all<std::string>(std::move(path)); }

task<std::vector<std::byte>> read_file_bytes(std::string path) {
  return read_all<std::vector<std::byte>>(std::move(path));
}

}  // namespace tandem::inline v0::io
