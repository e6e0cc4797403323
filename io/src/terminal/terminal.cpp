// terminal.cpp: a terminal's size and mode.
// SPDX-License-Identifier: MIT
#include <tandem/io/terminal.hpp>

#include <utility>

#include "net/checked.hpp"
#include "platform/terminals.hpp"

namespace tandem::inline v0::io {

bool is_terminal(native_descriptor descriptor) noexcept {
  return platform::is_terminal(descriptor);
}

terminal_size size_of_terminal(native_descriptor descriptor) {
  return checked(platform::size_of_terminal(descriptor), "size_of_terminal");
}

terminal_scope::terminal_scope(native_descriptor descriptor, terminal_mode mode) {
  static_assert(sizeof before_ == platform::terminal_mode_bytes);
  check(platform::set_terminal_mode(descriptor, mode, before_), "terminal_scope");
  descriptor_ = descriptor;
}

void terminal_scope::restore() noexcept {
  const native_descriptor terminal = std::exchange(descriptor_, no_descriptor);
  if (detail::is_descriptor(terminal)) platform::restore_terminal_mode(terminal, before_);
}

}  // namespace tandem::inline v0::io
