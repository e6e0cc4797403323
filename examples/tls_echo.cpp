// tls_echo.cpp: sends back what it gets, over TLS, and a client that asks it. tls_echo --help
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/io/tls.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/with_stop.hpp>
#include <vector>

#include "self_signed.hpp"

namespace io = tandem::io;
namespace tls = tandem::io::tls;
using namespace std::chrono_literals;
using tandem::task;

namespace {

class settings {
 public:
  settings() = default;
  std::uint16_t port = 7443;
  std::string certificate;
  std::string key;
  std::string save_to = "tls_echo.pem";
  std::string host;
  std::string trust;
  std::vector<std::string> words;
};

// When the client has ended its direction, finish() ends ours, and both have said so.
task<void> echo(io::tls_stream client, std::stop_token draining) {
  std::vector<std::byte> buffer(4096);
  while (true) {
    auto got = co_await tandem::as_result(tandem::with_stop(draining, client.read(buffer)));
    if (!got || got.value() == 0) break;
    co_await client.write_all(std::span(buffer).first(got.value()));
  }
  co_await client.finish(1s);
}

/// What a server has made of `text`.
class answer {
 public:
  answer() = default;
  std::string text;
  tls::session_details session;
};

task<answer> ask(std::string host, std::uint16_t port, tls::client_context context,
                 std::string text) {
  answer heard;
  auto plain = co_await io::tcp_stream::connect(host, port);
  io::tls_stream server = co_await tls::connect(std::move(plain), host, context);
  heard.session = server.details();
  co_await server.write_all(io::bytes_of(text));
  server.shutdown();  // that was all; the server may go on
  io::buffered_reader reader(server);
  while (co_await reader.fill() > 0) {
    heard.text += io::text_of(reader.buffered());
    reader.consume(reader.buffered().size());
  }
  co_await server.finish(1s);
  co_return heard;
}

tls::server_context server_with(const tls::pem& certificate, const tls::pem& key) {
  tls::server_options options;
  options.certificates.emplace_back(certificate, key);
  return tls::server_context(options);
}

/// Without a file the client trusts whom the system trusts.
tls::client_context client_that_trusts(const std::vector<tls::pem>& trusted) {
  tls::client_options options;
  options.trusted = trusted;
  return options;
}

void tell(const answer& heard) {
  std::cout << heard.text << "\n  " << tls::to_string(heard.session.version) << ", "
            << heard.session.cipher << (heard.session.resumed ? ", resumed" : ", not resumed")
            << std::endl;
}

tls::server_context server_of(const settings& chosen) {
  if (!chosen.certificate.empty()) {
    return server_with(tls::pem::file(chosen.certificate), tls::pem::file(chosen.key));
  }
  const self_signed made({"localhost", "127.0.0.1", "::1"});
  std::ofstream file(chosen.save_to);
  file << made.certificate << std::flush;
  if (!file) throw std::runtime_error("the certificate cannot be written to " + chosen.save_to);
  return server_with(tls::pem::text(made.certificate), tls::pem::text(made.key));
}

void tell_how_to_connect(const settings& chosen, std::uint16_t port) {
  if (!chosen.certificate.empty()) return;
  const std::string number = std::to_string(port);
  std::cout << "its certificate, made for this run, lies in " << chosen.save_to
            << "; to connect:\n  tls_echo ask localhost " << number << " --trust " << chosen.save_to
            << " hello\n  openssl s_client -connect localhost:" << number << " -CAfile "
            << chosen.save_to << "\n  curl --http0.9 --max-time 1 --cacert " << chosen.save_to
            << " https://localhost:" << number << "/" << std::endl;
}

task<int> run_server(const settings& chosen) {
  io::signal_set signals({SIGINT, SIGTERM});
  const tls::server_context context = server_of(chosen);
  auto listener = io::tcp_listener::bind(io::endpoint::loopback_v4(chosen.port));
  const io::endpoint here = listener.local_endpoint();
  std::cout << "listening on " << here.to_string() << std::endl;
  tell_how_to_connect(chosen, here.port());
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(io::serve(std::move(listener), tls::accepting(context, echo)));
    co_await signals.wait();
    scope.request_stop();
  });
  co_return 0;
}

task<int> run_client(const settings& chosen) {
  std::string text;
  for (const std::string& each : chosen.words) text += (text.empty() ? "" : " ") + each;
  std::vector<tls::pem> trusted;
  if (!chosen.trust.empty()) trusted.push_back(tls::pem::file(chosen.trust));
  tell(co_await ask(chosen.host, chosen.port, client_that_trusts(trusted), text));
  co_return 0;
}

/// Both sides in one process. The second connection goes on with the session of the first.
task<int> demonstrate() {
  const self_signed made({"localhost"});
  const tls::pem certificate = tls::pem::text(made.certificate);
  const tls::server_context server = server_with(certificate, tls::pem::text(made.key));
  const tls::client_context client = client_that_trusts({certificate});
  auto listener = io::tcp_listener::bind(io::endpoint::loopback_v4(0));
  const std::uint16_t port = listener.local_endpoint().port();
  answer first;
  answer second;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(io::serve(std::move(listener), tls::accepting(server, echo)));
    first = co_await ask("localhost", port, client, "hello");
    second = co_await ask("localhost", port, client, "hello again");
    scope.request_stop();
  });
  tell(first);
  tell(second);
  const bool right = first.text == "hello" && second.text == "hello again";
  co_return right && !first.session.resumed && second.session.resumed ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  settings chosen;
  CLI::App app("Echoes over TLS; without a command it shows both sides in one process");
  app.option_defaults()->always_capture_default();
  app.add_option("--port", chosen.port, "of the server; 0 picks a free one");
  CLI::App* const serve =
      app.add_subcommand("serve", "serve until SIGINT or SIGTERM")->fallthrough();
  auto* const certificate =
      serve->add_option("--cert", chosen.certificate, "PEM, and then its chain");
  auto* const key = serve->add_option("--key", chosen.key, "PEM")->needs(certificate);
  certificate->needs(key);
  serve->add_option("--save", chosen.save_to, "where a certificate of its own is written to");
  CLI::App* const asking = app.add_subcommand("ask", "send TEXT and show what comes back");
  asking->add_option("HOST", chosen.host)->required();
  asking->add_option("PORT", chosen.port)->required();
  asking->add_option("--trust", chosen.trust, "PEM, besides whom the system trusts");
  asking->add_option("TEXT", chosen.words)->required();
  CLI11_PARSE(app, argc, argv);
  try {
    tandem::runtime_options options;
    options.dump_on_signal = true;
    if (*serve) return tandem::run(run_server(chosen), options);
    if (*asking) return tandem::run(run_client(chosen));
    return tandem::run(demonstrate());
  } catch (const std::exception& error) {
    std::cerr << "tls_echo: " << error.what() << '\n';
    return 1;
  }
}
