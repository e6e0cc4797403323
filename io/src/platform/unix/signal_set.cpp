// signal_set.cpp: handlers that pass a signal's number on through a pipe.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tandem/io/signal_set.hpp>
#include <thread>

#include "platform/unix/calls.hpp"

namespace tandem::inline v0::io {

namespace {

constexpr int signal_limit = NSIG;

// Write end of the pipe of the set that has the signal, plus 1; 0: none. Read by handlers.
constinit std::array<std::atomic<int>, signal_limit> pipe_of{};
std::array<struct sigaction, signal_limit> before;  // guarded by set_up
std::mutex set_up;

// Handlers that are running. A handler counts itself before it reads the descriptor, and a set that
// ends waits for 0 after it has withdrawn the descriptor (both seq_cst): so none is written to
// after its close, when the number may be somebody else's.
constinit std::atomic<int> running_handlers{0};

extern "C" void tandem_pass_signal_on(int number) {
  const int saved = errno;
  running_handlers.fetch_add(1, std::memory_order_seq_cst);
  const int descriptor =
      pipe_of[static_cast<std::size_t>(number)].load(std::memory_order_seq_cst) - 1;
  const auto byte = static_cast<unsigned char>(number);
  // A full pipe holds thousands of signals that nobody has read: one more says nothing new.
  if (descriptor >= 0) (void)!::write(descriptor, &byte, 1);
  running_handlers.fetch_sub(1, std::memory_order_seq_cst);
  errno = saved;
}

}  // namespace

signal_set::signal_set(std::initializer_list<int> signals) {
  completion_pool& pool = current_completion_pool("signal_set");
  native_descriptor ends[2] = {no_descriptor, no_descriptor};
  if (platform::open_pipe(ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "signal_set: pipe");
  }
  pipe_ = detail::socket(ends[0], pool.next_thread());
  write_end_ = ends[1];
  // The handler must never block; the reading end is the ring's and waits there.
  (void)::fcntl(write_end_, F_SETFL, O_NONBLOCK);
  const std::lock_guard lock(set_up);
  try {
    signals_.reserve(signals.size());
    for (const int number : signals) {
      const std::string what = "signal_set: signal " + std::to_string(number);
      if (number <= 0 || number >= signal_limit) {
        throw std::system_error(EINVAL, std::generic_category(), what);
      }
      auto& slot = pipe_of[static_cast<std::size_t>(number)];
      if (slot.load(std::memory_order_relaxed) != 0) {
        throw std::logic_error(what + " belongs to another set already");
      }
      slot.store(write_end_ + 1, std::memory_order_relaxed);
      struct sigaction action{};
      action.sa_handler = &tandem_pass_signal_on;
      action.sa_flags = SA_RESTART;
      if (::sigaction(number, &action, &before[static_cast<std::size_t>(number)]) != 0) {
        slot.store(0, std::memory_order_relaxed);
        throw std::system_error(errno, std::generic_category(), what);
      }
      signals_.push_back(number);
    }
  } catch (...) {
    give_back();
    throw;
  }
}

void signal_set::give_back() noexcept {
  for (const int number : signals_) {
    const auto index = static_cast<std::size_t>(number);
    (void)::sigaction(number, &before[index], nullptr);
    pipe_of[index].store(0, std::memory_order_seq_cst);
  }
  signals_.clear();
  while (running_handlers.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  if (write_end_ >= 0) ::close(write_end_);
  write_end_ = no_descriptor;
}

signal_set::~signal_set() {
  const std::lock_guard lock(set_up);
  give_back();
}

}  // namespace tandem::inline v0::io
