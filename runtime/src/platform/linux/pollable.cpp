// pollable.cpp: an eventfd and a timerfd behind one epoll descriptor.
// SPDX-License-Identifier: MIT
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>

#include "platform/pollable.hpp"

#include "platform/futex.hpp"

namespace tandem::inline v0::platform {

namespace {

int checked(int descriptor, const char* what) {
  if (descriptor >= 0) return descriptor;
  throw std::system_error(errno, std::system_category(),
                          std::string("no descriptor for a foreign event loop: ") + what);
}

}  // namespace

struct pollable::parts {
  parts();
  parts(const parts&) = delete;
  parts& operator=(const parts&) = delete;
  ~parts() { close(); }
  void close() const noexcept {
    for (const int each : {set, timer, event}) {
      if (each >= 0) ::close(each);
    }
  }

  int set = -1;
  int event = -1;
  int timer = -1;
  std::atomic<bool> notified{false};
};

pollable::parts::parts() {
  try {
    event = checked(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd");
    timer = checked(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create");
    set = checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    for (const int each : {event, timer}) {
      epoll_event interest{};
      interest.events = EPOLLIN;
      checked(epoll_ctl(set, EPOLL_CTL_ADD, each, &interest), "epoll_ctl");
    }
  } catch (...) {
    close();
    throw;
  }
}

pollable::pollable() : parts_(std::make_unique<parts>()) {}
pollable::~pollable() = default;

pollable_handle pollable::handle() const noexcept { return parts_->set; }

void pollable::notify() noexcept {
  // seq_cst: pairs with clear(). Finding it set means that clear() is still to come, and after it
  // the look at the queues, which finds what was posted before this call.
  if (parts_->notified.exchange(true, std::memory_order_seq_cst)) return;
  const std::uint64_t one = 1;
  (void)!::write(parts_->event, &one, sizeof one);
}

void pollable::clear() noexcept {
  std::uint64_t count = 0;
  (void)!::read(parts_->event, &count, sizeof count);
  parts_->notified.store(false, std::memory_order_seq_cst);
  set_deadline(no_deadline);
}

void pollable::set_deadline(std::int64_t deadline_ns) noexcept {
  itimerspec when{};
  if (deadline_ns != no_deadline) {
    const std::int64_t at = std::max<std::int64_t>(deadline_ns, 1);  // 0 would disarm it
    when.it_value.tv_sec = at / 1'000'000'000;
    when.it_value.tv_nsec = at % 1'000'000'000;
  }
  timerfd_settime(parts_->timer, TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace tandem::inline v0::platform
