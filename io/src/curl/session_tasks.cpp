// session_tasks.cpp: a session's requests, as their callers await them.
// SPDX-License-Identifier: MIT
#include <array>
#include <stdexcept>
#include <tandem/as_result.hpp>
#include <tandem/clock.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/shielded.hpp>
#include <tandem/task_scope.hpp>
#include <utility>
#include <vector>

#include "curl/inside.hpp"
#include "curl/session_core.hpp"

namespace tandem::inline v0::io::curl {

namespace {
constexpr std::size_t piece_bytes = std::size_t{64} << 10;
}

// curl_session/collect
task<response> session_core::collect(handle core, request what) {
  co_await resume_on(core->home());
  core->check_open(what);
  const visit inside(*core);
  exchange here(std::move(what), core->options_.limits, exchange::way::collect);
  const auto begun = tandem::now();
  std::optional<host_name> name = name_to_ask(here.asked.url, core->options_.proxy);
  if (name) {
    co_await core->look_up(here, std::move(*name));
    core->check_open(here.asked);
  }
  const stay until_end(*core, here);
  core->add(here, std::chrono::duration_cast<std::chrono::milliseconds>(tandem::now() - begun));
  while (!here.is_over()) {
    here.changed.reset();
    co_await here.changed.wait();
  }
  here.throw_failure();
  here.check_status();
  response answer = here.take_head();
  answer.body = here.take_body();
  co_return answer;
}

/// What is known when the head has come.
task<response> session_core::head_of(handle core, exchange_handle at) {
  co_await resume_on(core->home());
  const visit inside(*core);
  while (!at->has_head()) {
    at->changed.reset();
    co_await at->changed.wait();
  }
  at->throw_failure();
  at->check_status();
  co_return at->head();
}

// curl_session/read
task<std::size_t> session_core::read(handle core, exchange_handle from, std::span<std::byte> room,
                                     response& head) {
  co_await resume_on(core->home());
  const visit inside(*core);
  if (room.empty()) co_return 0;
  while (true) {
    const std::size_t size = from->take(room);
    if (size != 0) co_return size;
    if (from->is_over()) break;
    from->changed.reset();
    if (from->is_receiving_paused()) {
      from->go_on(true, false);
      core->driver_.settle();
      continue;  // what was kept may have come inside
    }
    co_await from->changed.wait();
  }
  from->throw_failure();
  if (from->easy != nullptr) {
    head = from->take_head();
    core->take_out(*from);
  }
  co_return 0;
}

task<void> session_core::close(handle core, exchange_handle broken_off) {
  co_await resume_on(core->home());
  const visit inside(*core);
  core->take_out(*broken_off);
}

/// close(), for a transfer that nobody knows any more afterwards: without memory for it, soon.
task<void> session_core::close_or_drop(const handle& core, const exchange_handle& broken_off) {
  try {
    return close(core, broken_off);
  } catch (const std::bad_alloc&) {
    core->drop(broken_off);
    throw;
  }
}

task<transfer> session_core::open(handle core, request what) {
  if (what.source() || what.sink() || what.on_body) {
    throw std::invalid_argument(
        "curl: open() takes no request with body_from(), body_to() or on_body: its body is read "
        "from the transfer. Use send()");
  }
  const auto made =
      std::make_shared<exchange>(std::move(what), core->options_.limits, exchange::way::stream);
  const auto begin = [&]() -> task<response> {
    co_await start(core, made);
    co_return co_await head_of(core, made);
  };
  result<response> begun = co_await as_result(begin());
  if (!begun.has_value()) {
    co_await shielded(close_or_drop(core, made));
    std::rethrow_exception(begun.exception());
  }
  co_return transfer(core, made, std::move(begun).value());
}

// curl_session/feed
task<bool> session_core::feed(handle core, exchange_handle to, std::span<const std::byte> bytes,
                              bool is_last) {
  co_await resume_on(core->home());
  const visit inside(*core);
  if (to->is_over()) co_return false;
  class borrowed {
   public:
    explicit borrowed(exchange& by) noexcept : by_(by) {}
    borrowed(const borrowed&) = delete;
    borrowed& operator=(const borrowed&) = delete;
    ~borrowed() { by_.take_back(); }

   private:
    exchange& by_;
  };
  const borrowed until_sent(*to);
  if (!to->give(bytes, is_last)) {
    core->take_out(*to);
    co_return false;
  }
  const bool has_news = !bytes.empty() || is_last;
  if (has_news && to->is_sending_paused()) {
    to->go_on(false, true);
    core->driver_.settle();
  }
  while (!to->is_over() && !to->wants_bytes()) {
    to->wants_more.reset();
    co_await to->wants_more.wait();
  }
  co_return !to->is_over();
}

task<void> session_core::pump(handle core, exchange_handle to) {
  std::vector<std::byte> room(piece_bytes);
  std::size_t size = 0;
  bool is_last = false;
  // The first round gives nothing: it waits until curl can send.
  while (true) {
    const bool goes_on = co_await feed(core, to, std::span(room).first(size), is_last);
    if (!goes_on || is_last) co_return;
    size = co_await to->asked.source()(room);
    is_last = size == 0;
  }
}

/// At the caller's home: what he has given is awaited there.
task<response> session_core::both_ways(handle core, exchange_handle at) {
  co_await start(core, at);
  const auto body = [&](task_scope& scope) -> task<response> {
    if (at->asked.source()) scope.spawn(pump(core, at));
    response head = co_await head_of(core, at);
    std::vector<std::byte> room(at->asked.sink() ? piece_bytes : 0);
    while (at->asked.sink()) {
      const std::size_t size = co_await read(core, at, room, head);
      if (size == 0) break;
      co_await at->asked.sink()(std::span<const std::byte>(room).first(size));
    }
    if (!at->asked.sink()) head = co_await collected(core, at);
    scope.request_stop();  // a source that would still have something
    co_return head;
  };
  co_return co_await with_scope(body);
}

task<response> session_core::collected(handle core, exchange_handle at) {
  co_await resume_on(core->home());
  const visit inside(*core);
  while (!at->is_over()) {
    at->changed.reset();
    co_await at->changed.wait();
  }
  at->throw_failure();
  response answer = at->take_head();
  answer.body = at->take_body();
  co_return answer;
}

// curl_session/stream
task<response> session_core::stream(handle core, request what) {
  const exchange::way how = what.sink() ? exchange::way::stream : exchange::way::collect;
  const auto made = std::make_shared<exchange>(std::move(what), core->options_.limits, how);
  result<response> ended = co_await as_result(both_ways(core, made));
  co_await shielded(close_or_drop(core, made));
  co_return std::move(ended).value();
}

}  // namespace tandem::inline v0::io::curl
