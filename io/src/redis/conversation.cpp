// conversation.cpp: the duties that await: waiting, writing, reading, connecting. See conversation.hpp
// SPDX-License-Identifier: MIT
#include "redis/conversation.hpp"

#include <algorithm>
#include <span>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/clock.hpp>
#include <tandem/io/bytes_of.hpp>
#include <tandem/shielded.hpp>
#include <tandem/sleep.hpp>
#include <tandem/stop.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tandem/with_stop.hpp>
#include <tandem/yield.hpp>
#include <utility>

namespace tandem::inline v0::io::redis::detail {
namespace {

/// After so long without a command whoever writes looks first whether the connection still stands.
constexpr std::chrono::milliseconds idle_span{1};

bool would_block(const std::error_code& why) noexcept {
  return why == std::errc::operation_would_block ||
         why == std::errc::resource_unavailable_try_again;
}

// Made outside the coroutines: in an await each of the two steps would have room in the frame, which
// then were too large for the store of frames.
auto reading(link& on) { return as_result(on.stream().read(on.room)); }
auto writing(link& on) {
  return as_result(on.stream().write(bytes_of(on.out).subspan(on.out_done)));
}

}  // namespace

task<void> conversation::open() {
  greeting hello(where_);
  hello.add_ping();
  result<std::unique_ptr<link>> made =
      co_await as_result(with_timeout(where_.connect_limit, link::open(where_, hello, false)));
  if (!made && made.is_cancelled() && !tandem::stop_requested()) {
    throw error(errc::refused, where_.place() + ": no connection within options::connect_limit");
  }
  std::unique_ptr<link> opened = std::move(made).value();
  const lock guard(lock_);
  link_ = std::move(opened);
  is_up_ = was_up_ = true;
}

task<void> conversation::run_limited(request& asked) {
  if (!where_.limit) {
    co_await run(asked);
    co_return;
  }
  const result<void> done = co_await as_result(with_timeout(*where_.limit, run(asked)));
  if (done) co_return;
  if (done.reason() == stop_reason::deadline && !tandem::stop_requested()) {
    throw out_of_time(asked);
  }
  done.value();
}

task<void> conversation::run(request& asked) {
  if (asked.cost != 0) co_await places_.acquire(asked.cost);
  duty now = begin(asked);
  while (now != duty::end) {
    std::exception_ptr stopped;
    try {
      switch (now) {
        case duty::wait: co_await asked.wake.wait(); break;
        case duty::connect: co_await connect(asked); break;
        case duty::write: co_await write(asked); break;
        case duty::read: co_await read(asked); break;
        case duty::end: break;
      }
    } catch (...) {
      stopped = std::current_exception();
    }
    if (stopped != nullptr) [[unlikely]] {
      const farewell how = leave(asked);
      if (how == farewell::left) std::rethrow_exception(std::move(stopped));
      if (how == farewell::is_being_woken) co_await shielded(asked.wake.wait());
    }
    now = look(asked);
  }
  if (asked.failure != nullptr) [[unlikely]]
    std::rethrow_exception(asked.failure);
}

task<void> conversation::write(request& asked) {
  // Those that were answered together run now, and have something to say again.
  if (asked.gives_way) co_await yield();
  const auto began = tandem::now();
  if (began - link_->last_write.load(std::memory_order_relaxed) > idle_span) check_idle(asked);
  while (take_unsent(asked)) {
    link& on = *link_;
    on.last_write.store(began, std::memory_order_relaxed);
    if (on.may_block) {
      co_await write_and_read(on, asked);
      continue;
    }
    while (on.out_done < on.out.size()) {  // as write_out(), without a frame of its own
      const result<std::size_t> sent = co_await writing(on);
      note_written(on, sent);
    }
  }
}

task<void> conversation::write_out(link& on) {
  while (on.out_done < on.out.size()) {
    const result<std::size_t> sent = co_await writing(on);
    note_written(on, sent);
  }
}

/// After a failure nothing is left to write. @throws operation_cancelled
void conversation::note_written(link& on, const result<std::size_t>& sent) {
  if (sent) {
    on.out_done += sent.value();
    on.written += sent.value();
    return;
  }
  if (sent.is_cancelled()) (void)sent.value();  // throws
  {
    const lock guard(lock_);
    on.writing = false;  // of what is left the system has taken nothing
  }
  lose(sent.error().message());
  on.out_done = on.out.size();
}

/// It reads for all, and only as long as it writes: what it has asked for itself may come later.
task<void> conversation::write_and_read(link& on, request& asked) {
  std::stop_source written;
  const auto writes = [&]() -> task<void> {
    co_await write_out(on);
    written.request_stop();
  };
  co_await when_all(writes(), read_meanwhile(asked, written.get_token()));
}

task<void> conversation::read_meanwhile(request& asked, std::stop_token written) {
  const result<void> ended = co_await as_result(with_stop(written, read_for_all(asked)));
  if (!ended && !(ended.is_cancelled() && written.stop_requested())) ended.value();  // throws
}

task<void> conversation::read_for_all(request& asked) {
  bool has_role = take_reads(asked);
  while (!has_role) {
    co_await reads_free_.wait();
    has_role = take_reads(asked);
  }
  co_await read(asked);
}

/// Asks the socket as long as an answer may still come soon. Others go first each time. Where that
/// was in vain it is not tried for a while, and then longer and longer, up to 256 reads.
task<void> conversation::read(request& asked) {
  bool goes_on = true;
  while (goes_on) {
    link& on = *link_;  // it stays, for the role's sake
    bool spins = where_.spin > where_.spin.zero();
    if (on.reads_until_spin != 0) {
      --on.reads_until_spin;
      spins = false;
    }
    result<std::size_t> got = std::make_error_code(std::errc::operation_would_block);
    while (spins) {
      got = on.stream().try_read(on.room);
      const bool in_vain = !got && would_block(got.error());
      if (!in_vain) on.spin_pause = 0;
      spins = in_vain && !on.has_spun(where_.spin);
      if (spins) co_await yield();
    }
    if (!got && would_block(got.error())) got = co_await reading(on);
    if (!got) {
      if (got.is_cancelled()) (void)got.value();  // throws
      lose(got.error().message());
      co_return;
    }
    if (got.value() == 0) {
      lose("the server has closed it");
      co_return;
    }
    goes_on = take_in(asked, got.value());
  }
}

task<void> conversation::connect(request& asked) {
  std::chrono::steady_clock::time_point when;
  greeting hello(where_);
  {
    const lock guard(lock_);
    when = next_attempt_;
    if (messages_ != nullptr) messages_->greet(hello);
  }
  const std::stop_token closed = closing_.get_token();
  if (when > tandem::now()) {
    const result<void> waited = co_await as_result(with_stop(closed, sleep_until(when)));
    if (!waited) {
      if (!closed.stop_requested()) waited.value();  // throws: a stop of this task's own
      co_return;
    }
  }
  const auto limited = [this, &hello]() -> task<std::unique_ptr<link>> {
    co_return co_await with_timeout(where_.connect_limit,
                                    link::open(where_, hello, messages_ != nullptr));
  };
  result<std::unique_ptr<link>> made = co_await as_result(with_stop(closed, limited()));
  if (made) {
    connected(asked, std::move(made).value());
    co_return;
  }
  if (made.is_cancelled() && tandem::stop_requested()) (void)made.value();  // throws
  if (closed.stop_requested()) co_return;
  // An attempt that has failed as a stop came has failed for all: whoever is stopped finds out next.
  std::exception_ptr why = made.exception();
  if (made.is_cancelled()) {
    why = std::make_exception_ptr(
        error(errc::refused, where_.place() + ": no connection within options::connect_limit"));
  }
  not_connected(asked, why);
}

task<std::optional<message>> conversation::next() {
  request asked;
  try {
    co_await run(asked);
  } catch (const error& why) {
    if (why.kind() != errc::closed) throw;
  }
  const lock guard(lock_);
  if (messages_->empty()) co_return std::nullopt;
  co_return messages_->take();
}

}  // namespace tandem::inline v0::io::redis::detail
