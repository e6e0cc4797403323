// file_body.cpp: finding files below a root, and reading them through tandem::io::file.
// SPDX-License-Identifier: MIT
#include "file_body.hpp"

#include <algorithm>
#include <tandem/as_result.hpp>
#include <tandem/blocking.hpp>
#include <utility>

namespace files {

namespace {

// Where symbolic links have been followed: still below the root, component by component.
bool is_below(const std::filesystem::path& root, const std::filesystem::path& path) {
  return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
}

}  // namespace

tandem::task<void> file_body::read(std::uint64_t offset, std::span<std::byte> out) {
  // What the page cache has costs a system call; the rest waits for the ring.
  co_await file_.read_exactly_at(out, offset);
}

tandem::task<file_body> open_below(const std::filesystem::path& root, std::string relative) {
  file_body result;
  std::filesystem::path path;
  const auto find = [&] {
    std::error_code error;
    path = std::filesystem::canonical(root / relative, error);
    return !error && is_below(root, path) && std::filesystem::is_regular_file(path, error);
  };
  if (!co_await tandem::blocking(find)) co_return result;
  auto opened = co_await tandem::as_result(tandem::io::file::open(path.string()));
  if (!opened) co_return result;
  tandem::io::file file = std::move(opened).value();
  const tandem::io::file_status status = co_await file.status();
  result.size_ = status.size;
  result.tag_ = '"' + std::to_string(status.size) + '-' +
                std::to_string(status.modified.time_since_epoch().count()) + '"';
  result.file_ = std::move(file);
  co_return result;
}

}  // namespace files
