// process_exit.hpp: how a process has ended.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io {

/// How a process has ended: by itself, with a code, or by a signal.
///
///     const tandem::io::process_exit ended = co_await child.wait();
///     if (!ended.success()) throw std::runtime_error("the compiler: " + ended.to_string());
///
/// @thread_safety  as a value
class TANDEM_IO_API process_exit {
 public:
  /// As by exit(0).
  process_exit() noexcept = default;
  static process_exit by_code(int code) noexcept { return {false, code, false}; }
  static process_exit by_signal(int number, bool dumped_core) noexcept {
    return {true, number, dumped_core};
  }

  /// It has ended itself, with code 0.
  bool success() const noexcept { return !by_signal_ && number_ == 0; }
  bool has_code() const noexcept { return !by_signal_; }
  /// What it gave to exit(), 0 to 255 (on Windows all of its 32 bits).
  /// @returns -1 if a signal has ended it
  int code() const noexcept { return by_signal_ ? -1 : number_; }
  /// The signal that has ended it; on Windows what process::signal() or process::end() has sent, or
  /// SIGINT where a console's event has ended it. @returns 0 if none has
  int signal() const noexcept { return by_signal_ ? number_ : 0; }
  bool dumped_core() const noexcept { return dumped_core_; }
  /// "exit code 2", or "signal 9".
  std::string to_string() const;

  friend bool operator==(const process_exit&, const process_exit&) noexcept = default;

 private:
  process_exit(bool by_signal, int number, bool dumped_core) noexcept
      : number_(number), by_signal_(by_signal), dumped_core_(dumped_core) {}

  int number_ = 0;
  bool by_signal_ = false;
  bool dumped_core_ = false;
};

}  // namespace tandem::inline v0::io
