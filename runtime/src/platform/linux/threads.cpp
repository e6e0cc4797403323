// threads.cpp: threads, their signals and their end on Linux.
// SPDX-License-Identifier: MIT
#include "platform/threads.hpp"

#include <pthread.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <utility>

namespace tandem::inline v0::platform {

namespace {

/// The kernel keeps 15 characters.
void set_name(pthread_t thread, const char* name) noexcept {
  char kept[16] = {};
  std::strncpy(kept, name, sizeof kept - 1);
  pthread_setname_np(thread, kept);
}

}  // namespace

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

std::thread start_thread(const char* name, std::function<void()> body) {
  const blocked_signals until_it_runs;
  std::thread thread(std::move(body));
  set_name(thread.native_handle(), name);  // nothing may fail any more: it runs
  return thread;
}

void name_this_thread(const char* name) noexcept { set_name(pthread_self(), name); }

bool at_thread_exit(exit_step step, thread_exit_function run) noexcept {
  struct exit_key {
    pthread_key_t key = 0;
    const bool made = ::pthread_key_create(&key, [](void* function) {
                        reinterpret_cast<thread_exit_function>(function)();  // NOLINT
                      }) == 0;
  };
  static const std::array<exit_key, 2> keys{};
  const exit_key& own = keys[static_cast<std::size_t>(step)];
  return own.made && ::pthread_setspecific(own.key, reinterpret_cast<void*>(run)) == 0;  // NOLINT
}

}  // namespace tandem::inline v0::platform
