// beneath_tree.hpp: a folder, what lies beside it, and paths that stay in it or lead out.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <tandem/io/file.hpp>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"

namespace tandem::test {

/// root/ with hello and sub/page; beside it what nobody is to see.
class beneath_tree {
 public:
  beneath_tree() {
    std::filesystem::create_directories(root + "/sub/deep");
    std::filesystem::create_directory(folder / "other");
    for (const char* inside : {"/hello", "/sub/page"}) put(root + inside, bytes_of("inside"));
    for (const char* outside : {"secret", "other/page", "page"}) {
      put(folder / outside, bytes_of("secret"));
    }
  }

  const temporary_folder folder;
  const std::string root = folder / "root";
};

/// Paths without links, and how opening them fails, if it does.
inline std::vector<std::pair<std::string, std::errc>> paths_beneath() {
  using std::errc;
  constexpr errc none{};
  return {
      {"hello", none},
      {"sub/page", none},
      {"./sub//./page", none},
      {"sub/../hello", none},
      {"sub/deep/../page", none},
      {"", errc::no_such_file_or_directory},
      {"missing", errc::no_such_file_or_directory},
      {"missing/x", errc::no_such_file_or_directory},
      {"hello/x", errc::not_a_directory},
      {"hello/", errc::not_a_directory},
      {"hello/..", errc::not_a_directory},
      {std::string("hello\0x", 7), errc::invalid_argument},
      {"/", errc::cross_device_link},
      {"/hello", errc::cross_device_link},
      {"..", errc::cross_device_link},
      {"../root/hello", errc::cross_device_link},
      {"sub/../../secret", errc::cross_device_link},
      {"sub/../..", errc::cross_device_link},
      {"../secret", errc::cross_device_link},
  };
}

inline task<std::string> text_of(io::file& source) {
  std::array<std::byte, 64> room;
  const std::size_t n = co_await source.read_at(room, 0);
  co_return std::string(reinterpret_cast<const char*>(room.data()), n);
}

}  // namespace tandem::test
