// graceful_shutdown.cpp: a signal ends a server: no new requests, a grace period, then the rest is cut.
// SPDX-License-Identifier: MIT
#include <signal.h>
#include <unistd.h>
#include <atomic>
#include <iostream>
#include <span>
#include <string>
#include <tandem/finally.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/when_all.hpp>
#include <tandem/when_any.hpp>

namespace io = tandem::io;
using tandem::task;
using counter = std::atomic<int>;
using namespace std::chrono_literals;
task<std::string> hear(io::tcp_stream& from) {
  std::string text(64, ' ');
  text.resize(co_await from.read(std::as_writable_bytes(std::span(text))));
  co_return text;
}
task<void> say(io::tcp_stream& to, std::string text) { co_await to.write_all(io::bytes_of(text)); }
// A request is the number of milliseconds that its answer takes.
task<void> answer(io::tcp_stream& client, counter& in_flight) {
  const int milliseconds = std::stoi(co_await hear(client));
  ++in_flight;
  co_await tandem::sleep_for(milliseconds * 1ms);
  co_await say(client, "done");
}
// However the answer ended: a last word, for which a client that hangs gets 100 ms.
task<void> serve(io::tcp_stream client, counter& in_flight) {
  co_await tandem::finally(answer(client, in_flight), [&] { return say(client, " bye"); }, 100ms);
}
task<void> accept_all(io::tcp_listener& listener, tandem::task_scope& requests,
                      counter& in_flight) {
  while (true) requests.spawn(serve(co_await listener.accept(), in_flight));
}
task<void> cut_after(std::chrono::milliseconds grace, tandem::task_scope& requests) {
  co_await tandem::sleep_for(grace);
  std::cout << "the grace period is over\n";
  requests.request_stop(tandem::stop_reason::deadline);
}
task<void> run_server(io::tcp_listener listener, counter& in_flight) {
  io::signal_set signals({SIGINT, SIGTERM});
  auto body = [&](tandem::task_scope& requests) -> task<void> {
    co_await tandem::when_any(accept_all(listener, requests, in_flight), signals.wait());
    std::cout << "signal: no new requests\n";
    co_await tandem::when_any(requests.join(), cut_after(1s, requests));
  };
  co_await tandem::with_scope(body);
}
task<std::string> ask(io::endpoint server, std::string milliseconds) {
  io::tcp_stream stream = co_await io::tcp_stream::connect(server);
  co_await say(stream, milliseconds);
  std::string heard, more;
  while (!(more = co_await hear(stream)).empty()) heard += more;
  std::cout << "a request of " << milliseconds << " ms heard '" << heard << "'\n";
  co_return heard;
}
task<void> send_signal(counter& in_flight) {  // once all three are being worked on
  while (in_flight < 3) co_await tandem::sleep_for(1ms);
  ::kill(::getpid(), SIGTERM);
}
task<int> demonstrate() {
  counter in_flight{0};
  auto listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  const auto here = listener.local_endpoint();
  auto [server, quick, slow, stuck, signal] =
      co_await tandem::when_all(run_server(std::move(listener), in_flight), ask(here, "1"),
                                ask(here, "20"), ask(here, "3600000"), send_signal(in_flight));
  co_return quick == "done bye" && slow == "done bye" && stuck == " bye" ? 0 : 1;
}
int main() { return tandem::run(demonstrate()); }
