// tls_support.hpp: asio::ssl over streams of tandem: types, and a certificate that is made now.
// SPDX-License-Identifier: MIT
#pragma once

#include <boost/asio/ssl.hpp>
#include <system_error>
#include <tandem/boost_asio.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/when_all.hpp>
#include <utility>

#include "io/support/io_support.hpp"
#include "io/tls/certificates.hpp"

namespace tandem::test {

namespace net = boost::asio;
namespace ssl = boost::asio::ssl;

using plain_stream = asio_stream<io::tcp_stream>;
using tls_stream = ssl::stream<plain_stream>;

/// Both sides' contexts: the server has a certificate that it has signed itself, and the client trusts
/// this one and no other.
class tls_identity {
 public:
  tls_identity() : server(ssl::context::tls_server), client(ssl::context::tls_client) {
    const made_identity made = self_signed();
    server.use_certificate(net::buffer(made.certificates), ssl::context::pem);
    server.use_private_key(net::buffer(made.key), ssl::context::pem);
    client.add_certificate_authority(net::buffer(made.certificates));
    client.set_verify_mode(ssl::verify_peer);
  }

  ssl::context server;
  ssl::context client;
};

/// Boost's codes, as awaits have them.
inline std::error_code code_of(boost::system::error_code error) { return error; }

/// Runs what `body()` returns, in a runtime.
template <class F>
void run(F body) {
  test_runtime rt;
  rt.run(body());
}

inline plain_stream over(io::tcp_stream stream) { return as_asio_stream(std::move(stream)); }

inline task<void> shake_hands(tls_stream& server, tls_stream& client) {
  co_await when_all(
      [](tls_stream& stream) -> task<void> {
        co_await stream.async_handshake(ssl::stream_base::server, use_await);
      }(server),
      [](tls_stream& stream) -> task<void> {
        co_await stream.async_handshake(ssl::stream_base::client, use_await);
      }(client));
}

}  // namespace tandem::test
