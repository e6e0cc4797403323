// direct_support.hpp: a file that is read and written past the page cache, where it can be.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/file.hpp>
#include <tandem/task.hpp>
#include <utility>

#include "file_system.hpp"

namespace tandem::test {

/// On a file system without direct transfers not direct, and out of the cache.
inline task<io::file> open_past_cache(std::string path, io::open_mode mode = io::open_mode::read) {
  io::open_options options(mode);
  options.direct = true;
  auto opened = co_await as_result(io::file::open(path, options));
  if (opened || opened.error() != std::errc::invalid_argument) co_return std::move(opened).value();
  drop_from_cache(path);
  options.direct = false;
  co_return co_await io::file::open(path, options);
}

inline bool are_equal(const std::byte* left, std::span<const std::byte> right) {
  return std::memcmp(left, right.data(), right.size()) == 0;
}

}  // namespace tandem::test
