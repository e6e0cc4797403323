// terminals.cpp: terminals by termios.
// SPDX-License-Identifier: MIT
#include "platform/terminals.hpp"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <new>

namespace tandem::inline v0::io::platform {

namespace {

std::error_code failure() noexcept { return {errno, std::generic_category()}; }

/// At once, also where what was written is held back (Ctrl-S) and can be waited for in vain.
int set_mode(int terminal, const ::termios& mode) noexcept {
  int answer = 0;
  do answer = ::tcsetattr(terminal, TCSANOW, &mode);
  while (answer != 0 && errno == EINTR);
  return answer;
}

void change(::termios& mode, terminal_mode wanted) noexcept {
  switch (wanted) {
    case terminal_mode::hidden:
      mode.c_lflag &= ~static_cast<tcflag_t>(ECHO);
      mode.c_lflag |= ICANON | ECHONL;  // the line's end is shown
      return;
    case terminal_mode::keys: mode.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON); break;
    case terminal_mode::raw: ::cfmakeraw(&mode); break;
  }
  mode.c_cc[VMIN] = 1;
  mode.c_cc[VTIME] = 0;
}

}  // namespace

bool is_terminal(native_descriptor descriptor) noexcept { return ::isatty(descriptor) != 0; }

result<terminal_size> size_of_terminal(native_descriptor descriptor) noexcept {
  ::winsize answer{};
  if (::ioctl(descriptor, TIOCGWINSZ, &answer) != 0) return failure();
  return terminal_size(answer.ws_col, answer.ws_row);
}

std::error_code set_terminal_mode(native_descriptor terminal, terminal_mode mode,
                                  kept_mode before) noexcept {
  static_assert(sizeof(::termios) <= terminal_mode_bytes && alignof(::termios) <= 8);
  auto& kept = *::new (before.data())::termios();
  if (::tcgetattr(terminal, &kept) != 0) return failure();
  ::termios changed = kept;
  change(changed, mode);
  if (set_mode(terminal, changed) != 0) return failure();
  return {};
}

void restore_terminal_mode(native_descriptor terminal, kept_mode before) noexcept {
  // A terminal that is gone needs none.
  (void)set_mode(terminal, *std::launder(reinterpret_cast<::termios*>(before.data())));  // NOLINT
}

}  // namespace tandem::inline v0::io::platform
