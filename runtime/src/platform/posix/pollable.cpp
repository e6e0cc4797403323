// pollable.cpp: a pipe with at most one byte in it, and a thread that writes it at the deadline.
// SPDX-License-Identifier: MIT
//
// Protocol pollable: README.md of the room platform.
#include "platform/pollable.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include <tandem/detail/futex_mutex.hpp>

#include "platform/futex.hpp"
#include "platform/threads.hpp"

namespace tandem::inline v0::platform {

namespace {

std::int64_t now_ns() noexcept {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class pipe_ends {
 public:
  pipe_ends() {
    int ends[2] = {-1, -1};
    check(::pipe(ends), "pipe");
    reads_ = ends[0];
    writes_ = ends[1];
    try {
      for (const int each : ends) check(::fcntl(each, F_SETFD, FD_CLOEXEC), "fcntl");
    } catch (...) {
      close();
      throw;
    }
  }
  pipe_ends(const pipe_ends&) = delete;
  pipe_ends& operator=(const pipe_ends&) = delete;
  ~pipe_ends() { close(); }

  int reading_end() const noexcept { return reads_; }
  // One byte at a time: neither waits.
  void fill() const noexcept {
    const char byte = 0;
    while (::write(writes_, &byte, 1) < 0 && errno == EINTR) {}
  }
  void drain() const noexcept {
    char byte = 0;
    while (::read(reads_, &byte, 1) < 0 && errno == EINTR) {}
  }

 private:
  static void check(int answer, const char* what) {
    if (answer == 0) return;
    throw std::system_error(errno, std::system_category(),
                            std::string("no descriptor for a foreign event loop: ") + what);
  }
  void close() const noexcept {
    ::close(reads_);
    ::close(writes_);
  }

  int reads_ = -1;
  int writes_ = -1;
};

}  // namespace

struct pollable::parts {
  parts() : helper(start_thread("tandem-deadline", [this] { help(); })) {}
  parts(const parts&) = delete;
  parts& operator=(const parts&) = delete;
  ~parts() {
    {
      const std::lock_guard guard(lock);
      ends = true;
      wake_helper();
    }
    helper.join();
  }

  /// The helper's whole life.
  void help() noexcept {
    std::unique_lock guard(lock);
    while (!ends) {
      // pollable/tell. Under the lock, so a deadline that has been taken away is not told.
      if (deadline_ns != no_deadline && now_ns() >= deadline_ns) {
        deadline_ns = no_deadline;
        make_readable();
      }
      const std::int64_t until_ns = sleeps_until_ns = deadline_ns;
      const std::uint32_t seen = changes.load(std::memory_order_relaxed);
      guard.unlock();
      (void)wait_on(changes, seen, until_ns);
      guard.lock();
    }
  }
  /// pre: under the lock
  void make_readable() noexcept {
    if (!is_readable) pipe.fill();
    is_readable = true;
  }
  /// pollable/hurry. pre: under the lock, under which the helper has read the word
  void wake_helper() noexcept {
    changes.store(changes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    wake_one(changes);
  }

  const pipe_ends pipe;
  detail::futex_mutex lock;
  // Under the lock.
  bool ends = false;
  bool is_readable = false;
  std::int64_t deadline_ns = no_deadline;
  // Written by the helper, under the lock.
  std::int64_t sleeps_until_ns = no_deadline;
  std::atomic<std::uint32_t> changes{0};  // written under the lock
  std::thread helper;                     // last: it uses all others
};

pollable::pollable() : parts_(std::make_unique<parts>()) {}
pollable::~pollable() = default;

pollable_handle pollable::handle() const noexcept { return parts_->pipe.reading_end(); }

void pollable::notify() noexcept {
  const std::lock_guard guard(parts_->lock);
  parts_->make_readable();
}

void pollable::clear() noexcept {
  const std::lock_guard guard(parts_->lock);
  if (parts_->is_readable) parts_->pipe.drain();
  parts_->is_readable = false;
  parts_->deadline_ns = no_deadline;
}

void pollable::set_deadline(std::int64_t deadline_ns) noexcept {
  const std::lock_guard guard(parts_->lock);
  parts_->deadline_ns = deadline_ns;
  // A later one needs nobody now: the helper looks again when the time comes that it knows.
  if (deadline_ns < parts_->sleeps_until_ns) parts_->wake_helper();
}

}  // namespace tandem::inline v0::platform
