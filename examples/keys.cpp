// keys.cpp: a program at a terminal: each key as it is struck, the window's size, the terminal left as it was.
// SPDX-License-Identifier: MIT
#include <signal.h>
#include <array>
#include <cstddef>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <tandem/io/shared_streams.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/io/terminal.hpp>
#include <tandem/run.hpp>
#include <tandem/when_any.hpp>

namespace io = tandem::io;
using tandem::task;

task<void> say(std::string text) {
  auto output = io::standard_output();  // each its own: one write at a time
  co_await output.write_all(io::bytes_of(text));
}
task<void> show_keys(io::shared_input& input) {
  const io::terminal_scope keys(input.native_handle(), io::terminal_mode::keys);
  co_await say("q ends\n");
  std::array<std::byte, 16> room;
  while (const std::size_t count = co_await input.read(room)) {
    for (const std::byte each : std::span(room).first(count)) {
      if (each == std::byte{'q'}) co_return;
      co_await say("key " + std::to_string(std::to_integer<int>(each)) + "\n");
    }
  }
}
task<void> show_sizes(io::shared_input& input) {
  io::signal_set resized({SIGWINCH});
  while (true) {
    const io::terminal_size now = io::size_of_terminal(input.native_handle());
    co_await say(std::to_string(now.columns) + " x " + std::to_string(now.rows) + "\n");
    co_await resized.wait();
  }
}
// Ctrl-C stops the others, whose scopes end then.
task<void> at_a_terminal(io::shared_input& input) {
  io::signal_set stop({SIGINT, SIGTERM});
  co_await tandem::when_any(show_keys(input), show_sizes(input), stop.wait());
  co_await say("bye\n");
}
task<void> count_bytes(io::shared_input& input) {
  std::array<std::byte, 4096> room;
  std::size_t all = 0;
  while (const std::size_t count = co_await input.read(room)) all += count;
  co_await say(std::to_string(all) + " bytes, and no terminal\n");
}
task<int> demonstrate() {
  auto input = io::standard_input();
  if (io::is_terminal(input.native_handle())) {
    co_await at_a_terminal(input);
  } else {
    co_await count_bytes(input);
  }
  co_return 0;
}
int main() {
  try {
    return tandem::run(demonstrate());
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
