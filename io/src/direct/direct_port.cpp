// direct_port.cpp: waiting for events, telling who waits, and the life of an interest.
// SPDX-License-Identifier: MIT
#include "direct/direct_port.hpp"

#include <thread>
#include <utility>

namespace tandem::inline v0::io {

using detail::interest;
using detail::side_wait;
using detail::socket_side;

bool direct_port::try_enter() noexcept {
  std::uint32_t seen = state_.load(std::memory_order_relaxed);
  // Acquire: pairs with leave(). seq_cst: pairs with is_unattended().
  return seen == empty && state_.compare_exchange_strong(seen, entered, std::memory_order_seq_cst);
}

bool direct_port::is_unattended() const noexcept {
  // ports/rest. seq_cst, all: pairs with leave() and with whoever begins to wait.
  return is_used() && state_.load(std::memory_order_seq_cst) != entered && known_.any_waits();
}

void direct_port::attend() noexcept {
  // ports/send. If the one that was sent has not come until the next look, that is ours.
  if (!has_sent_ && tandem::detail::send_to_port(workers_)) {
    has_sent_ = true;
    return;
  }
  has_sent_ = false;
  if (!try_enter()) return;
  (void)wait(INT64_MIN);
  job_list came;
  leave(workers_, came);
  if (!came.empty()) workers_.post_batch(came, post_kind::resume);
}

bool direct_port::wait(std::int64_t until_ns) noexcept {
  if (!ready_.empty()) return true;
  const std::size_t count = set_.wait(events_, until_ns);
  for (std::size_t i = 0; i < count; ++i) {
    const platform::event_set::event& one = events_[i];
    interest& of = *static_cast<interest*>(one.key);
    // direct/tell
    if (one.urgent) of.note_urgent();
    if (one.readable) {
      if (side_wait* const waiting = of.tell(socket_side::taking, one.ended)) {
        ready_.push_back(waiting);
      }
    }
    if (one.writable) {
      // That the peer sends no more says nothing of this side.
      if (side_wait* const waiting = of.tell(socket_side::giving, false)) {
        ready_.push_back(waiting);
      }
    }
  }
  told_.add(ready_.size());
  return !ready_.empty();
}

void direct_port::leave(const executor& home, job_list& for_home) noexcept {
  job_list came = std::exchange(ready_, job_list());
  // ports/rest. First it is left, then the watch is asked whether it rests; whoever closes waits for
  // both. seq_cst: pairs with is_unattended().
  state_.store(being_left, std::memory_order_seq_cst);
  watch_.kick();
  state_.store(empty, std::memory_order_release);
  while (job* const each = came.pop_front()) {
    executor& its_home = *static_cast<side_wait*>(each)->home;
    if (&its_home == &home) {
      for_home.push_back(each);
    } else {
      its_home.post(each, post_kind::resume);
    }
  }
}

interest* direct_port::watch(detail::interest_slot& of, native_descriptor descriptor,
                             socket_side found_nothing) noexcept {
  const std::lock_guard guard(lock_of(descriptor));
  // Acquire: pairs with the store below, by the task of the other side.
  interest* const there = of.load(std::memory_order_acquire);
  interest* const known = there != nullptr ? there : known_.take();
  if (known == nullptr) return nullptr;
  if (there == nullptr) {
    known->begin(shared_from_this());
    sockets_.fetch_add(1, std::memory_order_relaxed);
  }
  known->arm(found_nothing);
  const bool reads = known->is_armed(socket_side::taking);
  const bool writes = known->is_armed(socket_side::giving);
  const bool is_told = there == nullptr ? set_.add(descriptor, known, reads, writes)
                                        : set_.change(descriptor, known, reads, writes);
  if (!is_told) {
    known->disarm(found_nothing);
    if (there == nullptr) {
      (void)known->end();  // this port: it is called
      give_back(*known);
    }
    return nullptr;
  }
  of.store(known, std::memory_order_release);
  return known;
}

void direct_port::leave_side(const detail::interest_slot& of, native_descriptor descriptor,
                             socket_side side) noexcept {
  interest* const known = of.load(std::memory_order_acquire);  // as in watch()
  if (known == nullptr || !known->is_armed(side)) return;
  direct_port& port = known->port();
  const std::lock_guard guard(port.lock_of(descriptor));
  known->disarm(side);
  // If it is refused, what comes is told to nobody.
  (void)port.set_.change(descriptor, known, known->is_armed(socket_side::taking),
                         known->is_armed(socket_side::giving));
}

void direct_port::give_back(interest& known) noexcept {
  known_.give_back(known);
  // ports/lie_in. Nothing can come any more: whoever is inside need not stay.
  if (sockets_.fetch_sub(1, std::memory_order_release) == 1) set_.wake();
}

void direct_port::forget(interest& known, native_descriptor descriptor) noexcept {
  if (!known.port().set_.is_own()) return;  // the parent's, and its locks may be taken for ever
  const std::shared_ptr<direct_port> port = known.end();
  port->set_.remove(descriptor);
  port->give_back(known);
}

void direct_port::close() noexcept {
  while (!try_enter()) {
    set_.wake();
    std::this_thread::yield();
  }
}

}  // namespace tandem::inline v0::io
