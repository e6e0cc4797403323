// echo_server.cpp: sends back what it gets, from whatever home; with limits and a graceful end. echo_server --help
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <map>
#include <span>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_stop.hpp>

namespace io = tandem::io;

namespace {

class settings {
 public:
  settings() = default;
  std::string address = "127.0.0.1";
  std::uint16_t port = 7000;
  unsigned threads = 0;
  unsigned io_threads = 0;
  io::io_backend backend = io::io_backend::automatic;
  io::handler_home home = io::handler_home::connection_thread;
  bool receive = false;
  double idle_seconds = 60;
  std::size_t connections = 0;
  double grace_seconds = 5;
};

class totals {
 public:
  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> timed_out{0};
};

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

/// One connection. It ends when its client leaves or says nothing for too long, and when the server
/// drains: then what has been read is still sent back.
class echo {
 private:
  // A read that has lost neither the race against the limit nor that against the drain returns its
  // bytes.
  template <class Read>
  auto in_time(const std::stop_token& draining, Read&& read) const {
    const auto limit = milliseconds(settings_->idle_seconds);
    return tandem::with_stop(draining, tandem::with_timeout(limit, std::forward<Read>(read)));
  }
  template <class T>
  bool goes_on(const tandem::result<T>& got, const std::stop_token& draining) const {
    if (got) return true;
    if (got.is_cancelled() && !draining.stop_requested()) {
      totals_->timed_out.fetch_add(1, std::memory_order_relaxed);
    }
    return false;
  }

 public:
  echo(const settings& chosen, totals& count) : settings_(&chosen), totals_(&count) {}

  tandem::task<void> operator()(io::tcp_stream client, std::stop_token draining) const {
    totals_->connections.fetch_add(1, std::memory_order_relaxed);
    if (settings_->receive) {
      while (true) {
        auto got = co_await tandem::as_result(in_time(draining, client.receive()));
        if (!goes_on(got, draining) || got.value().empty()) co_return;
        co_await client.write_all(got.value().bytes());
        totals_->bytes.fetch_add(got.value().size(), std::memory_order_relaxed);
      }
    }
    std::array<std::byte, 4096> buffer;
    while (true) {
      auto got = co_await tandem::as_result(in_time(draining, client.read(buffer)));
      if (!goes_on(got, draining) || got.value() == 0) co_return;
      co_await client.write_all(std::span(buffer).first(got.value()));
      totals_->bytes.fetch_add(got.value(), std::memory_order_relaxed);
    }
  }

 private:
  const settings* settings_;
  totals* totals_;
};

tandem::task<void> run_server(const settings& chosen, totals& count) {
  io::signal_set signals({SIGINT, SIGTERM});
  const auto address = io::endpoint::parse(chosen.address + ":" + std::to_string(chosen.port));
  auto listeners = io::tcp_listener::bind_sharded(address);
  std::cout << "listening on " << listeners.front().local_endpoint().to_string() << std::endl;
  io::serve_options options;
  options.home = chosen.home;
  options.max_connections = chosen.connections;
  options.drain_timeout = milliseconds(chosen.grace_seconds);
  options.on_handler_error = [](const std::exception_ptr&) {};  // a client that vanished
  options.on_accept_error = [](const std::error_code& error, std::chrono::milliseconds pause) {
    std::cerr << "accept: " << error.message() << "; again in " << pause.count() << " ms\n";
  };
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(io::serve(std::move(listeners), echo(chosen, count), options));
    co_await signals.wait();
    std::cerr << "finishing\n";
    scope.request_stop();
  });
}

}  // namespace

int main(int argc, char** argv) {
  settings chosen;
  CLI::App app("Sends back what it gets, until SIGINT or SIGTERM");
  app.option_defaults()->always_capture_default();
  app.add_option("--address", chosen.address, "IPv4 address, or IPv6 address in brackets");
  app.add_option("--port", chosen.port, "port; 0 picks a free one");
  app.add_option("--threads", chosen.threads, "worker threads; 0: the default");
  app.add_option("--io-threads", chosen.io_threads, "completion threads; 0: the default");
  const std::map<std::string, io::io_backend> backends{{"automatic", io::io_backend::automatic},
                                                       {"uring", io::io_backend::uring},
                                                       {"asio", io::io_backend::asio},
                                                       {"iocp", io::io_backend::iocp}};
  const auto* const backend =
      app.add_option("--backend", chosen.backend, "what the completion pool is built on")
          ->transform(CLI::CheckedTransformer(backends));
  const std::map<std::string, io::handler_home> homes{
      {"thread", io::handler_home::connection_thread},
      {"pool", io::handler_home::completion_pool},
      {"workers", io::handler_home::workers}};
  app.add_option("--home", chosen.home,
                 "where connections live: on their own thread, on any, on workers")
      ->transform(CLI::CheckedTransformer(homes));
  app.add_flag("--receive", chosen.receive, "into leased buffers, instead of one of its own each");
  app.add_option("--idle", chosen.idle_seconds, "seconds without a byte that end a connection")
      ->check(CLI::Range(0.001, 86'400.0));
  app.add_option("--connections", chosen.connections, "at once; 0: no limit");
  app.add_option("--grace", chosen.grace_seconds, "seconds for connections after a signal")
      ->check(CLI::Range(0.0, 86'400.0));
  CLI11_PARSE(app, argc, argv);
  try {
    tandem::runtime_options pools;
    pools.dump_on_signal = true;
    if (chosen.threads > 0) pools.min_threads = chosen.threads;
    tandem::runtime runtime(pools);
    io::completion_options completion;
    if (chosen.io_threads > 0) completion.min_threads = chosen.io_threads;
    if (backend->count() > 0) completion.backend = chosen.backend;
    auto& pool = io::install(runtime, completion);
    totals count;
    tandem::sync_wait(pool.executor(), run_server(chosen, count));
    std::cout << "served " << count.connections << " connections and " << count.bytes
              << " bytes over " << pool.backend_name() << "; " << count.timed_out
              << " were idle for too long" << std::endl;
    runtime.shutdown();
  } catch (const std::exception& error) {
    std::cerr << "echo_server: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
