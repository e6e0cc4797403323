// threads.cpp: the signals of threads, and their end.
// SPDX-License-Identifier: MIT
#include "platform/threads.hpp"

#include <pthread.h>

#include <array>
#include <csignal>
#include <cstddef>

#include <tandem/detail/thread_exit.hpp>

namespace tandem::inline v0::platform {

struct blocked_signals::masks {
  sigset_t before;
};

blocked_signals::blocked_signals() : masks_(std::make_unique<masks>()) {
  sigset_t blocked;
  sigfillset(&blocked);
  for (const int synchronous : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) {
    sigdelset(&blocked, synchronous);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, &masks_->before);
}

blocked_signals::~blocked_signals() { pthread_sigmask(SIG_SETMASK, &masks_->before, nullptr); }

}  // namespace tandem::inline v0::platform

namespace tandem::inline v0::detail {

bool at_thread_exit(exit_step step, thread_exit_function run) noexcept {
  struct exit_key {
    pthread_key_t key = 0;
    const bool made = ::pthread_key_create(&key, [](void* function) {
                        reinterpret_cast<thread_exit_function>(function)();  // NOLINT
                      }) == 0;
  };
  static const std::array<exit_key, exit_steps> keys{};
  const exit_key& own = keys[static_cast<std::size_t>(step)];
  return own.made && ::pthread_setspecific(own.key, reinterpret_cast<void*>(run)) == 0;  // NOLINT
}

}  // namespace tandem::inline v0::detail
