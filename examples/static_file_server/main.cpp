// main.cpp: static_file_server: the files below a folder over HTTP/1.1. See examples/README.md.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <tandem/io/install.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task_scope.hpp>

#include "connection.hpp"

namespace io = tandem::io;

namespace {

class settings {
 public:
  settings() = default;
  std::string root = ".";
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  unsigned io_threads = 0;
  std::size_t connections = 1000;
  std::size_t turned_away = 256;
  double idle_seconds = 30;
  double grace_seconds = 5;
};

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

tandem::task<void> serve_client(io::tcp_stream stream, std::stop_token draining,
                                files::file_service& service) {
  files::connection client(std::move(stream), std::move(draining), service);
  co_await client.run();
}

tandem::task<void> turn_client_away(io::tcp_stream stream, files::file_service& service) {
  files::connection client(std::move(stream), std::stop_token(), service);
  co_await client.turn_away();
}

tandem::task<io::file> open_root(const std::string& path) {
  co_return co_await io::file::open(path);
}

tandem::task<void> run_server(const settings& chosen, files::file_service& service) {
  io::signal_set signals({SIGINT, SIGTERM});
  const auto address = io::endpoint::parse(chosen.address + ":" + std::to_string(chosen.port));
  auto listeners = io::tcp_listener::bind_sharded(address);
  std::cout << "listening on http://" << listeners.front().local_endpoint().to_string()
            << std::endl;
  io::serve_options options;
  options.max_connections = chosen.connections;
  options.max_over_limit = chosen.turned_away;
  options.over_limit = [&service](io::tcp_stream stream) {
    return turn_client_away(std::move(stream), service);
  };
  options.counts = &service.connections;
  options.drain_timeout = milliseconds(chosen.grace_seconds);
  options.on_handler_error = [](const std::exception_ptr&) {};  // a client that vanished
  const auto handler = [&service](io::tcp_stream stream, std::stop_token draining) {
    return serve_client(std::move(stream), std::move(draining), service);
  };
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(io::serve(std::move(listeners), handler, options));
    co_await signals.wait();
    scope.request_stop();
  });
}

}  // namespace

int main(int argc, char** argv) {
  settings chosen;
  CLI::App app("Serves the files below a folder over HTTP/1.1, until SIGINT or SIGTERM");
  app.option_defaults()->always_capture_default();
  app.add_option("root", chosen.root, "the folder")->check(CLI::ExistingDirectory);
  app.add_option("--address", chosen.address, "IPv4 address, or IPv6 address in brackets");
  app.add_option("--port", chosen.port, "port; 0 picks a free one");
  app.add_option("--io-threads", chosen.io_threads, "completion threads; 0: the default");
  app.add_option("--connections", chosen.connections, "at once, one more gets 503; 0: no limit");
  app.add_option("--turned-away", chosen.turned_away,
                 "clients that get 503 at once; one more is closed");
  app.add_option("--idle", chosen.idle_seconds, "seconds without a byte that end a connection")
      ->check(CLI::Range(0.001, 86'400.0));
  app.add_option("--grace", chosen.grace_seconds, "seconds for answers after a signal")
      ->check(CLI::Range(0.0, 86'400.0));
  CLI11_PARSE(app, argc, argv);
  try {
    tandem::runtime_options pools;
    pools.dump_on_signal = true;
    tandem::runtime runtime(pools);
    io::completion_options completion;
    if (chosen.io_threads > 0) completion.min_threads = chosen.io_threads;
    auto& pool = io::install(runtime, completion);
    files::file_service service(tandem::sync_wait(pool.executor(), open_root(chosen.root)),
                                milliseconds(chosen.idle_seconds));
    tandem::sync_wait(pool.executor(), run_server(chosen, service));
    std::cout << "answered " << service.requests << " requests with " << service.bytes << " bytes"
              << "; turned away " << service.connections.over_limit << " clients, closed "
              << service.connections.closed << std::endl;
    runtime.shutdown();
  } catch (const std::exception& error) {
    std::cerr << "static_file_server: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
