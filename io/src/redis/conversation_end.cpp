// conversation_end.cpp: how connections come and go, and what becomes of whoever waits. See conversation.hpp
// SPDX-License-Identifier: MIT
#include <optional>
#include <string>
#include <string_view>
#include <tandem/clock.hpp>
#include <utility>

#include "redis/conversation.hpp"

namespace tandem::inline v0::io::redis::detail {
namespace {

/// None: it is no error of Redis's.
std::optional<errc> kind_of(const std::exception_ptr& why) noexcept {
  try {
    std::rethrow_exception(why);
  } catch (const error& known) {
    return known.kind();
  } catch (...) {
    return std::nullopt;
  }
}

bool is_fatal(const std::exception_ptr& why) noexcept {
  const std::optional<errc> kind = kind_of(why);
  return kind == errc::no_auth || kind == errc::bad_option || kind == errc::protocol_error ||
         kind == errc::server_error;
}

/// Not garbage, nor too much: what comes after it may be right again.
bool is_loss(const std::exception_ptr& why) noexcept {
  return kind_of(why) == errc::connection_lost;
}

/// Without the text of a code, which belongs to another outcome than that of whoever waits.
std::string words_of(const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const error& known) {
    const std::string detail = detail_of(known);
    return detail.empty() ? known.what() : detail;
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "unknown";
  }
}

/// An error with these words; std::bad_alloc if there is no memory for it.
std::exception_ptr made(errc code, std::string_view why) noexcept {
  try {
    return std::make_exception_ptr(error(code, std::string(why)));
  } catch (...) {
    return std::current_exception();
  }
}

/// Of an attempt, or a connection, that has failed so: of what was never sent.
std::exception_ptr not_sent(const std::exception_ptr& why) noexcept {
  try {
    return made(errc::not_sent, words_of(why));
  } catch (...) {
    return std::current_exception();
  }
}

/// As `why`, an object of its own: each of those that it ends may run on another thread.
std::exception_ptr again(const std::exception_ptr& why) noexcept {
  try {
    std::rethrow_exception(why);
  } catch (const error& known) {
    try {
      return std::make_exception_ptr(error(known.kind(), detail_of(known), known.server_text()));
    } catch (...) {
      return why;
    }
  } catch (...) {
    return why;
  }
}

}  // namespace

/// conversation/connect
void conversation::connected(request& asked, std::unique_ptr<link>&& opened) {
  later after(*this);
  const lock guard(lock_);
  release(asked, request::role::connects);
  if (is_closed_) return;
  link_ = std::move(opened);
  is_up_ = true;
  ++attempts_;
  last_failure_ = nullptr;
  const bool again = std::exchange(was_up_, true);
  if (messages_ == nullptr) return;
  try {
    if (again && messages_->is_listening()) messages_->add_gap();
    for (reply& each : link_->early) messages_->add(std::move(each));
    link_->early.clear();
  } catch (...) {
    break_off(std::current_exception(), after);
  }
  if (listener_ != nullptr && listener_->asleep && !messages_->empty()) wake(*listener_);
}

void conversation::not_connected(request& asked, const std::exception_ptr& why) {
  later after(*this);
  const lock guard(lock_);
  release(asked, request::role::connects);
  ++attempts_;
  last_failure_ = again(why);
  next_attempt_ = tandem::now() + back_off_.delay_after(attempts_);
  const bool fatal = is_fatal(why);
  const bool for_all =
      fatal || !where_.reconnect || (where_.max_attempts != 0 && attempts_ >= where_.max_attempts);
  if (!for_all && where_.commands == while_disconnected::wait) return;
  const std::exception_ptr failure = fatal ? why : not_sent(why);
  end_unsent(failure, after);
  if (for_all) end_listener(failure, after);
  if (for_all) attempts_ = 0;
}

error conversation::out_of_time(const request& asked) const {
  const std::string within =
      " within " + std::to_string(where_.limit->count()) + " ms (options::limit)";
  std::exception_ptr failure;
  bool had_connection = false;
  {
    const lock guard(lock_);
    if (last_failure_ != nullptr) failure = again(last_failure_);
    had_connection = is_up_;
  }
  std::string told = where_.place() + ": ";
  if (asked.was_sent) return error(errc::timed_out, told + "sent, and not answered" + within);
  told += "not sent" + within;
  if (failure != nullptr) {
    std::string words = words_of(failure);
    if (words.starts_with(where_.place() + ": ")) words.erase(0, where_.place().size() + 2);
    told += "; the last attempt to connect: " + words;
  } else if (!had_connection) {
    told += "; there was no connection";
  }
  return error(errc::timed_out, told);
}

void conversation::lose(std::string_view why) {
  later after(*this);
  const lock guard(lock_);
  if (is_up_) break_off(made(errc::connection_lost, why), after);
}

/// conversation/break
void conversation::break_off(const std::exception_ptr& why, later& after) noexcept {
  if (!is_up_) return;
  is_up_ = false;
  link_->cut();
  next_attempt_ = tandem::now();
  if (attempts_ != 0) next_attempt_ += back_off_.delay_after(attempts_);
  // Of what is being written now nobody knows how much has left.
  const std::uint64_t unsent_from = link_->writing ? link_->taken : link_->written;
  for (; !sent_.empty(); sent_.pop_back()) {
    const expected& last = sent_.back();
    if (last.who != nullptr && last.begin >= unsent_from) {
      last.who->at = request::place::unsent;
      last.who->was_sent = false;
      last.who->got = 0;
      unsent_.push_front(*last.who);
      continue;
    }
    if (last.who != nullptr) end(*last.who, again(why), after);
    after.places += last.cost;
  }
  if (!where_.reconnect) end_unsent(not_sent(why), after);
  if (!where_.reconnect || !is_loss(why)) end_listener(why, after);
}

void conversation::end_unsent(const std::exception_ptr& failure, later& after) noexcept {
  while (!unsent_.empty()) {
    request& first = *unsent_.front();
    unsent_.remove(first);
    after.places += first.cost;
    end(first, again(failure), after);
  }
}

void conversation::end_listener(const std::exception_ptr& failure, later& after) noexcept {
  if (listener_ != nullptr) end(*std::exchange(listener_, nullptr), again(failure), after);
}

void conversation::close() noexcept {
  {
    later after(*this);
    const lock guard(lock_);
    if (is_closed_) return;
    is_closed_ = true;
    break_off(made(errc::connection_lost, "the client was closed"), after);
    end_unsent(made(errc::closed, {}), after);
    if (listener_ != nullptr && listener_->asleep) wake(*listener_);
    pass_on(after);
  }
  closing_.request_stop();
}

}  // namespace tandem::inline v0::io::redis::detail
