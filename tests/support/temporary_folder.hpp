// temporary_folder.hpp: a folder of a test's own, and whole files without tandem.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem::test {

/// Empty when it is made, gone when it ends. Below TMPDIR, else /var/tmp, which is on a disk where
/// /tmp often is not; where there is neither, in the system's own place.
class temporary_folder {
 public:
  temporary_folder() : temporary_folder(usual_place()) {}
  explicit temporary_folder(const std::filesystem::path& beside) {
    std::random_device random;
    do {
      path_ = (beside / ("tandem-test-" + std::to_string(random()))).string();
    } while (std::filesystem::exists(path_));
    if (!std::filesystem::create_directory(path_)) ADD_FAILURE() << "no folder " << path_;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() { std::filesystem::remove_all(path_); }

  const std::string& path() const noexcept { return path_; }
  /// For many small files, which a disk would take its time for; else as usual.
  static std::filesystem::path in_memory() {
    const std::filesystem::path memory = "/dev/shm";
    return std::filesystem::is_directory(memory) ? memory : usual_place();
  }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  /// What is in it.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& each : std::filesystem::directory_iterator(path_)) {
      out.push_back(each.path().filename().string());
    }
    return out;
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_),
                                                  std::filesystem::directory_iterator()));
  }

 private:
  static std::filesystem::path usual_place() {
    const char* const given = std::getenv("TMPDIR");
    const std::filesystem::path place = given != nullptr ? given : "/var/tmp";
    return std::filesystem::is_directory(place) ? place : std::filesystem::temp_directory_path();
  }

  std::string path_;
};

inline void put(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),  // NOLINT
            static_cast<std::streamsize>(bytes.size()));
  EXPECT_TRUE(out.good()) << path;
}

inline std::string get(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::move(std::ostringstream() << in.rdbuf()).str();
}

}  // namespace tandem::test
