// quit_signal.cpp: SIGQUIT posts a semaphore, on which a thread waits.
// SPDX-License-Identifier: MIT
#include "platform/quit_signal.hpp"

#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>

#include "platform/threads.hpp"

namespace tandem::inline v0::platform {

namespace {

// Never destroyed: a handler may run as the process ends.
::sem_t came;
constinit std::atomic<bool> is_made{false};  // `came` is; constant from then on
struct sigaction before{};                   // written while no handler of ours is installed
// Whose handler calls another one just now: one that came later than ours, and keeps it, may be
// what we call.
constinit std::atomic<pthread_t> calling{};

void handle(int number, siginfo_t* info, void* context) {
  const int kept = errno;
  const pthread_t self = ::pthread_self();
  if (calling.load(std::memory_order_relaxed) == self) return;
  calling.store(self, std::memory_order_relaxed);
  if (is_made.load(std::memory_order_acquire)) (void)::sem_post(&came);
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    if (before.sa_sigaction != nullptr) before.sa_sigaction(number, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  }
  calling.store(pthread_t{}, std::memory_order_relaxed);
  errno = kept;
}

}  // namespace

class quit_signal::state {
 public:
  explicit state(std::function<void()> told) : told_(std::move(told)) {
    if (!is_made.load(std::memory_order_relaxed)) {
      if (::sem_init(&came, 0, 0) != 0) {
        throw std::system_error(errno, std::generic_category(), "tandem: sem_init");
      }
      is_made.store(true, std::memory_order_release);
    }
    while (::sem_trywait(&came) == 0) {  // nobody asked us
    }
    struct sigaction ours{};
    ours.sa_sigaction = &handle;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    ::sigemptyset(&ours.sa_mask);
    struct sigaction there{};
    if (::sigaction(SIGQUIT, nullptr, &there) != 0) fail();
    // A child of fork() has its parent's, and what was before that.
    const bool is_ours = (there.sa_flags & SA_SIGINFO) != 0 && there.sa_sigaction == &handle;
    if (!is_ours) before = there;
    if (::sigaction(SIGQUIT, &ours, nullptr) != 0) fail();
    try {
      thread_ = start_thread("tandem-quit", [this] { run(); });
    } catch (...) {
      (void)::sigaction(SIGQUIT, &before, nullptr);
      throw;
    }
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() {
    struct sigaction now{};
    // Somebody who came later may have kept ours, to call it.
    if (::sigaction(SIGQUIT, nullptr, &now) == 0 && now.sa_sigaction == &handle) {
      (void)::sigaction(SIGQUIT, &before, nullptr);
    }
    ends_.store(true, std::memory_order_release);
    (void)::sem_post(&came);
    thread_.join();
  }

 private:
  [[noreturn]] static void fail() {
    throw std::system_error(errno, std::generic_category(), "tandem: sigaction(SIGQUIT)");
  }
  void run() {
    while (true) {
      while (::sem_wait(&came) != 0) {}  // interrupted
      if (ends_.load(std::memory_order_acquire)) return;
      told_();
    }
  }

  const std::function<void()> told_;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

quit_signal::quit_signal(std::function<void()> told)
    : state_(std::make_unique<state>(std::move(told))) {}
quit_signal::~quit_signal() = default;

}  // namespace tandem::inline v0::platform
