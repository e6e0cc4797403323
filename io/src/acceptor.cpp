// acceptor.cpp: connections from the completion thread to the task that serves them.
// SPDX-License-Identifier: MIT
#include "acceptor.hpp"

#include <unistd.h>

#include <cerrno>
#include <new>
#include <utility>

namespace tandem::inline v0::io::detail {

acceptor::acceptor(completion_thread::impl& thread, int descriptor) noexcept
    : multishot(kind::accept, thread, descriptor) {}
acceptor::~acceptor() = default;

bool acceptor::take(int& out, std::int32_t& failure) noexcept {
  if (ready_ == nullptr) {
    // M4. Read before the queue: what came before the failure is in the queue by now. acquire,
    // both: pairs with received().
    const std::int32_t failed = end_.load(std::memory_order_acquire);
    accepted* newest = arrived_.exchange(nullptr, std::memory_order_acquire);
    if (newest == nullptr) {
      if (failed == open_ended) return false;
      failure = failed;
      // Told. It is not armed, so nobody else writes here until it is asked again.
      end_.store(open_ended, std::memory_order_relaxed);
      idle_.store(true, std::memory_order_seq_cst);
      return true;
    }
    while (newest != nullptr) {
      accepted* const older = newest->next;
      newest->next = ready_;
      ready_ = newest;
      newest = older;
    }
  }
  accepted* const first = ready_;
  ready_ = first->next;
  out = first->descriptor;
  delete first;
  queue_shrank();
  return true;
}

bool acceptor::has_arrived() const noexcept {
  return arrived_.load(std::memory_order_seq_cst) != nullptr;  // M3
}

void acceptor::received(std::int32_t outcome, std::uint32_t /*buffer*/, bool armed) noexcept {
  const bool unwanted = begin_received(armed);
  accepted* const made = outcome >= 0 && !unwanted ? new (std::nothrow) accepted(outcome) : nullptr;
  if (made == nullptr) {
    if (outcome >= 0) ::close(outcome);  // nobody could be told of it
    const bool pause = outcome >= 0 || outcome == -ECANCELED || outcome == -EINTR ||
                       outcome == -EAGAIN || outcome == -ECONNABORTED;
    nothing_came(outcome, armed, !pause);
    return;
  }
  queue_grows();
  accepted* newest = arrived_.load(std::memory_order_relaxed);
  do {
    made->next = newest;
  } while (!arrived_.compare_exchange_weak(newest, made, std::memory_order_seq_cst,  // M3
                                           std::memory_order_relaxed));
  queue_grew(armed);
}

void acceptor::drop_queue() noexcept {
  int dropped = -1;
  std::int32_t failure = 0;
  while (ready_ != nullptr || arrived_.load(std::memory_order_relaxed) != nullptr) {
    if (take(dropped, failure)) ::close(dropped);
  }
}

}  // namespace tandem::inline v0::io::detail
