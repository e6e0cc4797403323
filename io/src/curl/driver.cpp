// driver.cpp: what curl waits for, asked of a foreign loop, and no oftener than it has to be.
// SPDX-License-Identifier: MIT
#include "curl/driver.hpp"

#include <new>
#include <system_error>
#include <tandem/clock.hpp>
#include <tandem/io/owned_descriptor.hpp>
#include <utility>

namespace tandem::inline v0::io::curl {

namespace {

watch_interest interest_of(int what) noexcept {
  switch (what) {
    case CURL_POLL_IN: return watch_interest::read;
    case CURL_POLL_OUT: return watch_interest::write;
    case CURL_POLL_INOUT: return watch_interest::read_write;
    default: return watch_interest::none;
  }
}

void count(std::atomic<std::uint64_t>& counter) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

driver::driver(foreign_loop& loop, driven& told)
    : loop_(loop), told_(told), multi_(made_or_no_memory<multi_handle>(curl_multi_init())) {
  set_callbacks();
}

void driver::set_callbacks() noexcept {
  CURLM* const multi = multi_.get();
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &driver::on_socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &driver::on_timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
}

bool driver::adopt(CURL* easy) noexcept {
  return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, &driver::on_opened) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, this) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, &driver::on_close) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, this) == CURLE_OK;
}

void driver::settle() noexcept {
  // What is due is done here, so that a new transfer costs no timer; of a curl that never has enough
  // the thread's other tasks have their turn in between.
  for (int round = 0; is_due_ && broken_ == nullptr && round < 4; ++round) {
    is_due_ = false;
    act(CURL_SOCKET_TIMEOUT, 0);
  }
  if (broken_ == nullptr) {
    try {
      arm_sockets();
      arm_timer();
      return;
    } catch (...) {
      broken_ = std::current_exception();
    }
  }
  told_.all_failed(std::exchange(broken_, nullptr));
}

void driver::end() noexcept {
  multi_.reset();
  changed_.clear();
  for (const auto& [number, at] : std::exchange(sockets_, {})) {
    if (at.is_watched) loop_.forget(number);
  }
  loop_.no_deadline();
}

void driver::renew() noexcept {
  end();
  is_due_ = is_spoilt_ = false;
  wanted_.reset();
  armed_.reset();
  multi_.reset(curl_multi_init());
  set_callbacks();
}

// curl_session/want
int driver::on_socket(CURL* /*easy*/, curl_socket_t number, int what, void* self,
                      void* /*at*/) noexcept {
  driver& me = *static_cast<driver*>(self);
  try {
    const auto found = me.sockets_.find(number);
    if (what == CURL_POLL_REMOVE) {
      if (found == me.sockets_.end()) return 0;
      watched& at = found->second;
      at.wanted = watch_interest::none;
      // Nobody tells when one of the resolver's is closed, or one that has not connected yet.
      if (!at.is_connection || includes(at.armed, watch_interest::write)) me.forget(number);
      return 0;
    }
    watched& at = found != me.sockets_.end() ? found->second : me.sockets_[number];
    at.wanted = interest_of(what);
    me.note(number, at);
  } catch (...) {
    me.broken_ = std::current_exception();
  }
  return 0;
}

int driver::on_timer(CURLM* /*multi*/, long milliseconds, void* self) noexcept {
  driver& me = *static_cast<driver*>(self);
  me.is_due_ = milliseconds == 0;
  me.wanted_.reset();
  if (milliseconds > 0) me.wanted_ = tandem::now() + std::chrono::milliseconds(milliseconds);
  return 0;
}

int driver::on_opened(void* self, curl_socket_t number, curlsocktype /*kind*/) noexcept {
  driver& me = *static_cast<driver*>(self);
  count(me.opened_);
  try {
    me.forget(number);
    me.sockets_[number].is_connection = true;
  } catch (...) {
    me.broken_ = std::current_exception();
    return CURL_SOCKOPT_ERROR;
  }
  return CURL_SOCKOPT_OK;
}

int driver::on_close(void* self, curl_socket_t number) noexcept {
  driver& me = *static_cast<driver*>(self);
  me.forget(number);
  owned_descriptor(number).close();
  return 0;
}

void driver::note(curl_socket_t number, watched& at) {
  if (at.armed == at.wanted || at.is_noted) return;
  changed_.push_back(number);
  at.is_noted = true;
}

void driver::forget(curl_socket_t number) noexcept {
  const auto found = sockets_.find(number);
  if (found == sockets_.end()) return;
  if (found->second.is_watched) loop_.forget(number);
  sockets_.erase(found);
}

// curl_session/event
void driver::ready(native_descriptor number, ready_events events) noexcept {
  const auto found = sockets_.find(number);
  if (found == sockets_.end()) return;
  if (found->second.wanted == watch_interest::none) {
    // An idle connection, or a paused transfer: from now on it wakes nobody.
    try {
      arm(number, found->second);
    } catch (...) {
      forget(number);  // then it wakes nobody, too
    }
    return;
  }
  count(wake_ups_);
  int what = 0;
  if (events.readable() || events.hung_up()) what |= CURL_CSELECT_IN;
  if (events.writable()) what |= CURL_CSELECT_OUT;
  if (events.error()) what |= CURL_CSELECT_ERR;
  // Of a wait that the system has refused this is the last event: the next wish arms it anew.
  if (events.error()) found->second.armed = watch_interest::none;
  act(number, what);
  if (events.error()) arm_again(number);
  settle();
}

void driver::arm_again(curl_socket_t number) noexcept {
  const auto found = sockets_.find(number);
  if (found == sockets_.end() || found->second.wanted == watch_interest::none) return;
  try {
    note(number, found->second);
  } catch (...) {
    broken_ = std::current_exception();
  }
}

void driver::time_has_come() noexcept {
  armed_.reset();
  if (wanted_ && *wanted_ <= tandem::now()) {
    count(wake_ups_);
    wanted_.reset();
    act(CURL_SOCKET_TIMEOUT, 0);
  } else if (is_due_) {
    count(wake_ups_);
  }
  settle();
}

void driver::act(curl_socket_t number, int events) noexcept {
  int running = 0;
  const CURLMcode code = curl_multi_socket_action(multi_.get(), number, events, &running);
  collect();
  // It does not say whose: it had no memory to note that somebody waits, who would do so for ever.
  if (code == CURLM_OUT_OF_MEMORY) {
    broken_ = std::make_exception_ptr(std::bad_alloc());
    is_spoilt_ = true;
  }
}

void driver::collect() noexcept {
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    // A copy: the message goes with the handle.
    CURL* const easy = message->easy_handle;
    const CURLcode outcome = message->data.result;
    told_.transfer_ended(easy, outcome);
  }
}

void driver::arm_sockets() {
  while (!changed_.empty()) {
    const curl_socket_t number = changed_.back();
    changed_.pop_back();
    const auto found = sockets_.find(number);
    if (found == sockets_.end()) continue;
    watched& at = found->second;
    at.is_noted = false;
    // Idle, or paused: a wait for reading stays until something comes, which is mostly wanted then.
    if (at.wanted == watch_interest::none || at.armed == at.wanted) continue;
    try {
      arm(number, at);
    } catch (const std::system_error& refused) {
      if (refused.code() != std::errc::bad_file_descriptor) throw;
      forget(number);  // it has closed it meanwhile, and will say so
    }
  }
}

void driver::arm(curl_socket_t number, watched& at) {
  if (at.is_watched) {
    loop_.watch(number, at.wanted);
  } else {
    loop_.watch(number, at.wanted, [this](native_descriptor ready_one, ready_events events) {
      ready(ready_one, events);
    });
  }
  at.is_watched = true;
  at.armed = at.wanted;
}

void driver::arm_timer() {
  std::optional<clock::time_point> next = wanted_;
  if (is_due_) next = tandem::now();
  // One that comes too early costs less than taking it back.
  if (!next || (armed_ && *armed_ <= *next)) return;
  loop_.deadline(*next, [this] { time_has_come(); });
  armed_ = next;
}

}  // namespace tandem::inline v0::io::curl
