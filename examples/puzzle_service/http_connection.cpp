// http_connection.cpp: one client: reads requests, has them answered in order, writes the answers.
// SPDX-License-Identifier: MIT
#include "http_connection.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <utility>

#include <tandem/as_result.hpp>
#include <tandem/environment.hpp>
#include <tandem/errors.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_stop.hpp>

namespace service {

namespace {

using namespace std::chrono_literals;

// Answers to pipelined requests are written together up to this size.
constexpr std::size_t output_batch_bytes = 64 * 1024;
constexpr auto linger_time = 1s;

tandem::task<void> write_text(tandem::io::any_stream& stream, const std::string& text) {
  co_await stream.write_all(tandem::io::bytes_of(text));
}

// Takes what the client still sends, until it closes.
tandem::task<void> read_to_end(tandem::io::any_stream& stream) {
  std::array<std::byte, 4096> dropped;
  while (true) {
    auto got = co_await tandem::as_result(stream.read(dropped));
    if (!got || got.value() == 0) co_return;
  }
}

}  // namespace

tandem::task<void> send_and_close(tandem::io::any_stream& stream, std::string response) {
  tandem::task<void> writing = write_text(stream, response);
  const auto written =
      co_await tandem::as_result(tandem::with_timeout(linger_time, std::move(writing)));
  if (written) {
    stream.shutdown();
    tandem::task<void> draining = read_to_end(stream);
    (void)co_await tandem::as_result(tandem::with_timeout(linger_time, std::move(draining)));
  }
  stream.close();
}

http_connection::http_connection(tandem::io::any_stream stream, std::stop_token draining,
                                 service_state& shared)
    : stream_(std::move(stream)),
      service_(shared),
      draining_(std::move(draining)),
      parser_(shared.options.header_limit_bytes, shared.options.body_limit_bytes),
      // A header has to fit as a whole; the rest is for what comes behind it.
      input_(2 * shared.options.header_limit_bytes) {}

tandem::task<void> http_connection::run() {
  while (true) {
    tandem::name("connection");
    const reading outcome = co_await next_request();
    if (outcome == reading::failed) {
      append_response(output_, failure_, false);
      co_return co_await send_and_close(stream_, std::move(output_));
    }
    if (outcome != reading::complete) co_return;

    exchange call(service_, parser_.take(), stream_);
    call.completion_threads.note();
    service_.requests.fetch_add(1, std::memory_order_relaxed);
    const route chosen = find_route(call.request);
    tandem::name(chosen.name);
    const http_response response = co_await answer(call, chosen);
    if (client_left_) co_return;
    bool keep_alive = call.keep_alive();
    if (call.pieces.has_begun()) {
      co_await call.pieces.end();
      keep_alive = keep_alive && call.pieces.keeps_alive();
    } else {
      append_response(output_, response, keep_alive, call.request.method == http_method::head);
    }
    if (!keep_alive) co_return co_await send_and_close(stream_, std::move(output_));
    if (output_.size() >= output_batch_bytes) co_await flush();
  }
}

http_parser::state http_connection::parse_buffer() {
  std::size_t consumed = 0;
  const http_parser::state state = parser_.feed(input_.filled(), consumed);
  input_.consume(consumed);
  if (state == http_parser::state::failed) failure_ = parser_.error();
  return state;
}

http_connection::reading http_connection::fail(http_response last_answer) {
  failure_ = std::move(last_answer);
  return reading::failed;
}

tandem::task<http_connection::reading> http_connection::next_request() {
  const http_parser::state buffered = parse_buffer();
  if (buffered == http_parser::state::complete) co_return reading::complete;
  if (buffered == http_parser::state::failed) co_return reading::failed;
  co_await flush();
  auto received = co_await tandem::as_result(tandem::with_stop(
      draining_, tandem::with_timeout(service_.options.idle_time, receive_request())));
  if (received) co_return received.value();
  if (!received.is_cancelled() || tandem::stop_requested() || draining_.stop_requested()) {
    co_return reading::ended;
  }
  if (!is_within_request()) co_return reading::ended;  // a client without a further wish
  co_return fail(error_response(
      408, fmt::format("no complete request within {} ms", service_.options.idle_time.count())));
}

tandem::task<http_connection::reading> http_connection::receive_request() {
  while (true) {
    if (parser_.take_continue()) {
      output_ += "HTTP/1.1 100 Continue\r\n\r\n";
      co_await flush();
    }
    const std::span<std::byte> room = input_.room();
    const std::size_t count = co_await stream_.read(room);
    if (count == 0) {
      if (!is_within_request()) co_return reading::ended;
      co_return fail(error_response(400, "malformed request: it ends in the middle"));
    }
    input_.add(count);
    switch (parse_buffer()) {
      case http_parser::state::complete: co_return reading::complete;
      case http_parser::state::failed: co_return reading::failed;
      case http_parser::state::incomplete: break;
    }
    if (input_.full()) co_return fail(error_response(400, "malformed request: a line without end"));
  }
}

tandem::task<http_response> http_connection::answer(exchange& call, const route& chosen) {
  std::optional<tandem::result<http_response>> outcome;
  tandem::task<http_response> handling = chosen.answer(call);
  if (!chosen.is_long) {
    outcome = co_await tandem::as_result(std::move(handling));
  } else {
    co_await flush();
    auto both = [&](tandem::task_scope& scope) -> tandem::task<void> {
      scope.spawn(stream_.thread_executor(), watch_client(scope));
      outcome = co_await tandem::as_result(std::move(handling));
      scope.request_stop();  // the watch is over
    };
    co_await tandem::with_scope(both);
  }
  if (*outcome) co_return std::move(*outcome).value();
  if (client_left_) co_return http_response();
  // An answer that was begun can only be broken off.
  if (call.pieces.has_begun() || outcome->is_cancelled()) co_return std::move(*outcome).value();
  co_return failure_response(outcome->exception());
}

tandem::task<void> http_connection::watch_client(tandem::task_scope& handling) {
  tandem::name("watches a client");
  while (!input_.full()) {
    const std::span<std::byte> room = input_.room();
    if (room.empty()) co_return;
    auto got = co_await tandem::as_result(stream_.read(room));
    if (got && got.value() > 0) {
      input_.add(got.value());
      continue;
    }
    if (!got && got.is_cancelled()) co_return;
    client_left_ = true;
    handling.request_stop();
    co_return;
  }
}

tandem::task<void> http_connection::flush() {
  if (output_.empty()) co_return;
  tandem::task<void> writing = write_text(stream_, output_);
  co_await tandem::with_timeout(service_.options.idle_time, std::move(writing));
  output_.clear();
}

}  // namespace service
