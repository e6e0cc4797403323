// processes.cpp: what starting and watching processes takes on every Unix.
// SPDX-License-Identifier: MIT
#include "platform/processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

extern "C" char** environ;  // NOLINT: POSIX

namespace tandem::inline v0::io::platform {

int signal_of(ending how) noexcept { return how == ending::kill ? SIGKILL : SIGTERM; }

int own_id() noexcept { return ::getpid(); }

const char* const* own_environment() noexcept {
  static const char* const none[] = {nullptr};
  return environ != nullptr ? environ : none;
}

result<native_descriptor> open_for_child(const process_stdio& what) noexcept {
  using kind = process_stdio::kind;
  int flags = O_CLOEXEC | O_NOCTTY;
  const char* path = what.path().c_str();
  switch (what.what()) {
    case kind::null:
      path = "/dev/null";
      flags |= O_RDWR;
      break;
    case kind::write: flags |= O_WRONLY | O_CREAT | O_TRUNC; break;
    case kind::append: flags |= O_WRONLY | O_CREAT | O_APPEND; break;
    default: flags |= O_RDONLY; break;
  }
  constexpr mode_t permissions = 0666;
  int opened = no_descriptor;
  do {
    opened = ::open(path, flags, permissions);
  } while (opened < 0 && errno == EINTR);
  if (opened < 0) return std::error_code(errno, std::generic_category());
  return opened;
}

bool is_inherited(native_descriptor descriptor) noexcept {
  const int flags = ::fcntl(descriptor, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

void wait_for_any(std::span<const native_descriptor> ends,
                  std::chrono::milliseconds limit) noexcept {
  // More than these are looked at in turn: each time the first that fit, and soon the next.
  std::array<pollfd, 512> asked;
  const std::size_t count = std::min(ends.size(), asked.size());
  for (std::size_t i = 0; i < count; ++i) asked[i] = pollfd{ends[i], POLLIN, 0};
  constexpr std::chrono::milliseconds soon{100};
  constexpr std::chrono::milliseconds an_hour{3'600'000};
  if (count < ends.size() && (limit.count() < 0 || limit > soon)) limit = soon;
  const int until = limit.count() < 0 ? -1 : static_cast<int>(std::min(limit, an_hour).count());
  (void)::poll(asked.data(), static_cast<nfds_t>(count), until);
}

void write_byte(native_descriptor writer) noexcept {
  const char byte = 1;
  (void)!::write(writer, &byte, 1);  // one that is full is readable already
}

void drain(native_descriptor reader) noexcept {
  std::array<char, 64> room;
  while (::read(reader, room.data(), room.size()) > 0) {}
}

}  // namespace tandem::inline v0::io::platform
