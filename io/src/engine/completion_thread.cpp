// completion_thread.cpp: inbox, local queue, operations.
// SPDX-License-Identifier: MIT
#include "engine/completion_thread.hpp"

#include <cerrno>
#include <thread>
#include <utility>

#include <tandem/detail/clock_hold.hpp>
#include <tandem/detail/forked.hpp>
#include <tandem/detail/promise_base.hpp>

#include "engine/completion_engine.hpp"
#include "ready/stealable_executor.hpp"
#include "ring/buffer_register.hpp"

namespace tandem::inline v0::io {

completion_thread::completion_thread(std::unique_ptr<impl> made) noexcept
    : impl_(std::move(made)) {}
completion_thread::~completion_thread() = default;
tandem::executor& completion_thread::executor() noexcept { return *impl_; }
unsigned completion_thread::index() const noexcept { return impl_->index(); }

completion_thread::impl::impl(runtime& owner, completion_pool& pool, unsigned index,
                              completion_engine& engine, std::shared_ptr<thread_loads> loads)
    : owner_(owner),
      pool_(pool),
      index_(index),
      name_(owner.options().name + "-io-" + std::to_string(index)),
      loads_(std::move(loads)),
      engine_(&engine),
      local_(owner),
      wanted_(&engine) {
  set_serial();
}

completion_thread::impl::~impl() = default;

bool completion_thread::impl::is_current() const noexcept {
  const completion_engine* const here = completion_engine::current();
  return here != nullptr && &engine() == here;
}

void completion_thread::impl::resumed_elsewhere() noexcept {
  tandem::detail::release_clock(owner_);  // ring_sleep/clock
}

detail::file_action_set completion_thread::impl::file_actions() const noexcept {
  return engine().ring().file_actions();
}

bool completion_thread::impl::lends_memory() const noexcept {
  return engine().ring().lends_memory();
}

const platform::file_port* completion_thread::impl::port_of_files() const noexcept {
  return engine().ring().port_of_files();
}

void completion_thread::impl::wait_for_posts() noexcept {
  // acquire: pairs with push_inbox.
  while (posting_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

void completion_thread::impl::take_inbox() noexcept {
  if (inbox_.looks_empty()) return;  // before it sleeps it looks in order (ring_sleep/announce)
  job* next = inbox_.take_all().oldest;
  while (next != nullptr) {
    job* const item = next;
    next = item->next;
    local_.add_held(item);
  }
}

void completion_thread::impl::push_inbox(job* first, job* last, bool urgent) noexcept {
  tandem::detail::refuse_if_forked(owner_, "executor::post");  // noexcept: terminates
  // What is pushed may end the runtime before we have left: the pool's end waits for that.
  posting_.fetch_add(1, std::memory_order_relaxed);  // published by the push
  for (job* each = first;; each = each->next) {
    tandem::detail::hold_clock(owner_);  // ring_sleep/clock: until it has run
    if (each == last) break;
  }
  (void)inbox_.push(first, last);  // ring_sleep/announce
  // moving/exchange. seq_cst, after the push: if this is the engine that has just given the thread
  // away, the new one looks at the inbox after it has got it.
  completion_engine* const host = engine_.load(std::memory_order_seq_cst);
  if (urgent) {
    host->sleeping().wake();
  } else {
    host->sleeping().wake_for_request();
  }
  posting_.fetch_sub(1, std::memory_order_release);  // pairs with wait_for_posts()
}

void completion_thread::impl::post(job* item, post_kind) noexcept {
  if (is_current()) {
    local_.push_back(item);
  } else {
    push_inbox(item, item, true);
  }
}

void completion_thread::impl::post_request(job* item) noexcept {
  if (is_current()) {
    local_.push_back(item);
  } else {
    push_inbox(item, item, false);
  }
}

void completion_thread::impl::post_batch(job_list items, post_kind) noexcept {
  if (items.empty()) return;
  if (is_current()) {
    local_.append(items);
    return;
  }
  // The inbox is newest first.
  job* const oldest = items.pop_front();
  job* newest = oldest;
  while (job* item = items.pop_front()) {
    item->next = newest;
    newest = item;
  }
  push_inbox(newest, oldest, true);
}

void completion_thread::impl::submit(detail::operation& operation) noexcept {
  if (moving_) [[unlikely]] {
    // moving/cancel: submit_ is free, it has run or was not needed
    defer(operation.resubmission());
    return;
  }
  ++in_flight_;
  if (operation.kind() == detail::operation_kind::send_zero_copy) [[unlikely]] {
    ++lent_;
    // lending/keep. Nothing more is lent, so that the move comes.
    if (waits_to_move_) operation.sends_a_copy = true;
  }
  enter_buffers(operation);
  if (!engine().ring().submit(operation)) ended(operation);
}

void completion_thread::impl::ended(detail::operation& operation) noexcept {
  --in_flight_;
  if (operation.kind() == detail::operation_kind::send_zero_copy) [[unlikely]] {
    if (--lent_ == 0 && std::exchange(waits_to_move_, false)) engine().hosted().ask_again(*this);
  }
  leave_buffers(operation);
  finish(operation);
}

void completion_thread::impl::cancel(detail::operation& operation) noexcept {
  engine().ring().cancel(operation);
}

void completion_thread::impl::finish(detail::operation& operation) noexcept {
  // moving/cancel. Cancelled by nobody: it was in the way of a move.
  const bool swept =
      operation.outcome() == -ECANCELED && !operation.cancel_seen && engine().ring().has_swept();
  if (swept || operation.wants_retry()) {
    if (!operation.cancel_seen) {
      operation.state = detail::operation::phase::idle;
      submit(operation);
      return;
    }
    operation.complete(-ECANCELED);
  }
  tandem::detail::promise_base& waiting = operation.waiting();
  if (operation.is_branch()) {
    bool is_held = false;
    if (operation.end_as_branch(is_held)) {
      resume(waiting);
    } else if (!is_held) {
      resumed_elsewhere();
    }
    return;
  }
  if (operation.finish_unposted())
    resume(waiting);  // else the cancel request is still to come (operations/wait_for_cancel)
}

void completion_thread::impl::end_branch(detail::operation& operation) noexcept {
  tandem::detail::promise_base& waiting = operation.waiting();
  if (operation.end_unposted()) {
    resume(waiting);
  } else {
    resumed_elsewhere();
  }
}

void completion_thread::impl::resume(tandem::detail::promise_base& waiting) noexcept {
  engine().route(waiting);
}

namespace {
bool is_of(const completion_engine& engine, completion_pool& pool) noexcept {
  const tandem::executor& shared = engine.lane().shared();
  return &shared == &pool.executor();
}
}  // namespace

completion_thread& thread_at_hand(completion_pool& pool) noexcept {
  completion_engine* const here = completion_engine::current();
  const bool is_its_own = here != nullptr && is_of(*here, pool);
  return is_its_own ? pool.thread(here->index()) : pool.thread_in_turn();
}

}  // namespace tandem::inline v0::io
