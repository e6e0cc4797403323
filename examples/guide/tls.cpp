// tls.cpp: TLS: a server and its clients, whom they trust, how connections end, what goes wrong.
// SPDX-License-Identifier: MIT
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/tls.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <utility>

#include "self_signed.hpp"

namespace io = tandem::io;
namespace tls = tandem::io::tls;
using namespace std::chrono_literals;
using tandem::task;

// Clients

task<std::string> ask(std::uint16_t port, std::string name, tls::client_context context) {
  auto plain = co_await io::tcp_stream::connect("localhost", port);
  auto stream = co_await tls::connect(std::move(plain), name, context);
  co_await stream.write_all(io::bytes_of("hello\n"));
  io::buffered_reader reader(stream);
  auto line = co_await reader.read_until("\n", 1024);
  co_await stream.finish(1s);
  co_return line.value_or("");
}

tls::client_options client_that_trusts(const self_signed& server) {
  tls::client_options options;
  options.trust_system = false;
  options.trusted.push_back(tls::pem::text(server.certificate));
  options.protocols = {"lines/1"};
  return options;
}

// Servers

task<void> answer(io::tls_stream client) {
  const bool known = !client.details().peer.subject.empty();
  io::buffered_reader reader(client);
  while (auto line = co_await reader.read_until("\n", 1024)) {
    co_await client.write_all(io::bytes_of(*line + (known ? ", friend\n" : ", stranger\n")));
  }
  co_await client.finish(1s);  // says goodbye, and waits a second for theirs
}

tls::server_options server_with(const self_signed& identity, const self_signed& friends) {
  tls::server_options options;
  options.certificates.emplace_back(tls::pem::text(identity.certificate),
                                    tls::pem::text(identity.key));
  options.from_clients = tls::client_certificates::accepted;
  options.trusted.push_back(tls::pem::text(friends.certificate));
  options.protocols = {"lines/2", "lines/1"};
  return options;
}

task<void> serve(io::tcp_listener listener, tls::server_context context,
                 tls::accepting_counts& counts) {
  tls::accepting_options limits;
  limits.max_handshakes = 200;
  limits.handshake_timeout = 5s;
  limits.counts = &counts;
  limits.on_handshake_error = [](const std::exception_ptr&) {};  // counted, and that is enough here
  co_await io::serve(std::move(listener), tls::accepting(context, answer, limits));
}

// What a client sees, from a first handshake to a renewed certificate.
task<bool> clients(std::uint16_t port, tls::server_context context, const self_signed& server,
                   const self_signed& friends) {
  tls::client_options options = client_that_trusts(server);
  const bool stranger = co_await ask(port, "localhost", options) == "hello, stranger";
  options.certificate.emplace_back(tls::pem::text(friends.certificate),
                                   tls::pem::text(friends.key));
  const tls::client_context trusting(options);
  const bool known = co_await ask(port, "localhost", trusting) == "hello, friend";

  auto other = co_await tandem::as_result(ask(port, "example.org", trusting));
  const bool refused = other.error() == tls::errc::wrong_name;
  std::printf("%s\n", other.error().message().c_str());

  const self_signed renewed({"localhost"});
  context.reload(server_with(renewed, friends));
  auto old = co_await tandem::as_result(ask(port, "localhost", client_that_trusts(server)));
  const std::string with_new = co_await ask(port, "localhost", client_that_trusts(renewed));
  std::printf("%s\n", old.error().message().c_str());
  co_return stranger&& known&& refused && !old && with_new == "hello, stranger";
}

// How connections end

/// Both ends of one connection.
class pair_of_ends {
 public:
  io::tls_stream client;
  io::tls_stream server;
};

task<void> connect(pair_of_ends& ends, tls::server_context context, tls::client_context trusting) {
  auto listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  auto there = co_await io::tcp_stream::connect(listener.local_endpoint());
  auto here = co_await listener.accept();
  auto [client, server] = co_await tandem::with_timeout(
      5s, tandem::when_all(tls::connect(std::move(there), "localhost", trusting),
                           tls::accept(std::move(here), context)));
  ends.client = std::move(client);
  ends.server = std::move(server);
}

task<std::string> what_comes(io::tls_stream& stream, std::chrono::milliseconds limit) {
  std::array<std::byte, 1024> buffer;
  auto got = co_await tandem::as_result(tandem::with_timeout(limit, stream.read(buffer)));
  if (got.is_cancelled()) co_return "nothing yet";  // a stop of ours; the stream goes on as before
  if (got.error() == tls::errc::truncated) co_return "an end without goodbye";
  if (!got) co_return got.error().message();
  co_return got.value() > 0 ? "bytes" : "the end";
}

task<bool> ends_of_reading(tls::server_context context, tls::client_context trusting) {
  pair_of_ends both;
  co_await connect(both, context, trusting);
  const std::string silence = co_await what_comes(both.client, 10ms);
  co_await both.server.write_all(io::bytes_of("that is all"));
  both.server.shutdown();  // close_notify; the client may go on writing
  const std::string bytes = co_await what_comes(both.client, 1min);
  const std::string end = co_await what_comes(both.client, 1min);
  co_await both.client.write_all(io::bytes_of("thanks"));
  const std::string thanks = co_await what_comes(both.server, 1min);
  both.client.close();  // without shutdown() or finish()
  const std::string loss = co_await what_comes(both.server, 1min);
  std::printf("%s, %s, %s, %s, %s\n", silence.c_str(), bytes.c_str(), end.c_str(), thanks.c_str(),
              loss.c_str());

  co_await connect(both, context, trusting);
  const tls::session_details agreed = both.client.details();
  std::printf("%s, %s, %s%s\n", std::string(tls::to_string(agreed.version)).c_str(),
              agreed.cipher.c_str(), agreed.protocol.c_str(), agreed.resumed ? ", resumed" : "");
  co_return silence == "nothing yet" && bytes == "bytes" && end == "the end" && thanks == "bytes" &&
      loss == "an end without goodbye" && agreed.resumed&& agreed.protocol == "lines/1";
}

task<int> run_all() {
  const self_signed server({"localhost"});
  const self_signed friends({"friend"});
  const tls::server_context context(server_with(server, friends));
  const tls::client_context trusting(client_that_trusts(server));
  auto listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  const std::uint16_t port = listener.local_endpoint().port();
  tls::accepting_counts counts;
  bool right = false;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(serve(std::move(listener), context, counts));
    const bool ends = co_await ends_of_reading(context, trusting);
    right = co_await clients(port, context, server, friends) && ends;
    scope.request_stop();
  });
  std::printf("%d clients, %d failed\n", static_cast<int>(counts.accepted),
              static_cast<int>(counts.failed));
  co_return right ? 0 : 1;
}

int main() { return tandem::run(run_all()); }
