// shared_mutex.cpp: who is let in next.
// SPDX-License-Identifier: MIT
#include <tandem/shared_mutex.hpp>

#include "sync/suspend.hpp"

namespace tandem::inline v0 {

using detail::lock_word;
using detail::taken_list;
using detail::waiter;

constinit const detail::wait_kind shared_mutex::waits_to_write(&waiter::on_stop, "a shared_mutex",
                                                               detail::wait_end::anybody,
                                                               &shared_mutex::describe);
constinit const detail::wait_kind shared_mutex::waits_to_read(&waiter::on_stop, "a shared_mutex",
                                                              detail::wait_end::anybody,
                                                              &shared_mutex::describe);

void shared_mutex::describe(const stop_waiter& wait, detail::wait_note& note) noexcept {
  static_assert(std::is_standard_layout_v<shared_mutex>);
  const lock_word& word = static_cast<const waiter&>(wait).word();
  const lock_word::word state = word.load();
  note.object = &word;
  note.verb = &wait.kind() == &waits_to_read ? "waits to read by" : "waits to write by";
  if ((state & writer) != 0) {
    note.end = detail::wait_end::task;
    note.task = reinterpret_cast<const shared_mutex&>(word).owner_.load(  // NOLINT
        std::memory_order_relaxed);
  } else {
    note.say("that %u %s", state / reader, state / reader == 1 ? "task reads" : "tasks read");
  }
}

bool shared_mutex::may_write(lock_word::word state) noexcept {
  return state < writer && waiting_.front() == nullptr;
}

bool shared_mutex::may_read(lock_word::word state) noexcept {
  return (state & writer) == 0 && waiting_.front() == nullptr;
}

lock_word::word shared_mutex::with_reader(lock_word::word state) const noexcept {
  return with_waiters((state & lock_word::value_mask) + reader);
}

lock_word::word shared_mutex::with_waiters(lock_word::word value) const noexcept {
  return value | (waiting_.empty() ? 0 : lock_word::waiters);
}

lock_word::word shared_mutex::grant(lock_word::word value, taken_list& granted) noexcept {
  while (waiter* const oldest = waiting_.front()) {
    const bool writes = &oldest->kind() == &waits_to_write;
    if ((value & writer) != 0 || (writes && value != 0)) break;  // nobody overtakes it
    if (!waiting_.take(*oldest)) continue;                       // waiting/grant
    value += writes ? writer : reader;
    if (writes) note_owner(oldest->waiting().env);
    granted.push_back(oldest);
  }
  return with_waiters(value);
}

void shared_mutex::give_back_slow(lock_word::word held) noexcept {
  const lock_word::word value = word_.lock() & lock_word::value_mask;
  TANDEM_ASSERT(held == writer ? value == writer : value >= reader && (value & writer) == 0,
                "a shared_mutex was given back by somebody who does not hold it");
  taken_list granted;
  word_.unlock(grant(value - held, granted));
  granted.wake();
}

void shared_mutex::downgrade_slow() noexcept {
  [[maybe_unused]] const lock_word::word value = word_.lock() & lock_word::value_mask;
  TANDEM_ASSERT(value == writer, "a shared_mutex was downgraded by somebody who does not write");
  taken_list granted;
  word_.unlock(grant(reader, granted));
  granted.wake();
}

void shared_mutex::let_go() noexcept {
  taken_list granted;
  word_.unlock(grant(word_.lock() & lock_word::value_mask, granted));
  granted.wake();
}

bool shared_mutex::try_lock_shared_slow() noexcept {
  const lock_word::word state = word_.lock();
  const bool got = may_read(state);
  word_.unlock(got ? with_reader(state) : state);
  return got;
}

bool write_lock_awaiter::start(detail::promise_base& waiting) noexcept {
  return detail::suspend(
      room_, shared_mutex::waits_to_write, target_->word_, target_->waiting_, waiting,
      [this](lock_word::word state) { return target_->may_write(state); },
      [this, &waiting](lock_word::word) {
        target_->note_owner(waiting.env);
        return target_->with_waiters(shared_mutex::writer);
      });
}

bool write_lock_awaiter::select_arm(detail::select_place& as) noexcept {
  return detail::arm(
      room_, as, shared_mutex::waits_to_write, target_->word_, target_->waiting_,
      [this](lock_word::word state) { return target_->may_write(state); },
      [this](lock_word::word) {
        target_->note_owner(detail::this_thread().env);
        return target_->with_waiters(shared_mutex::writer);
      });
}

void write_lock_awaiter::select_disarm() noexcept {
  if (room_.disarm()) target_->let_go();
}

void write_lock_awaiter::select_let_pass() noexcept { target_->let_go(); }

bool read_lock_awaiter::start(detail::promise_base& waiting) noexcept {
  return detail::suspend(
      room_, shared_mutex::waits_to_read, target_->word_, target_->waiting_, waiting,
      [this](lock_word::word state) { return target_->may_read(state); },
      [this](lock_word::word state) { return target_->with_reader(state); });
}

bool read_lock_awaiter::select_arm(detail::select_place& as) noexcept {
  return detail::arm(
      room_, as, shared_mutex::waits_to_read, target_->word_, target_->waiting_,
      [this](lock_word::word state) { return target_->may_read(state); },
      [this](lock_word::word state) { return target_->with_reader(state); });
}

}  // namespace tandem::inline v0
