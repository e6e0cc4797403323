// tls_peers_test.cpp: foreign programs and tandem: versions, ALPN, certificates, much data.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <string>
#include <tandem/timeout.hpp>
#include <utility>

#include "io/support/file_support.hpp"
#include "io/tls/peers_support.hpp"

namespace {

namespace io = tandem::io;
namespace tls = tandem::io::tls;
using tandem::as_result;
using tandem::task;
using tandem::test::bytes_of;
using tandem::test::conversation;
using tandem::test::is_server;
using tandem::test::numbered;
using tandem::test::our_side;
using tandem::test::peer_files;
using tandem::test::peer_kind;
using tandem::test::peer_mode;
using tandem::test::peer_request;
using tandem::test::read_some;
using tandem::test::read_until;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

class tls_with : public tandem::test::peer_test {};

TEST_P(tls_with, agrees_on_the_version_and_talks_both_ways) {
  conversation both(request());
  both.open();
  EXPECT_EQ(both.stream().details().version, version());
  EXPECT_FALSE(both.stream().details().cipher.empty());
  EXPECT_EQ(both.stream().details().server_name, "localhost");
  both.talk("once more");
}

// --- Much data

/// @param first  where the first number is expected
std::string from_first_number(const std::string& all, std::size_t count) {
  const std::size_t first = all.find(numbered(0, 16));
  return first == std::string::npos ? "nothing" : all.substr(first, count);
}

task<void> write_text(io::tls_stream& stream, const std::string& text) {
  co_await stream.write_all(bytes_of(text));
}

/// What curl sends of a file comes as it is, and the answer has its length.
void exchange_by_curl(peer_request request, const std::string& much) {
  request.file = peer_files::shared().fresh("much");
  tandem::test::put(request.file, bytes_of(much));
  conversation both(request);
  both.start();
  const std::string heard = both.run(read_until(both.stream(), much.substr(much.size() - 16)));
  EXPECT_TRUE(from_first_number(heard, much.size()) == much);
  both.we_say("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(much.size()) + "\r\n\r\n" +
              much);
  EXPECT_EQ(both.peer().process().exit_status(), 0);
  EXPECT_TRUE(both.peer().process().output() == much);
}

TEST_P(tls_with, a_mebibyte_arrives_whole_in_either_direction) {
  const std::string much = numbered(0, mebibyte);
  if (kind() == peer_kind::curl) return exchange_by_curl(request(), much);
  // gnutls-cli prints byte by byte, each by a call of the system.
  const bool is_slow = kind() == peer_kind::gnutls_cli;
  const std::string ours = is_slow ? much.substr(0, mebibyte / 16) : much;
  conversation both(request());
  both.open();
  auto& workers = both.runtime().workers();
  auto reading =
      both.runtime()->spawn(workers, read_until(both.stream(), much.substr(mebibyte - 16)));
  auto writing = both.runtime()->spawn(workers, write_text(both.stream(), ours));
  if (!both.peer().echoes()) both.peer().say(much);
  writing.wait();
  EXPECT_TRUE(from_first_number(reading.wait(), mebibyte) == much);
  if (both.peer().echoes()) return;
  both.peer().prints(ours.substr(ours.size() - 16));
  EXPECT_TRUE(from_first_number(both.peer().process().output(), ours.size()) == ours);
}

// --- What they agree on

TEST_P(tls_with, application_protocols_are_agreed_on) {
  peer_request asked = request();
  switch (kind()) {
    case peer_kind::s_server:
    case peer_kind::s_client: asked.more = {"-alpn", "http/1.1,unheard"}; break;
    case peer_kind::gnutls_serv:
    case peer_kind::gnutls_cli: asked.more = {"--alpn=unheard", "--alpn=http/1.1"}; break;
    case peer_kind::curl: break;  // http/1.1 is what it has been told to speak
  }
  our_side ours;
  ours.protocols = {"h2", "http/1.1"};
  conversation both(asked, ours);
  both.open();
  EXPECT_EQ(both.stream().details().protocol, "http/1.1");
}

/// That a server of theirs requires a certificate, or a client of theirs shows one.
std::vector<std::string> with_client_certificate(peer_kind kind) {
  const peer_files& files = peer_files::shared();
  switch (kind) {
    case peer_kind::s_server: return {"-Verify", "1", "-verify_return_error"};
    case peer_kind::gnutls_serv: return {"--require-client-cert"};
    case peer_kind::s_client: return {"-cert", files.client_certificate, "-key", files.client_key};
    case peer_kind::gnutls_cli:
      return {"--x509certfile=" + files.client_certificate, "--x509keyfile=" + files.client_key};
    case peer_kind::curl: return {"--cert", files.client_certificate, "--key", files.client_key};
  }
  return {};
}

TEST_P(tls_with, client_certificates_are_shown_and_checked) {
  peer_request asked = request();
  asked.more = with_client_certificate(kind());
  our_side ours;
  ours.shows_certificate = true;
  ours.from_clients = tls::client_certificates::required;
  conversation both(asked, ours);
  both.open();
  const std::string shown = tandem::test::get(peer_files::shared().client_certificate);
  const std::string server = tandem::test::common_identity().certificate();
  EXPECT_EQ(both.stream().details().peer_certificate, is_server(kind()) ? server : shown);
}

task<tandem::result<io::tls_stream>> shake(conversation& both, io::any_stream below) {
  co_return co_await as_result(both.handshake(std::move(below)));
}

TEST_P(tls_with, a_client_without_a_certificate_that_is_required_is_refused) {
  peer_request asked = request();
  if (is_server(kind())) asked.more = with_client_certificate(kind());
  our_side ours;
  ours.from_clients = tls::client_certificates::required;
  conversation both(asked, ours);
  auto shaken = both.run(shake(both, both.connect()));
  if (!is_server(kind())) {
    EXPECT_EQ(shaken.error(), tls::errc::no_certificate);
    return;
  }
  // TLS 1.3 has an alert for it, which comes when the client is through; TLS 1.2 has none.
  if (shaken.has_value()) {
    EXPECT_EQ(both.run(read_some(shaken.value())).error(), tls::errc::no_certificate);
  } else {
    EXPECT_EQ(shaken.error(), tls::errc::refused_by_peer) << shaken.error().message();
  }
}

INSTANTIATE_TEST_SUITE_P(peer, tls_with,
                         ::testing::Combine(tandem::test::every_peer, tandem::test::every_version),
                         tandem::test::name_of_peer);

// --- A page

TEST(tls_pages, curl_gets_a_page_and_says_farewell) {
  TANDEM_NEEDS_PROGRAM("curl");
  conversation both(peer_request(peer_kind::curl, tls::version::tls1_3, peer_mode::page));
  both.start();
  const std::string asked = both.run(read_until(both.stream(), "\r\n\r\n"));
  EXPECT_TRUE(asked.starts_with("GET /page HTTP/1.1\r\n")) << asked;
  both.we_say("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npage\r\n");
  EXPECT_EQ(both.run(read_some(both.stream())).value(), 0U);
  EXPECT_EQ(both.peer().process().exit_status(), 0);
  EXPECT_EQ(both.peer().process().output(), "page\r\n");
}

TEST(tls_pages, curl_refuses_a_server_that_nobody_vouches_for) {
  TANDEM_NEEDS_PROGRAM("curl");
  peer_request asked(peer_kind::curl, tls::version::tls1_3, peer_mode::page);
  const std::string other = peer_files::shared().fresh("other_authority.pem");
  tandem::test::put(other, bytes_of(tandem::test::test_authority("somebody else").certificate()));
  asked.trusted = other;
  conversation both(asked);
  const auto shaken = both.run(shake(both, both.connect()));
  EXPECT_EQ(shaken.error(), tls::errc::refused_by_peer);
  EXPECT_EQ(both.peer().process().exit_status(), 60);
}

}  // namespace
