// signal_set.cpp: a console's events, passed on through a pair of sockets.
// SPDX-License-Identifier: MIT
//
// Windows sends no signals. It calls a handler, on a thread of its own, when Ctrl-C or Ctrl-Break
// is pressed, or the console is closed, the user logs off or the machine shuts down: the first is
// SIGINT here, all others are SIGTERM. After the last three it ends the process as soon as the
// handler returns, or some seconds later: so the handler of those stays until then.
#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tandem/io/signal_set.hpp>

#include "platform/descriptor.hpp"
#include "platform/windows/socket_pair.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io {

namespace {

constexpr std::size_t signal_limit = NSIG;

std::mutex set_up;
// Write end of the set that has the signal. Guarded by set_up, also in the handler, which runs on a
// thread like any other.
constinit std::array<native_descriptor, signal_limit> pipe_of = [] {
  std::array<native_descriptor, signal_limit> none{};
  none.fill(no_descriptor);
  return none;
}();
bool is_installed = false;  // the handler; guarded by set_up

bool ends_the_process(DWORD event) noexcept {
  return event == CTRL_CLOSE_EVENT || event == CTRL_LOGOFF_EVENT || event == CTRL_SHUTDOWN_EVENT;
}

BOOL WINAPI pass_on(DWORD event) noexcept {
  const int number = event == CTRL_C_EVENT ? SIGINT : SIGTERM;
  {
    const std::lock_guard lock(set_up);
    const native_descriptor pipe = pipe_of[static_cast<std::size_t>(number)];
    if (pipe == no_descriptor) return FALSE;  // whoever set a handler before
    const char byte = static_cast<char>(number);
    // Full: it holds thousands that nobody has read, and one more says nothing new.
    (void)::send(pipe, &byte, 1, 0);
  }
  if (ends_the_process(event)) ::Sleep(INFINITE);
  return TRUE;
}

}  // namespace

signal_set::signal_set(std::initializer_list<int> signals) {
  completion_pool& pool = current_completion_pool("signal_set");
  const result<platform::socket_pair> made = platform::make_socket_pair();
  if (made.error()) throw std::system_error(made.error(), "signal_set: pair of sockets");
  pipe_ = detail::socket(made.value().reads, pool.next_thread());
  write_end_ = made.value().writes;
  const std::lock_guard lock(set_up);
  try {
    signals_.reserve(signals.size());
    for (const int number : signals) {
      const std::string what = "signal_set: signal " + std::to_string(number);
      if (number != SIGINT && number != SIGTERM) {
        throw std::system_error(EINVAL, std::generic_category(),
                                what + " does not come on Windows, only SIGINT and SIGTERM do");
      }
      native_descriptor& slot = pipe_of[static_cast<std::size_t>(number)];
      if (slot != no_descriptor) throw std::logic_error(what + " belongs to another set already");
      // It stays: taking it away waits for a handler that runs, which waits for us.
      if (!is_installed && ::SetConsoleCtrlHandler(&pass_on, TRUE) == 0) {
        throw std::system_error(platform::last_error(), what);
      }
      is_installed = true;
      slot = write_end_;
      signals_.push_back(number);
    }
  } catch (...) {
    give_back();
    throw;
  }
}

/// pre: set_up is locked
void signal_set::give_back() noexcept {
  for (const int number : signals_) {
    pipe_of[static_cast<std::size_t>(number)] = no_descriptor;
  }
  signals_.clear();
  if (write_end_ != no_descriptor) platform::close(write_end_);
  write_end_ = no_descriptor;
}

signal_set::~signal_set() {
  const std::lock_guard lock(set_up);
  give_back();
}

}  // namespace tandem::inline v0::io
