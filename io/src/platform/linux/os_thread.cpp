// os_thread.cpp: a thread's number, its CPU clock, and /proc.
// SPDX-License-Identifier: MIT
#include "platform/os_thread.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>

namespace tandem::inline v0::io::platform {

int number_of_this_thread() noexcept { return ::gettid(); }

int cpu_clock_of_this_thread() noexcept {
  clockid_t clock = 0;
  return ::pthread_getcpuclockid(::pthread_self(), &clock) == 0 ? clock : 0;
}

std::chrono::nanoseconds cpu_time_of(int cpu_clock) noexcept {
  timespec used{};
  if (cpu_clock == 0 || ::clock_gettime(cpu_clock, &used) != 0) return {};
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

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
