// terminals.cpp: consoles, which are terminals here.
// SPDX-License-Identifier: MIT
//
// A console has two modes, one of its input and one of what it shows, of which a handle is either.
// So both are asked for by their names: a process has one console.
#include "platform/terminals.hpp"

#include <cerrno>
#include <new>

#include "platform/windows/owned_handle.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

namespace {

struct console_modes {
  DWORD input;
  DWORD output;
};

/// @param name  CONIN$ or CONOUT$
owned_handle open_console(const wchar_t* name) noexcept {
  return owned_handle(::CreateFileW(name, GENERIC_READ | GENERIC_WRITE,
                                    FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING, 0,
                                    nullptr));
}

/// Why something that was asked for is refused. @returns none of a console
std::error_code refusal(native_descriptor descriptor) noexcept {
  if (is_terminal(descriptor)) return {};
  DWORD flags = 0;
  const bool is_open = detail::is_descriptor(descriptor) &&
                       ::GetHandleInformation(handle_of(descriptor), &flags) != 0;
  return error_of(is_open ? ENOTTY : EBADF);
}

DWORD input_mode(DWORD mode, terminal_mode wanted) noexcept {
  mode &= ~DWORD{ENABLE_ECHO_INPUT};
  switch (wanted) {
    case terminal_mode::hidden: return mode | ENABLE_LINE_INPUT | ENABLE_PROCESSED_INPUT;
    case terminal_mode::keys: return mode & ~DWORD{ENABLE_LINE_INPUT};
    case terminal_mode::raw:
      return mode & ~DWORD{ENABLE_LINE_INPUT} & ~DWORD{ENABLE_PROCESSED_INPUT};
  }
  return mode;
}

/// Keys that are no letters are sequences of bytes, as elsewhere, since Windows 10.
bool set_input(HANDLE input, DWORD mode, terminal_mode wanted) noexcept {
  if (wanted != terminal_mode::hidden &&
      ::SetConsoleMode(input, mode | ENABLE_VIRTUAL_TERMINAL_INPUT) != 0) {
    return true;
  }
  return ::SetConsoleMode(input, mode) != 0;
}

}  // namespace

bool is_terminal(native_descriptor descriptor) noexcept {
  DWORD mode = 0;
  return detail::is_descriptor(descriptor) && ::GetConsoleMode(handle_of(descriptor), &mode) != 0;
}

result<terminal_size> size_of_terminal(native_descriptor descriptor) noexcept {
  if (const std::error_code refused = refusal(descriptor)) return refused;
  CONSOLE_SCREEN_BUFFER_INFO about{};
  if (::GetConsoleScreenBufferInfo(handle_of(descriptor), &about) == 0) {
    // It is the input, then.
    const owned_handle shown = open_console(L"CONOUT$");
    if (!shown.is_open() || ::GetConsoleScreenBufferInfo(shown.get(), &about) == 0) {
      return last_error();
    }
  }
  const SMALL_RECT& window = about.srWindow;
  return terminal_size(static_cast<unsigned>(window.Right - window.Left + 1),
                       static_cast<unsigned>(window.Bottom - window.Top + 1));
}

std::error_code set_terminal_mode(native_descriptor terminal, terminal_mode mode,
                                  kept_mode before) noexcept {
  static_assert(sizeof(console_modes) <= terminal_mode_bytes && alignof(console_modes) <= 8);
  if (const std::error_code refused = refusal(terminal)) return refused;
  const owned_handle input = open_console(L"CONIN$");
  if (!input.is_open()) return last_error();
  const owned_handle output = open_console(L"CONOUT$");
  if (!output.is_open()) return last_error();
  auto& kept = *::new (before.data()) console_modes();
  if (::GetConsoleMode(input.get(), &kept.input) == 0) return last_error();
  if (::GetConsoleMode(output.get(), &kept.output) == 0) return last_error();
  if (!set_input(input.get(), input_mode(kept.input, mode), mode)) return last_error();
  if (mode == terminal_mode::raw) {
    // Before Windows 10 there is no such mode: then a line's end begins a line.
    (void)::SetConsoleMode(output.get(), kept.output | ENABLE_PROCESSED_OUTPUT |
                                             ENABLE_VIRTUAL_TERMINAL_PROCESSING |
                                             DISABLE_NEWLINE_AUTO_RETURN);
  }
  return {};
}

void restore_terminal_mode(native_descriptor /*terminal*/, kept_mode before) noexcept {
  const auto& kept = *std::launder(reinterpret_cast<console_modes*>(before.data()));  // NOLINT
  // A console that is gone needs none.
  const owned_handle input = open_console(L"CONIN$");
  if (input.is_open()) (void)::SetConsoleMode(input.get(), kept.input);
  const owned_handle output = open_console(L"CONOUT$");
  if (output.is_open()) (void)::SetConsoleMode(output.get(), kept.output);
}

}  // namespace tandem::inline v0::io::platform
