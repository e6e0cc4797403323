// event_set.cpp: an epoll descriptor, edge-triggered, and an eventfd that ends its wait.
// SPDX-License-Identifier: MIT
#include "platform/event_set.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>

namespace tandem::inline v0::io::platform {

namespace {

int checked(int answer, const char* what) {
  if (answer >= 0) return answer;
  throw std::system_error(errno, std::system_category(),
                          std::string("tandem::io: no set of events: ") + what);
}

/// For epoll_wait, rounded up.
int milliseconds_until(std::int64_t until_ns) noexcept {
  if (until_ns == INT64_MAX) return -1;
  if (until_ns == INT64_MIN) return 0;
  const std::int64_t left = until_ns - std::chrono::steady_clock::now().time_since_epoch().count();
  constexpr std::int64_t one = 1'000'000;
  constexpr std::int64_t an_hour = 3'600'000;
  return static_cast<int>(std::clamp((left + one - 1) / one, std::int64_t{0}, an_hour));
}

epoll_event interest_in(void* key, bool reads, bool writes) noexcept {
  epoll_event interest{};
  interest.events = EPOLLET;
  if (reads) interest.events |= EPOLLIN | EPOLLRDHUP | EPOLLPRI;
  if (writes) interest.events |= EPOLLOUT;
  interest.data.ptr = key;
  return interest;
}

}  // namespace

event_set::event_set() : process_(::getpid()) {
  try {
    event_ = checked(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd");
    set_ = checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    epoll_event interest{};
    // Edge-triggered: each write is told, though nobody reads.
    interest.events = EPOLLIN | EPOLLET;
    checked(::epoll_ctl(set_, EPOLL_CTL_ADD, event_, &interest), "epoll_ctl");
  } catch (...) {
    close();
    throw;
  }
}

event_set::~event_set() { close(); }

void event_set::close() noexcept {
  for (const int each : {set_, event_}) {
    if (each >= 0) ::close(each);
  }
}

bool event_set::add(native_descriptor descriptor, void* key, bool reads, bool writes) noexcept {
  epoll_event interest = interest_in(key, reads, writes);
  return ::epoll_ctl(set_, EPOLL_CTL_ADD, descriptor, &interest) == 0;
}

bool event_set::change(native_descriptor descriptor, void* key, bool reads, bool writes) noexcept {
  epoll_event interest = interest_in(key, reads, writes);
  return ::epoll_ctl(set_, EPOLL_CTL_MOD, descriptor, &interest) == 0;
}

void event_set::remove(native_descriptor descriptor) noexcept {
  epoll_event ignored{};
  (void)::epoll_ctl(set_, EPOLL_CTL_DEL, descriptor, &ignored);
}

bool event_set::is_own() const noexcept { return ::getpid() == process_; }

std::size_t event_set::wait(events& out, std::int64_t until_ns) noexcept {
  std::array<epoll_event, most_events> came;
  const int count =
      ::epoll_wait(set_, came.data(), static_cast<int>(came.size()), milliseconds_until(until_ns));
  std::size_t told = 0;
  for (int i = 0; i < count; ++i) {  // none after an interruption: whoever waits comes again
    const epoll_event& one = came[static_cast<std::size_t>(i)];
    if (one.data.ptr == nullptr) continue;  // the eventfd
    event& to = out[told++];
    to.key = one.data.ptr;
    to.ended = (one.events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0;
    to.urgent = (one.events & EPOLLPRI) != 0;
    to.readable = to.ended || (one.events & (EPOLLIN | EPOLLPRI)) != 0;
    to.writable = (one.events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0;
  }
  return told;
}

void event_set::wake() noexcept {
  const std::uint64_t one = 1;
  (void)!::write(event_, &one, sizeof one);
}

}  // namespace tandem::inline v0::io::platform
