// server.cpp: accepts connections until a signal comes, then ends them.
// SPDX-License-Identifier: MIT
#include "server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

#include <tandem/as_result.hpp>
#include <tandem/clock.hpp>
#include <tandem/environment.hpp>
#include <tandem/io/any_stream.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/stop.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>

#include "http_connection.hpp"
#include "optional_tls.hpp"

namespace service {

namespace {

constexpr std::chrono::seconds goodbye_time(1);
constexpr std::chrono::milliseconds least_writing_time(500);

tandem::io::endpoint to_endpoint(const std::string& address, std::uint16_t port) {
  const bool is_v6 = address.find(':') != std::string::npos;
  const auto text =
      is_v6 ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
  return tandem::io::endpoint::parse(text);
}

/// One connection that is served now.
class open_connection {
 public:
  explicit open_connection(service_state& service) noexcept : service_(service) {
    service_.open_connections.fetch_add(1, std::memory_order_relaxed);
  }
  open_connection(const open_connection&) = delete;
  open_connection& operator=(const open_connection&) = delete;
  ~open_connection() { service_.open_connections.fetch_sub(1, std::memory_order_relaxed); }

 private:
  service_state& service_;
};

tandem::task<void> serve_client(tandem::io::any_stream stream, std::stop_token draining,
                                service_state& service) {
  const open_connection counted(service);
  try {
    http_connection connection(std::move(stream), std::move(draining), service);
    co_await connection.run();
    if (connection.stream().is_open()) co_await say_goodbye(connection.stream(), goodbye_time);
  } catch (const std::system_error&) {
    // The client is gone, too slow in taking its answer, or the service ends: nothing to report.
    if (tandem::stop_requested()) service.unfinished.fetch_add(1, std::memory_order_relaxed);
  } catch (const std::exception& error) {
    fmt::print(stderr, "puzzle_service: a connection failed: {}\n", error.what());
  }
}

tandem::task<void> turn_away(tandem::io::any_stream plain, const optional_tls_server& tls) {
  tandem::name("turns a client away");
  std::string response;
  append_response(response, error_response(503, "too many connections: try again later"), false);
  try {
    tandem::io::any_stream stream = co_await tls.accept(std::move(plain));
    co_await send_and_close(stream, std::move(response));
  } catch (const std::system_error&) {
    // As above.
  }
}

}  // namespace

tandem::task<void> serve(service_state& service) {
  tandem::name("service");
  co_await tandem::resume_on(service.completions.executor());
  tandem::io::signal_set signals({SIGINT, SIGTERM});
  const auto address = to_endpoint(service.options.address, service.options.port);
  optional_tls_server tls;
  if (!service.options.certificate.empty()) {
    tls = optional_tls_server(service.options.certificate, service.options.key);
  }
  tandem::io::tcp_listener listener = tandem::io::tcp_listener::bind(address);
  fmt::print("listening on {}://{}\n", tls.encrypts() ? "https" : "http",
             listener.local_endpoint().to_string());
  std::fflush(stdout);

  tandem::io::serve_options options;
  options.max_connections = service.options.connection_limit;
  options.max_over_limit = service.options.turned_away_limit;
  options.over_limit = [&tls](tandem::io::tcp_stream stream) {
    return turn_away(std::move(stream), tls);
  };
  options.counts = &service.connections;
  options.drain_timeout = service.options.grace_time;
  const auto serve_one =
      tls.before([&service](tandem::io::any_stream stream, std::stop_token draining) {
        return serve_client(std::move(stream), std::move(draining), service);
      });
  std::chrono::steady_clock::time_point ending;
  const auto until_a_signal = [&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(tandem::io::serve(std::move(listener), serve_one, options));
    auto signal = co_await tandem::as_result(signals.wait());
    fmt::print(stderr, "puzzle_service: {}: finishing\n",
               signal ? fmt::format("signal {}", signal.value()) : signal.error().message());
    ending = tandem::now() + service.options.grace_time;
    service.drain().set();
    scope.request_stop();
  };
  const auto keeping = [&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(service.keeper.run());
    co_await tandem::with_scope(until_a_signal);
    // What is still to be written has the rest of the grace time, and some if there is no rest.
    service.keeper.finish();
    const auto last_moment = std::max(ending, tandem::now() + least_writing_time);
    (void)co_await tandem::as_result(tandem::with_deadline(last_moment, scope.join()));
  };
  co_await tandem::with_scope(keeping);
  if (const std::size_t stopped = service.unfinished; stopped > 0) {
    fmt::print(stderr, "puzzle_service: {} answers were not finished in time\n", stopped);
  }
  if (const keeper_state left = service.keeper.state(); left.waiting > 0) {
    const bool was_there = left.database == database_state::there;
    fmt::print(stderr, "puzzle_service: {} answers were not written: the database {}\n",
               left.waiting, was_there ? "was too slow" : "is " + left.in_words());
  }
}

}  // namespace service
