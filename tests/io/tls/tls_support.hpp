// tls_support.hpp: connections that have shaken hands, over TCP and in memory, and how handshakes end.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tandem/io/any_stream.hpp>
#include <tandem/io/tls.hpp>
#include <tandem/task.hpp>
#include <utility>

#include "io/stream/memory_stream.hpp"
#include "io/support/io_support.hpp"
#include "io/tls/certificates.hpp"

namespace tandem::test {

namespace tls = io::tls;

/// Of an authority that all tests of a process share, so that few keys have to be made.
const test_authority& common_authority();
/// What it has issued to "localhost", which is 127.0.0.1, too.
const made_identity& common_identity();

/// A certificate and its key as an option, from text.
tls::identity as_identity(const made_identity& made, std::string password = {});
/// A server that shows this certificate.
tls::server_options served_by(const made_identity& made = common_identity());
/// A client that trusts this authority, and nobody else.
tls::client_options trusting(const test_authority& authority = common_authority());
/// Nobody is checked, so only what the test is about can fail.
tls::client_options trusting_anybody();

/// How something about TLS has ended; no error: well.
class tls_end {
 public:
  tls_end() = default;
  tls_end(std::error_code error, std::string text) : code(error), what(std::move(text)) {}

  std::error_code code;
  std::string what;       // of the exception
  io::tls_stream stream;  // open if it was a handshake that went well
};

/// What it throws; fails the test if that is no std::system_error.
template <class F>
tls_end tls_error_of(F f) {
  try {
    f();
  } catch (const std::system_error& failure) {
    return {failure.code(), failure.what()};
  }
  return {};
}
task<tls_end> end_of(task<io::tls_stream> handshake);
task<tls_end> end_of(task<void> operation);
task<tls_end> end_of_read(io::tls_stream& stream);

/// A refusal has this code, and these words are in its text.
void expect_refusal(const tls_end& end, tls::errc code, std::string_view words = {});

/// Both sides of a handshake.
class tls_ends {
 public:
  tls_ends(tls_end of_client, tls_end of_server)
      : client(std::move(of_client)), server(std::move(of_server)) {}
  tls_end client;
  tls_end server;
};

/// Both ends of a connection that has shaken hands.
class tls_pair {
 public:
  tls_pair() = default;
  tls_pair(io::tls_stream one, io::tls_stream other)
      : client(std::move(one)), server(std::move(other)) {}
  io::tls_stream client;
  io::tls_stream server;
};

class any_pair {
 public:
  any_pair(io::any_stream one, io::any_stream other) noexcept
      : client(std::move(one)), server(std::move(other)) {}
  io::any_stream client;
  io::any_stream server;
};
/// Plain connections.
task<any_pair> over_tcp();
any_pair over_memory();

/// Shakes hands over `below`, whatever comes of it.
task<tls_ends> shake_hands(any_pair below, tls::client_context client, tls::server_context server,
                           std::string name = "localhost");
/// As above, over TCP.
task<tls_ends> try_tls(tls::client_context client, tls::server_context server,
                       std::string name = "localhost");
/// As above; fails the test, and throws, if it does not go well.
task<tls_pair> make_tls_pair(tls::client_context client, tls::server_context server,
                             std::string name = "localhost");
/// With certificate and authority that the process shares.
task<tls_pair> make_tls_pair();
task<tls_pair> make_tls_pair_over(any_pair below);

/// Compares without a step for each byte, which takes a while in a build without optimisation.
bool same_bytes(std::span<const std::byte> one, std::span<const std::byte> other) noexcept;
/// The first so many of bytes that are made once: at most 8 MiB.
std::span<const std::byte> many_bytes(std::size_t count);
/// Writes until a stop comes. @param taken  how many bytes were taken by then
task<void> writes_until_stopped(io::tls_stream& to, std::span<const std::byte> bytes,
                                std::size_t& taken);

/// One write there, one back: whatever a handshake of TLS 1.3 still owes (a refusal of the client's
/// certificate, tickets) has come by then.
task<void> expect_talks(tls_pair& both);

/// Gives `body` to a runtime.
template <class F>
void run_tls(F body) {
  test_runtime rt;
  rt.run(body());
}

/// A copy of `body` for connections over TCP and over memory, each at every home.
template <class Body>
void for_every_transport(Body body) {
  on_every_home([body]() -> task<void> {
    co_await body(co_await make_tls_pair());
    co_await body(co_await make_tls_pair_over(over_memory()));
  });
}

}  // namespace tandem::test
