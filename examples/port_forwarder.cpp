// port_forwarder.cpp: passes connections on to another host and port, both ways. port_forwarder --to example.org:80
// SPDX-License-Identifier: MIT
//
// Either side may speak TLS. An end of what one side sends is passed on as what it is on the other:
// close_notify there, FIN here.
#include <CLI/CLI.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/any_stream.hpp>
#include <tandem/io/copy_both.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/resolve.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/sleep.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <utility>

#include "optional_tls.hpp"

namespace io = tandem::io;

namespace {

constexpr std::chrono::seconds goodbye_time(1);

class settings {
 public:
  settings() = default;
  std::string address = "127.0.0.1";
  std::uint16_t port = 8000;
  std::string to;
  std::string host;  // both: of `to`
  std::string service;
  unsigned io_threads = 0;
  std::size_t connections = 1000;
  double connect_seconds = 10;
  double stats_seconds = 0;
  double grace_seconds = 10;
  std::string tls_certificate;
  std::string tls_key;
  std::string tls_to;
  std::string tls_trust;
};

/// What each side is spoken to in.
class encryption {
 public:
  explicit encryption(const settings& chosen) {
    if (!chosen.tls_certificate.empty()) {
      clients = optional_tls_server(chosen.tls_certificate, chosen.tls_key);
    }
    if (!chosen.tls_to.empty()) target = optional_tls_client(chosen.tls_to, chosen.tls_trust);
  }
  optional_tls_server clients;
  optional_tls_client target;
};

class totals {
 public:
  std::atomic<std::uint64_t> begun{0};
  std::atomic<std::uint64_t> ended{0};
  std::atomic<std::uint64_t> unreachable{0};
  std::atomic<std::uint64_t> bytes_up{0};
  std::atomic<std::uint64_t> bytes_down{0};

  std::string line() const {
    return std::to_string(begun - ended) + " open, " + std::to_string(ended) + " ended, " +
           std::to_string(unreachable) + " unreachable, " + std::to_string(bytes_up) +
           " bytes up, " + std::to_string(bytes_down) + " down";
  }
};

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

tandem::task<io::any_stream> reach(const settings& chosen, const encryption& tls) {
  auto server = co_await io::tcp_stream::connect(co_await io::resolve(chosen.host, chosen.service));
  co_return co_await tls.target.connect(std::move(server));
}

/// Nobody shall take this for a complete end: TCP is reset, TLS closed without its farewell.
void break_off(io::any_stream& stream) {
  if (auto* const tcp = stream.target<io::tcp_stream>()) return tcp->abort();
  stream.close();
}

/// Counts a connection as open, and its bytes when it ends.
class ticket {
 public:
  explicit ticket(totals& count) : totals_(count) {
    totals_.begun.fetch_add(1, std::memory_order_relaxed);
  }
  ticket(const ticket&) = delete;
  ticket& operator=(const ticket&) = delete;
  ~ticket() {
    totals_.bytes_up.fetch_add(bytes.there, std::memory_order_relaxed);
    totals_.bytes_down.fetch_add(bytes.back, std::memory_order_relaxed);
    totals_.ended.fetch_add(1, std::memory_order_relaxed);
  }
  io::copied_both bytes;

 private:
  totals& totals_;
};

std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& known) {
    return known.what();
  }
}

/// Each direction ends on its own; a direction that fails ends both (copy_both()).
tandem::task<void> forward(io::any_stream client, const settings& chosen, const encryption& tls,
                           totals& count) {
  ticket mine(count);
  auto reached = co_await tandem::as_result(
      tandem::with_timeout(milliseconds(chosen.connect_seconds), reach(chosen, tls)));
  if (!reached) {
    std::cerr << "not reached: " << text_of(reached.exception()) << std::endl;
    count.unreachable.fetch_add(1, std::memory_order_relaxed);
    co_return break_off(client);
  }
  io::any_stream server = std::move(reached).value();
  io::copy_both_options options;
  options.progress = &mine.bytes;
  const auto both = co_await tandem::as_result(io::copy_both(client, server, options));
  if (!both) {
    break_off(client);
    break_off(server);
    co_return;
  }
  co_await tandem::when_all(say_goodbye(client, goodbye_time), say_goodbye(server, goodbye_time));
}

tandem::task<void> tell_now_and_then(std::chrono::milliseconds pause, const totals& count) {
  while (true) {
    co_await tandem::sleep_for(pause);
    std::cerr << count.line() << std::endl;
  }
}

tandem::task<void> run_forwarder(const settings& chosen, totals& count) {
  const encryption tls(chosen);
  io::signal_set signals({SIGINT, SIGTERM});
  const auto address = io::endpoint::parse(chosen.address + ":" + std::to_string(chosen.port));
  io::tcp_listener listener = io::tcp_listener::bind(address);
  std::cout << "listening on " << listener.local_endpoint().to_string() << std::endl;
  io::serve_options options;
  options.max_connections = chosen.connections;
  options.drain_timeout = milliseconds(chosen.grace_seconds);
  const auto handler = tls.clients.before([&](io::any_stream client, std::stop_token) {
    return forward(std::move(client), chosen, tls, count);
  });
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(io::serve(std::move(listener), handler, options));
    if (chosen.stats_seconds > 0) {
      scope.spawn(tell_now_and_then(milliseconds(chosen.stats_seconds), count));
    }
    co_await signals.wait();
    std::cerr << "finishing: " << count.line() << std::endl;
    scope.request_stop();
  });
}

void split_target(settings& chosen) {
  const std::size_t colon = chosen.to.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == chosen.to.size()) {
    throw std::invalid_argument("--to: '" + chosen.to + "' is not HOST:PORT");
  }
  chosen.host = chosen.to.substr(0, colon);
  chosen.service = chosen.to.substr(colon + 1);
  if (chosen.host.size() > 2 && chosen.host.front() == '[' && chosen.host.back() == ']') {
    chosen.host = chosen.host.substr(1, chosen.host.size() - 2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  settings chosen;
  CLI::App app("Passes connections on to another host and port, until SIGINT or SIGTERM");
  app.option_defaults()->always_capture_default();
  app.add_option("--address", chosen.address, "IPv4 address, or IPv6 address in brackets");
  app.add_option("--port", chosen.port, "port; 0 picks a free one");
  app.add_option("--to", chosen.to, "HOST:PORT; each connection resolves it anew")->required();
  app.add_option("--io-threads", chosen.io_threads, "completion threads; 0: the default");
  app.add_option("--connections", chosen.connections, "at once, further ones wait; 0: no limit");
  app.add_option("--connect", chosen.connect_seconds, "seconds to reach the target")
      ->check(CLI::Range(0.001, 3600.0));
  app.add_option("--stats", chosen.stats_seconds, "a line of counts every so many seconds; 0: none")
      ->check(CLI::Range(0.0, 86'400.0));
  app.add_option("--grace", chosen.grace_seconds, "seconds for connections after a signal")
      ->check(CLI::Range(0.0, 86'400.0));
  auto* const certificate = app.add_option("--tls-cert", chosen.tls_certificate,
                                           "clients speak TLS to us: certificate and chain, PEM");
  auto* const key = app.add_option("--tls-key", chosen.tls_key, "its key, PEM")->needs(certificate);
  certificate->needs(key);
  auto* const name = app.add_option("--tls-to", chosen.tls_to,
                                    "we speak TLS to the target, whose certificate has this name");
  app.add_option("--tls-trust", chosen.tls_trust, "PEM of authorities, beside the system's")
      ->needs(name);
  CLI11_PARSE(app, argc, argv);
  try {
    split_target(chosen);
    tandem::runtime_options pools;
    pools.dump_on_signal = true;
    tandem::runtime runtime(pools);
    io::completion_options completion;
    if (chosen.io_threads > 0) completion.min_threads = chosen.io_threads;
    auto& pool = io::install(runtime, completion);
    totals count;
    tandem::sync_wait(pool.executor(), run_forwarder(chosen, count));
    std::cout << count.line() << std::endl;
    runtime.shutdown();
  } catch (const std::exception& error) {
    std::cerr << "port_forwarder: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
