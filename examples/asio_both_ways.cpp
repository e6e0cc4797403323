// asio_both_ways.cpp: operations, coroutines and streams of Asio in tasks of tandem, and the other way round.
// SPDX-License-Identifier: MIT
#include <tandem/asio.hpp>
#include <tandem/io/io.hpp>
#include <tandem/tandem.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

namespace io = tandem::io;
using namespace std::chrono_literals;

/// What a program on Asio has already.
asio::awaitable<int> legacy(int n) {
  asio::steady_timer pause(co_await asio::this_coro::executor, 1ms);
  co_await pause.async_wait(asio::use_awaitable);
  co_return n + 1;
}

/// Lives on tandem's workers, and awaits what belongs to a context of Asio's.
tandem::task<int> ask(asio::io_context& context) {
  asio::steady_timer pause(context, 1ms);
  co_await pause.async_wait(tandem::use_await);
  co_return co_await asio::co_spawn(context, legacy(41), tandem::use_await);
}

/// Asio's algorithms on a connection of tandem's.
tandem::task<std::string> read_line(io::tcp_stream connection) {
  auto stream = tandem::as_asio_stream(std::move(connection));
  std::string line;
  co_await asio::async_read_until(stream, asio::dynamic_buffer(line), '\n', tandem::use_await);
  co_return line;
}

tandem::task<std::string> over_a_connection() {
  auto listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  auto [served, client] = co_await tandem::when_all(
      listener.accept(), io::tcp_stream::connect(listener.local_endpoint()));
  co_await client.write_all(io::bytes_of("a line for Asio\n"));
  co_return co_await read_line(std::move(served));
}

int main() {
  tandem::runtime runtime;
  asio::io_context context;
  auto work = asio::make_work_guard(context);
  std::thread loop([&] { context.run(); });

  const int answer = runtime.spawn(ask(context)).wait();
  // A task of tandem that lives in Asio's context, for whoever waits by Asio's means.
  const int same = tandem::spawn_into(runtime, context, ask(context), asio::use_future).get();
  // A coroutine of Asio's on tandem's workers.
  const tandem::asio_executor workers(runtime.workers());
  const int there = asio::co_spawn(workers, legacy(41), asio::use_future).get();
  const std::string line = runtime.spawn(over_a_connection()).wait();

  work.reset();
  loop.join();
  std::printf("%d %d %d, %s", answer, same, there, line.c_str());
}
