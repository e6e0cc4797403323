// line_server.cpp: answers lines, on every completion thread; ends gracefully. line_server PORT serves until Ctrl-C.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/buffered_writer.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/with_stop.hpp>

namespace io = tandem::io;
using namespace std::chrono_literals;

// Each line comes back in capitals. A line that is being written is finished; the wait for a next
// one ends when the server drains. Failures (a peer that vanishes, a line that is too long) end
// this connection only.
tandem::task<void> shout(io::tcp_stream client, std::stop_token draining) {
  io::buffered_reader reader(client);
  while (true) {
    auto line =
        co_await tandem::as_result(tandem::with_stop(draining, reader.read_until("\n", 1024)));
    if (!line || !line.value()) co_return;
    std::string text = *line.value() + "\n";
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    co_await client.write_all(io::bytes_of(text));
  }
}

tandem::task<bool> try_it(std::uint16_t port) {
  io::tcp_stream stream = co_await io::tcp_stream::connect("localhost", port);
  io::buffered_reader reader(stream);
  io::buffered_writer writer(stream);
  for (const std::string line : {"one\n", "two\n"}) {
    co_await writer.write_all(io::bytes_of(line));
  }
  co_await writer.flush();
  const auto first = co_await reader.read_until("\n", 100);
  const auto second = co_await reader.read_until("\n", 100);
  std::cout << *first << ", " << *second << std::endl;
  co_return first == "ONE" && second == "TWO";
}

tandem::task<int> run_server(bool test, std::uint16_t port) {
  auto listeners = io::tcp_listener::bind_sharded(io::endpoint::loopback_v4(port));
  const io::endpoint here = listeners.front().local_endpoint();
  std::cout << "listening on " << here.to_string() << std::endl;
  io::serve_options options;
  options.max_connections = 10'000;
  options.drain_timeout = 5s;
  int status = 0;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(io::serve(std::move(listeners), shout, options));
    if (test) {
      status = co_await try_it(here.port()) ? 0 : 1;
    } else {
      io::signal_set signals({SIGINT, SIGTERM});
      co_await signals.wait();
    }
    scope.request_stop();
  });
  co_return status;
}

int main(int argc, char** argv) {
  const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0);
  return tandem::run(run_server(argc < 2, port));
}
