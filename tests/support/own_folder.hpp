// own_folder.hpp: a folder of a test's own, and what is in its files.
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace tandem::test {

/// Empty at first; gone in the end.
class own_folder {
 public:
  explicit own_folder(const char* name) : path_(std::filesystem::temp_directory_path() / name) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  own_folder(const own_folder&) = delete;
  own_folder& operator=(const own_folder&) = delete;
  ~own_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const char* name) const { return (path_ / name).string(); }
  /// What is in it, by name.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& each : std::filesystem::directory_iterator(path_)) {
      out.push_back(each.path().filename().string());
    }
    return out;
  }

 private:
  std::filesystem::path path_;
};

inline std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace tandem::test
