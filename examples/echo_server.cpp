// echo_server.cpp: sends back what it gets. echo_server PORT serves until Ctrl-C; without a port it tests itself.
// SPDX-License-Identifier: MIT
#include <array>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>

namespace io = tandem::io;

tandem::task<void> echo(io::tcp_stream client) {
  std::array<std::byte, 4096> buffer;
  while (true) {
    auto got = co_await tandem::as_result(client.read(buffer));
    if (!got || got.value() == 0) co_return;  // the client left, or the server ends
    auto sent = co_await tandem::as_result(client.write_all(std::span(buffer).first(got.value())));
    if (!sent) co_return;
  }
}

// A client per task; all of them end with the scope. accept() throws when the scope is stopped.
tandem::task<void> serve(io::tcp_listener& listener, tandem::task_scope& clients) {
  while (true) {
    io::tcp_stream client = co_await listener.accept();
    clients.spawn(echo(std::move(client)));
  }
}

tandem::task<bool> try_it(io::endpoint server) {
  io::tcp_stream stream = co_await io::tcp_stream::connect(server);
  const std::string message = "Can you hear me?";
  co_await stream.write_all(std::as_bytes(std::span(message)));
  std::string heard(message.size(), '\0');
  for (std::size_t have = 0; have < heard.size();) {
    const auto room = std::as_writable_bytes(std::span(heard)).subspan(have);
    const std::size_t count = co_await stream.read(room);
    if (count == 0) break;
    have += count;
  }
  std::cout << "sent '" << message << "', heard '" << heard << "'\n";
  co_return heard == message;
}

tandem::task<int> run_server(bool test, std::uint16_t port) {
  io::tcp_listener listener = io::tcp_listener::bind(io::endpoint::loopback_v4(port));
  std::cout << "listening on " << listener.local_endpoint().to_string() << std::endl;
  int status = 0;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(serve(listener, scope));
    if (test) {
      status = co_await try_it(listener.local_endpoint()) ? 0 : 1;
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
