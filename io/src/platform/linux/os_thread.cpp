// os_thread.cpp: a thread's number, and what /proc says of it.
// SPDX-License-Identifier: MIT
#include "platform/os_thread.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>

namespace tandem::inline v0::io::platform {

int number_of_this_thread() noexcept { return ::gettid(); }

bool is_blocked(int number) noexcept {
  std::array<char, 64> path;
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/stat", number);
  const int file = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 128> text;
  const ssize_t read = ::read(file, text.data(), text.size());
  ::close(file);
  // "NUMBER (NAME) STATE ...", where the name may hold anything.
  const std::string_view line(text.data(), read > 0 ? static_cast<std::size_t>(read) : 0);
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 2 >= line.size()) return false;
  return line[name_end + 2] != 'R';
}

}  // namespace tandem::inline v0::io::platform
