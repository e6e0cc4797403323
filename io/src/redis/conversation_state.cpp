// conversation_state.cpp: what the duties do under the lock. See conversation.hpp
// SPDX-License-Identifier: MIT
#include <tandem/clock.hpp>
#include <utility>

#include "redis/conversation.hpp"

namespace tandem::inline v0::io::redis::detail {
namespace {

/// So much is put together for one write, at least one command.
constexpr std::size_t most_out_bytes = std::size_t{256} << 10;
/// With more unanswered a write may have to wait until answers are read: a server may take nothing
/// while nobody takes what it says. Less than this goes into the buffers of the system.
constexpr std::size_t most_buffered_bytes = std::size_t{64} << 10;
constexpr std::size_t most_buffered_requests = 128;

retry_options delays(const options& where) {
  retry_options made;
  made.initial_delay(where.initial_delay).max_delay(where.max_delay).jitter(retry_jitter::equal);
  return made;
}

}  // namespace

conversation::conversation(options where, manners kind, std::unique_ptr<subscriptions> messages)
    : where_(std::move(where)),
      kind_(kind),
      back_off_(delays(where_)),
      places_(std::min(where_.max_unanswered_bytes, semaphore::max)),
      messages_(std::move(messages)) {
  where_.check();
}

conversation::later::~later() {
  for (request* each = woken; each != nullptr;) {
    request& now = *each;
    each = each->next;  // before: whoever is awake is gone
    now.wake.set();
  }
  if (places != 0) of_.places_.release(places);
}

bool conversation::is_up() const noexcept {
  const lock guard(lock_);
  return is_up_;
}

conversation::duty conversation::begin(request& asked) {
  later after(*this);
  const lock guard(lock_);
  const bool listens = asked.expected == 0;
  if (!(listens && !messages_->empty())) {
    after.places = asked.cost;
    refuse_in_vain(listens);
    after.places = 0;
  }
  if (listens) {
    TANDEM_ASSERT(listener_ == nullptr, "subscriber::next() by two tasks at once");
    listener_ = &asked;
    asked.at = request::place::listening;
  } else {
    unsent_.push_back(asked);
    asked.at = request::place::unsent;
  }
  return choose(asked);
}

void conversation::refuse_in_vain(bool listens) const {
  if (is_closed_) throw error(errc::closed, {});
  if (is_up_) return;
  if (!where_.reconnect && was_up_) {
    throw error(errc::not_sent, "the connection was lost, and is not made anew");
  }
  if (!listens && where_.commands == while_disconnected::fail && tandem::now() < next_attempt_) {
    throw error(errc::not_sent, "the next attempt to connect comes later");
  }
}

conversation::duty conversation::look(request& asked) {
  later after(*this);
  const lock guard(lock_);
  asked.asleep = false;
  for (const auto each : {request::role::connects, request::role::writes, request::role::reads}) {
    if (asked.has(each)) release(asked, each);
  }
  const duty next = choose(asked);
  if (next == duty::end) pass_on(after);
  return next;
}

/// conversation/choose
conversation::duty conversation::choose(request& asked) noexcept {
  if (asked.has_ended()) return duty::end;
  if (asked.at == request::place::listening && (is_closed_ || is_satisfied(asked))) {
    listener_ = nullptr;
    asked.at = request::place::finished;
    return duty::end;
  }
  if (!is_up_) {
    if (!connecting_ && !writing_ && !reading_) {
      connecting_ = true;
      asked.take(request::role::connects);
      return duty::connect;
    }
  } else if (!writing_ && (!unsent_.empty() || link_->out_done < link_->out.size())) {
    writing_ = true;
    asked.gives_way = std::exchange(crowded_, false);
    asked.take(request::role::writes);
    return duty::write;
  } else if (!reading_ && !writing_) {
    reading_ = true;
    asked.take(request::role::reads);
    return duty::read;
  }
  asked.wake.reset();
  asked.asleep = true;
  return duty::wait;
}

bool conversation::is_satisfied(const request& asked) const noexcept {
  return asked.has_ended() || (asked.at == request::place::listening && !messages_->empty());
}

/// conversation/leave
conversation::farewell conversation::leave(request& asked) noexcept {
  later after(*this);
  const lock guard(lock_);
  asked.asleep = false;
  for (const auto each : {request::role::connects, request::role::writes, request::role::reads}) {
    if (asked.has(each)) release(asked, each);
  }
  if (asked.at == request::place::answered) return farewell::is_being_woken;
  if (asked.at == request::place::finished) return farewell::has_ended;
  if (asked.at == request::place::unsent) {
    unsent_.remove(asked);
    after.places = asked.cost;
  } else if (asked.at == request::place::sent) {
    // Its place among the unanswered is free at once: maybe all others wait for one, and nobody reads.
    for (expected& each : sent_) {
      if (each.who != &asked) continue;
      each.who = nullptr;
      after.places = std::exchange(each.cost, 0);
    }
  } else {
    listener_ = nullptr;
  }
  asked.at = request::place::outside;
  pass_on(after);
  return farewell::left;
}

/// conversation/write: what is unsent becomes sent, in its order.
bool conversation::take_unsent(request& asked) {
  later after(*this);
  const lock guard(lock_);
  link& on = *link_;
  on.writing = false;
  if (!is_up_) return false;
  if (on.out_done == on.out.size()) {
    on.out.clear();
    on.out_done = 0;
  }
  while (!unsent_.empty() && on.out.size() < most_out_bytes) {
    request& next = *unsent_.front();
    on.out.reserve(on.out.size() + next.bytes.size());
    sent_.push_back(expected{&next, next.expected, next.cost, on.taken});
    on.out += next.bytes;
    on.taken += next.bytes.size();
    unsent_.remove(next);
    next.at = request::place::sent;
    next.was_sent = true;
  }
  if (on.out.empty()) {
    release(asked, request::role::writes);
    return false;
  }
  on.writing = true;
  const std::uint64_t answered = sent_.empty() ? on.written : sent_.front().begin;
  on.may_block = on.taken - answered > most_buffered_bytes || sent_.size() > most_buffered_requests;
  return true;
}

/// For whoever writes.
bool conversation::take_reads(request& asked) {
  const lock guard(lock_);
  if (asked.has(request::role::reads)) return true;
  if (reading_) {
    writer_wants_to_read_ = true;
    reads_free_.reset();
    return false;
  }
  reading_ = true;
  asked.take(request::role::reads);
  return true;
}

/// conversation/read
bool conversation::take_in(request& asked, std::size_t bytes) {
  link& on = *link_;
  std::exception_ptr broken;
  try {
    on.answers.feed(std::span(on.room).first(bytes));
    while (std::optional<reply> each = on.answers.next()) on.parsed.push_back(std::move(*each));
    if (bytes == on.room.size()) on.grow_room();
  } catch (...) {
    broken = std::current_exception();
  }
  later after(*this);
  bool goes_on = true;
  {
    const lock guard(lock_);
    std::size_t answered = 0;
    try {
      for (reply& each : on.parsed) {
        if (!is_up_) break;
        answered += deliver(std::move(each), after) ? 1 : 0;
      }
    } catch (...) {
      broken = std::current_exception();
    }
    on.parsed.clear();
    attempts_ = 0;
    crowded_ = answered > 1;
    if (broken != nullptr) break_off(broken, after);
    goes_on = is_up_ && (asked.has(request::role::writes) || !is_satisfied(asked));
    if (!goes_on) {
      release(asked, request::role::reads);
      if (asked.has_ended()) pass_on(after);
    }
  }
  return goes_on;
}

/// @returns  whether somebody has all answers now
bool conversation::deliver(reply&& got, later& after) {
  if (messages_ != nullptr) {
    if (is_message(got)) {
      messages_->add(std::move(got));
      if (listener_ != nullptr && listener_->asleep) wake(*listener_);
      return false;
    }
    messages_->note(got);
  }
  if (sent_.empty()) {
    throw error(errc::protocol_error, "an answer that nobody has asked for: " + got.to_string());
  }
  expected& first = sent_.front();
  request* const who = first.who;
  const bool is_refusal = got.is_error();
  if (who != nullptr) who->answers[who->got++] = std::move(got);
  // A subscription of several that is refused is refused with one answer.
  if (messages_ != nullptr && is_refusal) first.left = 1;
  if (--first.left != 0) return false;
  if (who != nullptr) end(*who, nullptr, after);
  after.places += first.cost;
  sent_.pop_front();
  return who != nullptr;
}

void conversation::check_idle(request& asked) {
  {
    const lock guard(lock_);
    if (reading_ || !is_up_) return;
    reading_ = true;
    asked.take(request::role::reads);
  }
  link& on = *link_;
  bool goes_on = true;
  while (goes_on) {
    const result<std::size_t> got = on.stream().try_read(on.room);
    if (got && got.value() != 0) {
      goes_on = take_in(asked, got.value());
      continue;
    }
    goes_on = false;
    if (got) lose("the server has closed it");
    if (!got && got.error() != std::errc::operation_would_block &&
        got.error() != std::errc::resource_unavailable_try_again) {
      lose(got.error().message());
    }
  }
  const lock guard(lock_);
  if (asked.has(request::role::reads)) release(asked, request::role::reads);
}

void conversation::release(request& asked, request::role which) noexcept {
  asked.give(which);
  if (which == request::role::connects) connecting_ = false;
  if (which == request::role::writes) {
    writing_ = false;
    if (link_ != nullptr) link_->writing = false;
  }
  if (which == request::role::reads) {
    reading_ = false;
    if (std::exchange(writer_wants_to_read_, false)) reads_free_.set();
  }
}

/// conversation/pass_on: a role may be free, and whoever had it goes.
void conversation::pass_on(later& /*after*/) noexcept {
  if (!is_up_) {
    if (connecting_ || writing_ || reading_) return;
    link_.reset();
    request* const next = unsent_.front() != nullptr ? unsent_.front() : listener_;
    if (next != nullptr && next->asleep) wake(*next);
    return;
  }
  if (writing_) return;  // whoever writes looks afterwards
  if (!unsent_.empty()) {
    if (unsent_.front()->asleep) wake(*unsent_.front());
    return;
  }
  // Of what somebody has written in part the rest may be that of others, who sleep. Whoever reads
  // began when there was no such rest, so that its own is not among it.
  if (reading_ && link_->out_done == link_->out.size()) return;
  request* next = listener_ != nullptr && listener_->asleep ? listener_ : nullptr;
  for (const expected& each : sent_) {
    if (each.who == nullptr || !each.who->asleep) continue;
    next = each.who;
    break;
  }
  if (next != nullptr) wake(*next);
}

void conversation::wake(request& asleep) noexcept {
  asleep.asleep = false;
  asleep.wake.set();
}

/// conversation/end
void conversation::end(request& who, std::exception_ptr failure, later& after) noexcept {
  who.failure = std::move(failure);
  who.at = request::place::finished;
  if (!std::exchange(who.asleep, false)) return;
  who.at = request::place::answered;
  who.next = std::exchange(after.woken, &who);
}

}  // namespace tandem::inline v0::io::redis::detail
