// process_support.hpp: command lines, collected output, and whether children are left.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <tandem/io/process.hpp>
#include <tandem/task.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "children.hpp"
#include "io/support/io_support.hpp"
#include "loopback_ports.hpp"

namespace tandem::test {

using command = std::vector<std::string>;

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

/// Says "ready" when its traps are set, and reads until it is ended.
inline task<io::process> start_ready(std::string traps, io::process_options options = piped()) {
  io::process child =
      co_await io::process::start(shell(std::move(traps) + " echo ready; read a; read a"), options);
  EXPECT_EQ(co_await line_of(child.standard_output()), "ready");
  co_return child;
}

/// A leader of a group, with pipes.
inline io::process_options leading(io::process_end how) {
  io::process_options options = piped();
  options.group = io::process_group::own();
  options.on_scope_end = how;
  return options;
}

/// What is left in the background goes with the program's scope.
inline io::process_options of_own_group() {
  io::process_options options;
  options.group = io::process_group::own();
  return options;
}

/// Until the reaper has taken what it was given, and closed what belonged to that. A test that
/// waits for ever is ended by the watchdog.
inline void wait_for_reaper(std::size_t most_descriptors) {
  while (has_children() || open_descriptors() > most_descriptors) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace tandem::test
