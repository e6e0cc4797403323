// receiver.cpp: buffers from the completion thread to the task that receives them.
// SPDX-License-Identifier: MIT
#include "receive/receiver.hpp"

#include <cerrno>
#include <utility>

#include "engine/completion_engine.hpp"
#include "ring/receive_buffers.hpp"

namespace tandem::inline v0::io::detail {

namespace {
constexpr std::uint32_t none = receive_buffers::none;

/// Nothing has failed, and more may come.
bool is_a_pause(std::int32_t outcome) noexcept {
  return outcome == -ECANCELED || outcome == -EINTR || outcome == -EAGAIN;
}
}  // namespace

receiver::receiver(completion_thread::impl& thread, native_descriptor descriptor) noexcept
    : multishot(kind::receive, thread, descriptor), arrived_(none), ready_(none) {}

bool receiver::take(leased_buffer& out, std::int32_t& end) noexcept {
  if (ready_ == none) {
    // receiving/end. Read before the queue: what came before the end is in the queue by now.
    // acquire, both: pairs with received().
    const std::int32_t ended = end_.load(std::memory_order_acquire);
    // Most calls find it empty: then a look is enough.
    if (arrived_.load(std::memory_order_acquire) == none) {
      end = ended;
      if (ended == -ENOMEM) [[unlikely]]
        forget_end();  // told; nothing of the stream is lost, so the next call goes on
      return ended != open_ended;
    }
    std::uint32_t newest = arrived_.exchange(none, std::memory_order_acquire);
    while (newest != none) {
      const std::uint32_t older = buffers_->next(newest);
      buffers_->next(newest) = ready_;
      ready_ = newest;
      newest = older;
    }
  }
  const std::uint32_t index = ready_;
  ready_ = buffers_->next(index);
  out = leased_buffer(*buffers_, index, buffers_->data(index), buffers_->length(index));
  queue_shrank();
  return true;
}

bool receiver::has_arrived() const noexcept {
  return arrived_.load(std::memory_order_seq_cst) != none;  // receiving/wait
}

bool receiver::prepare_to_arm(buffer_stock& here) noexcept {
  // moving/old_buffers. acquire: pairs with queue_shrank().
  while (buffers_ != &here.buffers() && queued() != 0) {
    // Whoever takes the last of them asks again, or, if it had looked before this, when it waits
    // (receiving/wait).
    idle_.store(true, std::memory_order_seq_cst);
    if (queued() != 0) return false;
    if (!idle_.exchange(false, std::memory_order_seq_cst)) return false;
  }
  if (buffers_ != &here.buffers()) buffers_ = &here.buffers();  // published with the first buffer
  return true;
}

void receiver::received(std::int32_t outcome, std::uint32_t buffer, bool armed) noexcept {
  if (buffer != none) owner()->engine().ring().stock().taken();
  const bool unwanted = begin_received(armed);
  if (unwanted && buffer != none) buffers_->give_back(buffer);
  if (unwanted) {
    nothing_came(outcome, armed, false);
    return;
  }
  if (outcome > 0) {
    // receiving/arrive
    buffers_->length(buffer) = static_cast<std::uint32_t>(outcome);
    queue_grows();
    std::uint32_t newest = arrived_.load(std::memory_order_relaxed);
    do {
      buffers_->next(buffer) = newest;
      // receiving/wait
    } while (!arrived_.compare_exchange_weak(newest, buffer, std::memory_order_seq_cst,
                                             std::memory_order_relaxed));
    queue_grew(armed);
  } else if (outcome == -ENOBUFS) {
    // receiving/hold_back. As long as it starves it counts as about to be armed.
    if (armed) return;
    // moving/cancel: this engine's buffers are not for it any more. It asks the new engine.
    if (owner()->is_moving()) return go_on();
    if (!starving_) owner()->engine().ring().stock().starves(*this);
    starving_ = true;
  } else {
    nothing_came(outcome, armed, !is_a_pause(outcome));
  }
}

void receiver::go_on() noexcept {
  starving_ = false;
  arm();
}

void receiver::refuse() noexcept {
  starving_ = false;
  nothing_came(-ENOMEM, false, true);
}

bool receiver::give_up() noexcept {
  // At once: what it waits for may be in its own queue.
  if (starving_) owner()->engine().ring().stock().stops_starving(*this);
  return std::exchange(starving_, false);
}

void receiver::drop_queue() noexcept {
  leased_buffer dropped;
  std::int32_t end = 0;
  while (ready_ != none || arrived_.load(std::memory_order_relaxed) != none) {
    (void)take(dropped, end);
  }
}

}  // namespace tandem::inline v0::io::detail
