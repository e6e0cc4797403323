// session.cpp: reading, writing and ending. Protocol tls_sending: io/src/tls/README.md.
// SPDX-License-Identifier: MIT
#include "tls/session.hpp"

#include <algorithm>
#include <tandem/as_result.hpp>
#include <tandem/runtime.hpp>
#include <tandem/shielded.hpp>
#include <tandem/spawn.hpp>
#include <tandem/stop.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_stop.hpp>
#include <tandem/worker_pool.hpp>
#include <tandem/yield.hpp>
#include <utility>

namespace tandem::inline v0::io::detail {

namespace {

/// Four full records.
constexpr std::size_t most_at_once = std::size_t{64} * 1024;
constexpr std::size_t record_bytes = std::size_t{16} * 1024;
/// Some 0.2 ms of encryption: after so much others that are ready on the thread have a turn, and it
/// looks at its ring. (The await budget counts awaits, of which one may take as long as a hundred.)
constexpr std::size_t most_in_a_row = std::size_t{256} * 1024;

/// What a task that sends by itself still has when the stream has been dropped.
constexpr std::chrono::seconds last_moment{1};

}  // namespace

/// The turn, given up when it goes.
class tls_session::turn {
 public:
  explicit turn(tls_session& of) noexcept : of_(&of) {}
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  ~turn() {
    of_->write_goes_on();  // if it was stopped
    // What a stop has left of what was counted as written goes out by itself.
    if (of_->has_rest() || of_->ends_turn()) of_->start_background();
  }

 private:
  tls_session* of_;
};

class tls_session::seen {
 public:
  tls_step step = tls_step::failed;
  std::size_t count = 0;
  std::uint64_t arrivals = 0;
  std::exception_ptr failure;
  bool has_output = false;
  bool lets_write = false;  // tls_sending/go_on
};

void tls_session::begin(std::shared_ptr<tls_generation> options, const std::string& name,
                        std::string what) {
  workers_ = &tandem::detail::current_runtime("TLS").workers();
  engine_.emplace(below_, std::move(options), name, std::move(what));
}

tls_session::seen tls_session::decrypt(std::span<std::byte> buffer) {
  seen now;
  const engine_lock held(lock_);
  now.step = engine_->decrypt(buffer, now.count);
  now.has_output = !engine_->transport().output().empty();
  now.arrivals = engine_->transport().arrivals();
  now.lets_write = !no_write_waits_.is_set() && !engine_->is_amid_message();
  if (now.step == tls_step::failed) now.failure = engine_->failure();
  return now;
}

task<std::size_t> tls_session::read(std::span<std::byte> buffer) {
  if (buffer.empty() || has_peer_ended_) co_return 0;
  if (read_in_a_row_ >= most_in_a_row) {
    read_in_a_row_ = 0;
    co_await yield();  // a stop is noticed here, while nothing is taken yet
  }
  while (true) {
    const seen now = decrypt(buffer);
    if (now.has_output) offer();
    if (now.step == tls_step::done) {
      read_in_a_row_ += now.count;
      co_return now.count;
    }
    if (now.step == tls_step::failed) std::rethrow_exception(now.failure);
    if (now.step == tls_step::ended) {
      has_peer_ended_ = true;
      co_return 0;
    }
    read_in_a_row_ = 0;
    if (now.step == tls_step::yields) {
      co_await yield();
      continue;
    }
    if (now.lets_write) {
      co_await no_write_waits_.wait();
      continue;
    }
    co_await reading_.lock();
    const mutex_guard mine(reading_);
    co_await read_below(now.arrivals);
  }
}

task<void> tls_session::read_below(std::uint64_t arrivals) {
  std::span<std::byte> room;
  {
    const engine_lock held(lock_);
    if (engine_->transport().arrivals() != arrivals) co_return;  // somebody has read meanwhile
    if (!engine_->transport().has_rest()) room = engine_->transport().room();
  }
  if (room.empty()) {  // OpenSSL has not got all of what came before
    co_await yield();
    co_return;
  }
  result<std::size_t> got = std::size_t{0};
  try {  // as_result() would make the frame one that no magazine keeps
    got = co_await below_.read(room);
  } catch (...) {
    got = std::current_exception();
  }
  {
    const engine_lock held(lock_);
    if (got) {
      engine_->transport().came(got.value());
    } else {
      engine_->transport().nothing_came();
      if (!got.is_cancelled()) engine_->fail_for_good(got.exception());
    }
  }
  got.value();
}

std::optional<std::uint64_t> tls_session::encrypt(std::span<const std::byte> bytes) {
  std::exception_ptr failure;
  {
    const engine_lock held(lock_);
    const tls_step step = engine_->encrypt(bytes, failure);
    if (step == tls_step::reads) {
      no_write_waits_.reset();
      return engine_->transport().arrivals();
    }
  }
  write_goes_on();
  if (failure != nullptr) std::rethrow_exception(std::move(failure));
  sent_in_a_row_ += bytes.size();
  return std::nullopt;
}

void tls_session::write_goes_on() noexcept {
  if (!no_write_waits_.is_set()) no_write_waits_.set();
}

task<void> tls_session::encrypt_later(std::span<const std::byte> bytes) {
  while (true) {
    co_await reading_.lock();  // whoever reads brings the rest; if nobody does, this task has to
    const mutex_guard mine(reading_);
    const std::optional<std::uint64_t> arrivals = encrypt(bytes);
    if (!arrivals) co_return;
    co_await read_below(*arrivals);
  }
}

void tls_session::drop_output() noexcept {
  sending_.give_back();
  sent_ = 0;
  const engine_lock held(lock_);
  engine_->transport().output().give_back();
}

task<void> tls_session::drain() {
  if (sent_in_a_row_ >= most_in_a_row) {
    sent_in_a_row_ = 0;
    co_await yield();
  }
  if (send_failure_ != nullptr) {
    drop_output();
    std::rethrow_exception(send_failure_);
  }
  while (true) {
    if (sent_ == sending_.size()) {
      sending_.give_back();
      sent_ = 0;
      const engine_lock held(lock_);
      std::swap(sending_, engine_->transport().output());
    }
    if (sending_.empty()) co_return;
    const std::span<const std::byte> rest = sending_.bytes().subspan(sent_);
    result<std::size_t> wrote = std::size_t{0};
    try {  // as in read_below()
      wrote = co_await below_.write(rest);
    } catch (...) {
      wrote = std::current_exception();
    }
    if (!wrote && !wrote.is_cancelled()) {
      send_failure_ = wrote.exception();
      drop_output();
    }
    sent_ += wrote.value();
    if (wrote.value() == 0) co_await yield();  // a stream that takes nothing for now
  }
}

task<std::size_t> tls_session::write(std::span<const std::byte> bytes) {
  if (bytes.empty()) co_return 0;
  co_await turn_.lock();
  const turn mine(*this);
  // What was left over: memory is not to grow with each write that is stopped.
  if (has_to_drain()) co_await drain();
  const std::size_t count = (std::min)(bytes.size(), most_at_once);
  if (encrypt(bytes.first(count))) co_await encrypt_later(bytes.first(count));
  const result<void> sent = co_await as_result(drain());
  if (!sent && !sent.is_cancelled()) std::rethrow_exception(sent.exception());
  co_return count;
}

task<void> tls_session::write_all(std::span<const std::byte> bytes) {
  co_await turn_.lock();
  const turn mine(*this);
  if (has_to_drain()) co_await drain();
  while (!bytes.empty()) {
    const std::size_t count = (std::min)(bytes.size(), most_at_once);
    if (encrypt(bytes.first(count))) co_await encrypt_later(bytes.first(count));
    bytes = bytes.subspan(count);
    co_await drain();
  }
}

/// Small buffers share records: what each record adds, and each call of OpenSSL's, would cost more
/// than the copy.
task<void> tls_session::write_list(std::span<const std::span<const std::byte>> buffers) {
  record_room gathered;
  for (const std::span<const std::byte> each : buffers) {
    if (gathered.size() + each.size() <= record_bytes) {
      gathered.append(each.data(), each.size());
      continue;
    }
    co_await write_all(gathered.bytes());
    gathered.give_back();
    if (each.size() >= record_bytes / 2) {
      co_await write_all(each);
    } else {
      gathered.append(each.data(), each.size());
    }
  }
  co_await write_all(gathered.bytes());
}

bool tls_session::has_to_drain() noexcept {
  if (sent_ != sending_.size() || send_failure_ != nullptr) return true;
  return sent_in_a_row_ >= most_in_a_row || has_output();
}

bool tls_session::has_output() noexcept {
  const engine_lock held(lock_);
  return !engine_->transport().output().empty();
}

bool tls_session::has_rest() const noexcept {
  return sent_ != sending_.size() && send_failure_ == nullptr;
}

bool tls_session::ends_turn() noexcept {
  turn_.unlock();
  return has_output() && turn_.try_lock();
}

void tls_session::offer() noexcept {
  if (turn_.try_lock()) start_background();
}

void tls_session::start_background() noexcept {
  try {
    std::stop_token token;
    {
      const engine_lock held(lock_);
      if (!abandoned_.stop_possible()) abandoned_ = std::stop_source();
      token = abandoned_.get_token();
    }
    task<void> sender = send_in_background(shared_from_this(), std::move(token));
    executor& home = below_.has_thread_executor() ? below_.thread_executor() : *workers_;
    spawn(home, std::move(sender)).detach();
  } catch (...) {
    turn_.unlock();  // no memory, or outside any task: whoever sends next has it
  }
}

task<void> tls_session::send_in_background(std::shared_ptr<tls_session> self,
                                           std::stop_token token) {
  do {
    // A failure is told by the next write.
    const result<void> sent = co_await as_result(with_stop(token, self->drain()));
    if (sent.is_cancelled()) {
      (void)co_await as_result(shielded(with_timeout(last_moment, self->drain())));
      self->turn_.unlock();
      co_return;
    }
  } while (self->ends_turn());
}

void tls_session::shutdown() {
  {
    const engine_lock held(lock_);
    engine_->say_goodbye();
  }
  offer();
}

task<bool> tls_session::say_goodbyes() {
  {
    co_await turn_.lock();
    const turn mine(*this);
    {
      const engine_lock held(lock_);
      engine_->say_goodbye();
    }
    const result<void> said = co_await as_result(drain());
    if (!said && !said.is_cancelled() && has_peer_ended_) co_return true;  // it has gone already
    if (!said) std::rethrow_exception(said.exception());
  }
  record_room room;
  room.reserve(record_bytes);
  while (co_await read(room.whole()) != 0) {}
  co_return true;
}

task<bool> tls_session::finish(std::chrono::steady_clock::duration most) {
  const auto limit = tandem::detail::deadline_after(most);
  const result<bool> ended = co_await as_result(with_deadline(limit, say_goodbyes()));
  if (ended) co_return ended.value();
  if (ended.is_cancelled() && stop_requested()) (void)ended.value();
  offer();  // what is left goes out without making anybody wait
  co_return false;
}

void tls_session::update_keys(bool of_peer_too) {
  {
    const engine_lock held(lock_);
    engine_->update_keys(of_peer_too);
  }
  offer();
}

void tls_session::abandon() noexcept {
  std::stop_source asked(std::nostopstate);
  {
    const engine_lock held(lock_);
    asked = abandoned_;
  }
  asked.request_stop();
}

tls::session_details tls_session::details() {
  const engine_lock held(lock_);
  return engine_->details();
}

}  // namespace tandem::inline v0::io::detail
