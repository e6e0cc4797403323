// process_support.hpp: command lines, collected output, and whether children are left.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <tandem/io/process.hpp>
#include <tandem/task.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"
#include "loopback_ports.hpp"

namespace tandem::test {

using command = std::vector<std::string>;

inline command shell(std::string script) { return {"/bin/sh", "-c", std::move(script)}; }

inline io::process_options piped() {
  io::process_options options;
  options.standard_input = io::process_stdio::pipe();
  options.standard_output = io::process_stdio::pipe();
  return options;
}

/// What a shell writes to its standard output.
inline task<std::string> output_of(std::string script, io::process_options options = {}) {
  const io::process_output got =
      co_await io::process::output(shell(std::move(script)), std::move(options));
  co_return got.standard_output;
}

/// A line of a stream that is a pipe.
inline task<std::string> line_of(io::pipe_reader& from) {
  std::string line;
  std::array<std::byte, 1> room;
  while (co_await from.read(room) == 1) {
    if (room[0] == std::byte{'\n'}) break;
    line += static_cast<char>(room[0]);
  }
  co_return line;
}

/// Whether this process has children, running or not yet taken. Takes none.
inline bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/// Until the reaper has taken what it was given, and closed what belonged to that. A test that
/// waits for ever is ended by the watchdog.
inline void wait_for_reaper(std::size_t most_descriptors) {
  while (has_children() || open_descriptors() > most_descriptors) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace tandem::test
