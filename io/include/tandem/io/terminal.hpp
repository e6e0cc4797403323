// terminal.hpp: terminals: how big they are, and what they make of keys.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <tandem/io/export.hpp>
#include <tandem/io/native_descriptor.hpp>

namespace tandem::inline v0::io {

/// Of a terminal's window, in characters.
class terminal_size {
 public:
  terminal_size() noexcept = default;
  terminal_size(unsigned columns_wide, unsigned rows_high) noexcept
      : columns(columns_wide), rows(rows_high) {}

  unsigned columns = 0;  ///< both 0: the terminal does not know
  unsigned rows = 0;

  friend bool operator==(const terminal_size&, const terminal_size&) noexcept = default;
};

/// Whether it is a terminal: any number may be asked. On Windows that is a console.
///
/// @thread_safety  any
TANDEM_IO_API bool is_terminal(native_descriptor descriptor) noexcept;

/// How big the terminal's window is now. Of a change the process is told by a signal:
///
///     tandem::io::signal_set resized({SIGWINCH});
///     while (true) {
///       draw(tandem::io::size_of_terminal(output.native_handle()));
///       co_await resized.wait();
///     }
///
/// The set comes first: then no change is missed, whenever it comes. Windows has no such signal.
///
/// @throws         std::system_error: inappropriate_io_control_operation (it is no terminal),
///                 bad_file_descriptor
/// @thread_safety  any
/// @source         man page ioctl_tty(2): TIOCGWINSZ; GetConsoleScreenBufferInfo() of Windows
TANDEM_IO_API terminal_size size_of_terminal(native_descriptor descriptor);

/// What a terminal makes of keys, and of what is written to it.
enum class terminal_mode : unsigned char {
  hidden,  ///< lines, as usual, but what is typed is not shown: for passwords
  keys,    ///< each key at once, not shown; Ctrl-C and its like are signals, as usual
  raw,     ///< likewise, and every key is a byte: no signals, and output goes out as it is
};

/// A terminal is in another mode while this lives, and in the one before afterwards, however the
/// scope ends.
///
///     auto input = tandem::io::standard_input();
///     const auto each_key = tandem::io::terminal_mode::keys;
///     const tandem::io::terminal_scope keys(input.native_handle(), each_key);
///     co_await input.read(std::span(room).first(1));
///
/// The mode is the terminal's: whoever else uses it sees it, too. A process that is ended by a
/// signal leaves it behind: SIGTERM, SIGHUP, and SIGINT (mode keys) are better waited for
/// (signal_set), so that the scope ends. In the background no process should have one.
///
/// @thread_safety  as a value; scopes of one terminal end in the reverse order
class TANDEM_IO_API terminal_scope {
 public:
  /// @param descriptor  any of the terminal's; open until the scope ends
  /// @throws            std::system_error: inappropriate_io_control_operation (it is no terminal),
  ///                    bad_file_descriptor
  /// @source            man page termios(3); SetConsoleMode() of Windows, of the process's console
  terminal_scope(native_descriptor descriptor, terminal_mode mode);
  terminal_scope(const terminal_scope&) = delete;
  terminal_scope& operator=(const terminal_scope&) = delete;
  ~terminal_scope() { restore(); }

  /// The end, before that of the scope; harmless if done before.
  void restore() noexcept;

 private:
  native_descriptor descriptor_ = no_descriptor;
  alignas(8) std::array<std::byte, 128> before_;  // a struct termios, or modes of a console
};

}  // namespace tandem::inline v0::io
