// echo.cpp: the shortest server, and a client that tries it. echo PORT serves until it is ended.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/race.hpp>
#include <tandem/run.hpp>
#include <vector>

namespace io = tandem::io;

tandem::task<void> echo(io::tcp_stream client) {
  std::vector<std::byte> buffer(4096);
  while (const std::size_t got = co_await client.read(buffer)) {
    co_await client.write_all(std::span(buffer).first(got));
  }
}

tandem::task<bool> serve(io::tcp_listener listener) {
  co_await io::serve(std::move(listener), echo);  // a task for each connection
  co_return false;
}

tandem::task<bool> ask(io::endpoint server) {
  auto stream = co_await io::tcp_stream::connect(server);
  co_await stream.write_all(io::bytes_of("hello\n"));
  io::buffered_reader reader(stream);
  const auto heard = co_await reader.read_until("\n", 100);
  std::printf("%s\n", heard->c_str());
  co_return heard == "hello";
}

tandem::task<bool> run_server(std::uint16_t port) {
  auto listener = io::tcp_listener::bind(io::endpoint::loopback_v4(port));
  const io::endpoint here = listener.local_endpoint();
  if (port != 0) co_return co_await serve(std::move(listener));
  co_return co_await tandem::race(serve(std::move(listener)), ask(here));
}

int main(int argc, char** argv) {
  const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0);
  return tandem::run(run_server(port)) ? 0 : 1;
}
