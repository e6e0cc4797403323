// direct.cpp: an operation that the workers wait for. Protocol direct: io/src/direct/README.md.
// SPDX-License-Identifier: MIT
#include <cerrno>
#include <tandem/io/detail/operation.hpp>

#include "direct/direct_port.hpp"
#include "engine/completion_thread.hpp"
#include "platform/attempt.hpp"
#include "ring/buffer_register.hpp"

namespace tandem::inline v0::io::detail {

using tandem::detail::promise_base;

namespace {

/// direct/use. Whether the call took less than there was room for, so that nothing is left.
bool has_drained(const operation& of, const interest& known, std::size_t asked,
                 std::int32_t outcome) noexcept {
  return are_drained_by_less.has(of.kind()) && outcome > 0 &&
         static_cast<std::size_t>(outcome) < asked && !known.was_urgent();
}

std::size_t bytes_asked(const operation& of) noexcept {
  if (of.row().buffer != buffer_form::window) return of.bytes();
  std::size_t sum = 0;
  for (const auto& each : of.window().segments()) sum += each.bytes;
  return sum;
}

}  // namespace

bool operation::is_for_workers() const noexcept {
  return are_of_connections.has(kind_) && record_ != nullptr &&
         tandem::detail::this_thread().current_worker != nullptr &&
         thread_->implementation().direct() != nullptr;
}

void operation::leave_direct() const noexcept {
  if (record_ != nullptr) direct_port::leave_side(record_->known, descriptor_, row().side);
}

bool operation::start_direct(promise_base& waiting) noexcept {
  // Acquire: pairs with direct/watch, by the task of the other side.
  interest* known = record_->known.load(std::memory_order_acquire);
  if (known == nullptr || !known->is_armed(row().side)) {
    if (try_now()) return end_ready(waiting);
    completion_thread::impl& thread = thread_->implementation();
    known = thread.direct()->watch(record_->known, descriptor_, row().side);
    if (known == nullptr) return start_by_thread(waiting, thread, false);
  } else if (known->may_find(row().side) && call_direct(*known)) {
    return end_ready(waiting);
  }
  is_direct_ = true;
  if (!begin(waiting)) {  // operations/publish
    complete(-ECANCELED);
    return false;
  }
  if (go_on_direct(*known, false) == direct_end::waits) return true;
  return !finish_unposted();
}

bool operation::call_direct(interest& known) noexcept {
  using found = interest::found;
  const socket_side side = row().side;
  bool had_ended = false;
  do {
    // What gives mostly succeeds: only where it does not its word is looked at.
    if (side == socket_side::taking) known.begin_call(side);
    const std::size_t asked = bytes_asked(*this);
    std::int32_t outcome = platform::next_attempt(*this);
    while (outcome == platform::would_block) {
      const found before = known.found_nothing(side);
      if (before == found::nothing_new) {
        state = phase::idle;
        return false;
      }
      had_ended = before == found::an_end;
      outcome = platform::next_attempt(*this);
    }
    if (had_ended) {
      known.ends_after_that(side);
    } else if (!has_drained(*this, known, asked, outcome)) {
      known.left_something(side);
    }
    complete(outcome);
  } while (wants_retry());
  return true;
}

operation::direct_end operation::go_on_direct(interest& known, bool is_ready) noexcept {
  const socket_side side = row().side;
  submit_.set(&operation::run_direct, *this);
  submit_.env = waiting().env;
  submit_.home = waiting().home;
  while (true) {
    if ((is_ready || known.may_find(side)) && call_direct(known)) return direct_end::done;
    is_ready = false;
    // direct/stop. seq_cst: pairs with stop_direct().
    if (stop_seen_.load(std::memory_order_seq_cst)) {
      set_cancelled();
      complete(-ECANCELED);
      return direct_end::stopped;
    }
    direct_port& port = known.port();
    enter_buffers(*this);
    if (known.wait(side, submit_)) {  // from here on it may be gone, and its socket
      port.waits_now();
      return direct_end::waits;
    }
    leave_buffers(*this);
  }
}

void operation::run_direct(job* self) noexcept {
  operation& target = *static_cast<start_request*>(self)->target;
  promise_base& waiting = target.waiting();
  leave_buffers(target);
  interest& known = *target.record_->known.load(std::memory_order_relaxed);  // there since it began
  if (target.go_on_direct(known, true) == direct_end::waits) return;
  if (target.finish_unposted()) {
    waiting.note_queued();
    waiting.run(&waiting);
  }
}

bool operation::stop_direct() noexcept {
  stop_seen_.store(true, std::memory_order_seq_cst);                  // direct/stop
  interest& known = *record_->known.load(std::memory_order_relaxed);  // published with the leaf
  if (known.tell(row().side, false) != nullptr) {
    leave_buffers(*this);
    complete(-ECANCELED);
    finish_stopped();
  }
  return true;
}

}  // namespace tandem::inline v0::io::detail
