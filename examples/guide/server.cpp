// server.cpp: a server that answers lines, and a client that tries it. server PORT serves until Ctrl-C.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_stop.hpp>

namespace io = tandem::io;
using namespace std::chrono_literals;
using tandem::task;

// A task for each connection. It ends when the client leaves, says nothing for a minute, or sends a
// line that is too long, and when the server drains while it waits for the next line.
task<void> answer(io::tcp_stream client, std::stop_token draining) {
  io::buffered_reader reader(client);
  while (true) {
    auto line = co_await tandem::as_result(
        tandem::with_stop(draining, tandem::with_timeout(1min, reader.read_until("\n", 1024))));
    if (!line || !line.value()) co_return;
    std::string text = *line.value();
    std::ranges::reverse(text);
    co_await client.write_all(io::bytes_of(text + "\n"));
  }
}

task<std::string> ask(std::uint16_t port, std::string question) {
  auto server = co_await io::tcp_stream::connect("localhost", port);
  co_await server.write_all(io::bytes_of(question));
  io::buffered_reader reader(server);
  auto line = co_await reader.read_until("\n", 1024);
  co_return line.value_or("");
}

task<int> run_server(std::uint16_t port) {
  auto listener = io::tcp_listener::bind(io::endpoint::loopback_v4(port));
  const std::uint16_t bound = listener.local_endpoint().port();
  std::printf("listening on port %d\n", bound);
  std::fflush(stdout);
  io::serve_options options;
  options.max_connections = 10'000;
  options.drain_timeout = 5s;
  std::string heard;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(io::serve(std::move(listener), answer, options));
    if (port == 0) {
      heard = co_await ask(bound, "stressed\n");
    } else {
      io::signal_set signals({SIGINT, SIGTERM});
      co_await signals.wait();
    }
    scope.request_stop();  // no further connections; those that there are may finish
  });
  std::printf("%s\n", heard.c_str());
  co_return port != 0 || heard == "desserts" ? 0 : 1;
}

int main(int argc, char** argv) {
  return tandem::run(run_server(static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0)));
}
