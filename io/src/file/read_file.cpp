// read_file.cpp: reading until the end.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <tandem/io/file.hpp>
#include <tandem/io/read_file.hpp>

#include "platform/files.hpp"

namespace tandem::inline v0::io {

namespace {

template <class Contents>
task<Contents> read_all(std::string path) {
  constexpr std::size_t least = 4096;
  file source = co_await file::open(std::move(path));
  Contents all;
  // One more than its size: then the first read meets the end.
  all.resize(std::max(least, platform::size_hint(source.native_handle()) + 1));
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
