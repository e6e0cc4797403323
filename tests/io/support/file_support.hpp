// file_support.hpp: a folder of its own for a test, and files made without tandem.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace tandem::test {

/// Empty when it is made, gone when it ends. Below TMPDIR, else /var/tmp, which is on a disk where
/// /tmp often is not.
class temporary_folder {
 public:
  temporary_folder() {
    const char* const given = std::getenv("TMPDIR");
    path_ = std::string(given != nullptr ? given : "/var/tmp") + "/tandem-test-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no folder " << path_;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() { std::filesystem::remove_all(path_); }

  const std::string& path() const noexcept { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_),
                                                  std::filesystem::directory_iterator()));
  }

 private:
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

/// From now on what was written to it is read from the disk, as far as the system can.
inline void drop_from_cache(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(::fsync(descriptor), 0);
  EXPECT_EQ(::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED), 0);
  ::close(descriptor);
}

/// As long as it lives nobody else's open() of this file returns.
class lease {
 public:
  explicit lease(const std::string& path) : descriptor_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    before_ = std::signal(SIGIO, SIG_IGN);  // by which the system asks us to give it up
    is_held_ = ::fcntl(descriptor_, F_SETLEASE, F_WRLCK) == 0;
  }
  lease(const lease&) = delete;
  lease& operator=(const lease&) = delete;
  ~lease() {
    end();
    std::signal(SIGIO, before_);
  }
  bool is_held() const noexcept { return is_held_; }
  void end() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
  void (*before_)(int) = nullptr;
  bool is_held_ = false;
};

}  // namespace tandem::test
