// peer_process.hpp: a foreign program beside a test: what it is told, what it prints, how it ends.
// SPDX-License-Identifier: MIT
//
// It is started without a shell, and ends with the test, or when this process dies before that.
// Every wait has a bound; one that is over fails the test, with all that the program has printed.
#pragma once

#include <sys/types.h>

#include <array>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "plain_sockets.hpp"
#include "watchdog.hpp"

namespace tandem::test {

class peer_process {
 public:
  /// Whether PATH has it.
  static bool is_installed(std::string_view program);

  /// @param words  the program, then its arguments
  explicit peer_process(std::vector<std::string> words);
  peer_process(const peer_process&) = delete;
  peer_process& operator=(const peer_process&) = delete;
  /// Ends it, if it has not ended.
  ~peer_process();

  /// To its standard input.
  void say(std::string_view text);
  void end_input();

  /// Waits until its outputs have this text, so many times.
  /// @returns  whether they have; if not, the test has failed
  bool prints(std::string_view text, std::size_t times = 1);
  /// Waits for a line of its outputs that has this text, and for the end of that line.
  /// @returns  what stands behind the text; empty: the test has failed
  std::string rest_of_line(std::string_view after);
  /// Waits until it has ended by itself.
  /// @returns  its exit status; what a signal has ended: minus the signal's number
  int exit_status();
  /// At once, by SIGKILL, and waits for that.
  void kill();

  std::string output() const;
  std::string errors() const;

 private:
  void start();
  void listen();
  void take(plain_socket from, std::string& into, bool& is_over);
  void reap();
  bool wait_until(const std::function<bool()>& reached, std::string_view what);
  /// pre: the lock is held
  std::string transcript() const;

  const std::vector<std::string> words_;
  std::array<plain_socket, 2> input_;  // a pair of sockets, so that no signal comes of a write
  std::array<plain_socket, 2> output_;
  std::array<plain_socket, 2> errors_;
  pid_t process_ = 0;

  mutable std::mutex lock_;  // guards what follows
  std::condition_variable changed_;
  std::string printed_;
  std::string complained_;
  bool has_ended_ = false;  // and is nobody's number any more
  int status_ = 0;

  std::thread listener_;
  hang_report report_;
};

}  // namespace tandem::test
