// server.cpp: accepts connections until a signal comes, then ends them.
// SPDX-License-Identifier: MIT
#include "server.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include <tandem/as_result.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>

#include "http_connection.hpp"

namespace service {

namespace {

using namespace std::chrono_literals;

tandem::io::endpoint to_endpoint(const std::string& address, std::uint16_t port) {
  const bool is_v6 = address.find(':') != std::string::npos;
  const auto text =
      is_v6 ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
  return tandem::io::endpoint::parse(text);
}

/// Takes a ticket back, whatever ends its connection.
class ticket_guard {
 public:
  ticket_guard(service_state& service, connection_ticket& ticket) noexcept
      : service_(service), ticket_(ticket) {}
  ticket_guard(const ticket_guard&) = delete;
  ticket_guard& operator=(const ticket_guard&) = delete;
  ~ticket_guard() { service_.connections.remove(ticket_); }

 private:
  service_state& service_;
  connection_ticket& ticket_;
};

tandem::task<void> serve_client(tandem::io::tcp_stream stream, service_state& service,
                                connection_ticket& ticket) {
  const ticket_guard guard(service, ticket);
  try {
    http_connection connection(std::move(stream), service, ticket);
    co_await connection.run();
  } catch (const std::system_error&) {
    // The client is gone, too slow in taking its answer, or the service ends: nothing to report.
  } catch (const std::exception& error) {
    fmt::print(stderr, "puzzle_service: a connection failed: {}\n", error.what());
  }
}

tandem::task<void> turn_away(tandem::io::tcp_stream stream, service_state& service,
                             connection_ticket& ticket) {
  const ticket_guard guard(service, ticket);
  std::string response;
  append_response(response, error_response(503, "too many connections: try again later"), false);
  try {
    co_await send_and_close(stream, std::move(response));
  } catch (const std::system_error&) {
    // As above.
  }
}

// Turning away takes a moment. Beyond this many at once a connection is closed without a word.
constexpr std::size_t turned_away_limit = 256;

void start_client(tandem::io::tcp_stream stream, service_state& service) {
  const bool is_full = service.connections.open() >= service.options.connection_limit;
  if (is_full) {
    service.refused_connections.fetch_add(1, std::memory_order_relaxed);
    if (service.connections.turned_away() >= turned_away_limit) return;
  }
  tandem::executor& home = stream.thread_executor();
  connection_ticket& ticket = service.connections.add(is_full);
  try {
    const auto serve_or_not = is_full ? &turn_away : &serve_client;
    service.connections.start(ticket, home, serve_or_not(std::move(stream), service, ticket));
  } catch (const std::bad_alloc&) {
    service.connections.remove(ticket);  // the stream has been closed by the unwinding
  }
}

/// Ends with the stop of its task only.
tandem::task<void> accept_clients(tandem::io::tcp_listener& listener, service_state& service) {
  bool had_failed = false;
  while (true) {
    auto accepted = co_await tandem::as_result(listener.accept());
    if (accepted) {
      had_failed = false;
      start_client(std::move(accepted).value(), service);
      continue;
    }
    if (accepted.is_cancelled()) co_return;
    // Out of descriptors or memory, most likely: what is served now gives some back. A client that
    // gave up while it waited (ECONNABORTED) costs the others no more than this pause.
    if (!std::exchange(had_failed, true)) {
      fmt::print(stderr, "puzzle_service: accept: {}; going on\n", accepted.error().message());
    }
    co_await tandem::sleep_for(50ms);
  }
}

}  // namespace

tandem::task<void> serve(service_state& service) {
  co_await tandem::resume_on(service.completions.executor());
  tandem::io::signal_set signals({SIGINT, SIGTERM});
  const auto address = to_endpoint(service.options.address, service.options.port);
  tandem::io::tcp_listener listener = tandem::io::tcp_listener::bind(address);
  fmt::print("listening on http://{}\n", listener.local_endpoint().to_string());
  std::fflush(stdout);

  auto accepting = tandem::spawn(service.completions.executor(), accept_clients(listener, service));
  auto signal = co_await tandem::as_result(signals.wait());
  fmt::print(stderr, "puzzle_service: {}: finishing\n",
             signal ? fmt::format("signal {}", signal.value()) : signal.error().message());
  accepting.cancel();
  (void)co_await tandem::as_result(accepting);
  listener.close();
  const std::size_t stopped = co_await service.connections.close_all(service.options.grace_time);
  if (stopped > 0) {
    fmt::print(stderr, "puzzle_service: {} answers were not finished in time\n", stopped);
  }
}

}  // namespace service
