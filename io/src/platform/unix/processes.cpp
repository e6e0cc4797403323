// processes.cpp: what starting and watching processes takes on every Unix.
// SPDX-License-Identifier: MIT
#include "platform/processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "platform/pipes.hpp"

extern "C" char** environ;  // NOLINT: POSIX

namespace tandem::inline v0::io::platform {

int signal_of(ending how) noexcept { return how == ending::kill ? SIGKILL : SIGTERM; }

int own_id() noexcept { return ::getpid(); }
bool at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept {
  return ::pthread_atfork(before, in_parent, in_child) == 0;
}

bool has_folder(std::string_view program) noexcept {
  return program.find('/') != std::string_view::npos;
}
search_words words_of_search() { return {':', '/', "/usr/local/bin:/bin:/usr/bin"}; }
bool is_same_variable(std::string_view one, std::string_view other) noexcept {
  return one == other;
}
environment_variables own_environment() {
  environment_variables made;
  if (environ == nullptr) return made;
  for (char** each = environ; *each != nullptr; ++each) made.all.push_back(*each);
  return made;
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

native_descriptor standard_stream(int number) noexcept {
  const int flags = ::fcntl(number, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0 ? number : no_descriptor;
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

result<wake_pair> make_wake() noexcept {
  const auto made = make_pipe({false, false});
  if (!made) return made.error();
  wake_pair wake;
  wake.seen = made.value()[0];
  wake.set = made.value()[1];
  return wake;
}

void set_wake(const wake_pair& wake) noexcept {
  const char byte = 1;
  (void)!::write(wake.set, &byte, 1);  // one that is full is readable already
}

void clear_wake(const wake_pair& wake) noexcept {
  std::array<char, 64> room;
  while (::read(wake.seen, room.data(), room.size()) > 0) {}
}

}  // namespace tandem::inline v0::io::platform
