// file_system.cpp: what tests ask of Linux about files and processes.
// SPDX-License-Identifier: MIT
#include "file_system.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace tandem::test {

void drop_from_cache(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(::fsync(descriptor), 0);
  EXPECT_EQ(::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED), 0);
  ::close(descriptor);
}

void drop_part_from_cache(any_handle file, std::uint64_t at, std::size_t bytes) {
  (void)::posix_fadvise(static_cast<int>(file), static_cast<off_t>(at), static_cast<off_t>(bytes),
                        POSIX_FADV_DONTNEED);
}

bool take_away(const std::string& path) { return ::unlink(path.c_str()) == 0; }

void put_zeros(const std::string& path, std::uint64_t bytes) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  EXPECT_EQ(::ftruncate(descriptor, static_cast<off_t>(bytes)), 0);
  ::close(descriptor);
}

std::uint64_t number_of_file(const std::string& path) {
  struct ::stat found{};
  return ::stat(path.c_str(), &found) == 0 ? found.st_ino : 0;
}

bool is_inherited(any_handle handle) {
  return (::fcntl(static_cast<int>(handle), F_GETFD) & FD_CLOEXEC) == 0;
}
void let_inherit(any_handle handle) { EXPECT_EQ(::fcntl(static_cast<int>(handle), F_SETFD, 0), 0); }

child_process::child_process(const std::string& filter) {
  std::string self = "/proc/self/exe";
  std::string argument = "--gtest_filter=" + filter;
  const std::array<char*, 3> arguments{self.data(), argument.data(), nullptr};
  pid_t made = 0;
  EXPECT_EQ(::posix_spawn(&made, self.c_str(), nullptr, nullptr, arguments.data(), environ), 0);
  process_ = made;
}
child_process::~child_process() {
  if (process_ != 0) kill();
}
bool child_process::kill() {
  const auto number = static_cast<pid_t>(process_);
  process_ = 0;
  ::kill(number, SIGKILL);
  int status = 0;
  return ::waitpid(number, &status, 0) == number && WIFSIGNALED(status);
}

}  // namespace tandem::test
