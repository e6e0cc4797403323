// acceptor.cpp: connections from the completion thread to the task that serves them.
// SPDX-License-Identifier: MIT
#include "receive/acceptor.hpp"

#include <cerrno>
#include <new>
#include <utility>

#include "platform/descriptor.hpp"

namespace tandem::inline v0::io::detail {

acceptor::acceptor(completion_thread::impl& thread, native_descriptor descriptor) noexcept
    : multishot(kind::accept, thread, descriptor) {
  for (accepted& each : kept_) each.is_kept = true;
}
acceptor::~acceptor() = default;

acceptor::accepted* acceptor::place_for(native_descriptor descriptor) noexcept {
  accepted* place = nullptr;
  for (accepted& each : kept_) {
    if (each.is_used.load(std::memory_order_acquire)) continue;  // pairs with give_back()
    each.is_used.store(true, std::memory_order_relaxed);         // published with the queue
    place = &each;
    break;
  }
  if (place == nullptr) place = new (std::nothrow) accepted;
  if (place != nullptr) place->descriptor = descriptor;
  return place;
}

void acceptor::give_back(accepted& place) noexcept {
  if (place.is_kept) {
    place.is_used.store(false, std::memory_order_release);  // pairs with place_for()
  } else {
    delete &place;
  }
}

bool acceptor::take(native_descriptor& out, std::int32_t& failure) noexcept {
  if (ready_ == nullptr) {
    // receiving/end. Read before the queue: what came before the failure is in the queue by now.
    // acquire, both: pairs with received().
    const std::int32_t failed = end_.load(std::memory_order_acquire);
    accepted* newest = arrived_.exchange(nullptr, std::memory_order_acquire);
    if (newest == nullptr) {
      if (failed == open_ended) return false;
      failure = failed;
      forget_end();
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
  give_back(*first);
  queue_shrank();
  return true;
}

bool acceptor::has_arrived() const noexcept {
  return arrived_.load(std::memory_order_seq_cst) != nullptr;  // receiving/wait
}

void acceptor::received(std::int32_t outcome, std::uint32_t /*buffer*/, bool armed) noexcept {
  const bool unwanted = begin_received(armed);
  accepted* const made =
      outcome >= 0 && !unwanted ? place_for(detail::descriptor_of(outcome)) : nullptr;
  if (made == nullptr) {
    if (outcome >= 0) platform::close(detail::descriptor_of(outcome));
    nothing_queued(outcome, armed, outcome >= 0 && !unwanted);
    return;
  }
  queue_grows();
  accepted* newest = arrived_.load(std::memory_order_relaxed);
  do {
    made->next = newest;
    // receiving/wait
  } while (!arrived_.compare_exchange_weak(newest, made, std::memory_order_seq_cst,
                                           std::memory_order_relaxed));
  if (!armed && has_lost_) {
    nothing_queued(0, false, false);  // as the end, after what came before it
  } else {
    queue_grew(armed);
  }
}

void acceptor::nothing_queued(std::int32_t outcome, bool armed, bool lost) noexcept {
  if (lost) {
    // Told as a failure of the next call; the rest stays with the kernel until then.
    has_lost_ = true;
    hold_back();
  }
  if (!armed && std::exchange(has_lost_, false)) return nothing_came(-ENOMEM, false, true);
  const bool pause = outcome >= 0 || outcome == -ECANCELED || outcome == -EINTR ||
                     outcome == -EAGAIN || outcome == -ECONNABORTED;
  nothing_came(outcome, armed, !pause);
}

void acceptor::drop_queue() noexcept {
  native_descriptor dropped = no_descriptor;
  std::int32_t failure = 0;
  while (ready_ != nullptr || arrived_.load(std::memory_order_relaxed) != nullptr) {
    if (take(dropped, failure)) platform::close(dropped);
  }
}

}  // namespace tandem::inline v0::io::detail
