// client_certificates_test.cpp: what a server asks its clients for, and what these show.
// SPDX-License-Identifier: MIT
#include "io/tls/tls_support.hpp"

#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

using tandem::task;
using tandem::io::tls::certificate_summary;
using tandem::io::tls::client_certificates;
using tandem::io::tls::client_options;
using tandem::io::tls::errc;
using tandem::io::tls::pem;
using tandem::io::tls::server_context;
using tandem::io::tls::server_options;
using tandem::io::tls::version;
using tandem::test::as_identity;
using tandem::test::end_of_read;
using tandem::test::expect_refusal;
using tandem::test::expect_talks;
using tandem::test::issue_request;
using tandem::test::made_identity;
using tandem::test::make_tls_pair;
using tandem::test::run_tls;
using tandem::test::served_by;
using tandem::test::test_authority;
using tandem::test::tls_end;
using tandem::test::tls_ends;
using tandem::test::tls_pair;
using tandem::test::trusting;
using tandem::test::try_tls;
using tandem::test::validity;

const test_authority& of_clients() {
  static const test_authority made("authority of clients");
  return made;
}

made_identity client_identity(const test_authority& authority, validity valid = {}) {
  issue_request request("a client");
  request.is_client = true;
  request.valid = valid;
  return authority.issue(request);
}

server_options asking(client_certificates what) {
  server_options options = served_by();
  options.from_clients = what;
  if (what != client_certificates::ignored) {
    options.trusted.push_back(pem::text(of_clients().certificate()));
  }
  return options;
}

client_options showing(const made_identity& shown) {
  client_options options = trusting();
  options.certificate.push_back(as_identity(shown));
  return options;
}

/// The client's certificate, as the server has it in the end.
task<std::string> shown_to(server_options server, client_options client) {
  tls_pair both = co_await make_tls_pair(std::move(client), server_context(server));
  co_await expect_talks(both);
  co_return both.server.details().peer_certificate;
}

/// In both versions: in TLS 1.3 the client hears of its refusal when its handshake is over.
task<void> expect_client_refused(server_options server, client_options client, errc code) {
  for (const version which : {version::tls1_2, version::tls1_3}) {
    client.maximum_version = which;
    tls_ends ends = co_await try_tls(client, server_context(server));
    expect_refusal(ends.server, code);
    tls_end told = std::move(ends.client);
    if (told.stream.is_open()) {
      EXPECT_EQ(which, version::tls1_3);
      told = co_await end_of_read(told.stream);
    }
    EXPECT_EQ(&told.code.category(), &tandem::io::tls::tls_category()) << told.what;
    EXPECT_NE(told.what.find("the peer says"), std::string::npos) << told.what;
  }
}

TEST(tls_client_certificates, one_is_asked_for_only_if_the_option_says_so) {
  run_tls([]() -> task<void> {
    const made_identity made = client_identity(of_clients());
    EXPECT_EQ(co_await shown_to(asking(client_certificates::ignored), showing(made)), "");
    EXPECT_EQ(co_await shown_to(asking(client_certificates::accepted), showing(made)),
              made.certificate());
    EXPECT_EQ(co_await shown_to(asking(client_certificates::required), showing(made)),
              made.certificate());
  });
}

TEST(tls_client_certificates, what_stands_in_it_is_told_without_a_parser) {
  run_tls([]() -> task<void> {
    issue_request request("a client");
    request.names = {"worker.example", "*.worker.example"};
    request.addresses = {"127.0.0.1", "::1"};
    request.is_client = true;
    const auto before = std::chrono::system_clock::now();
    const made_identity made = of_clients().issue(request);
    server_options options = asking(client_certificates::required);
    tls_pair both = co_await make_tls_pair(showing(made), server_context(options));
    const certificate_summary peer = both.server.details().peer;
    EXPECT_EQ(peer.subject, "CN=a client");
    EXPECT_EQ(peer.issuer, "CN=authority of clients");
    EXPECT_EQ(peer.names,
              (std::vector<std::string>{"worker.example", "*.worker.example", "127.0.0.1", "::1"}));
    EXPECT_LT(std::chrono::abs(peer.valid_from - before - request.valid.starts), 30s);
    EXPECT_LT(std::chrono::abs(peer.valid_until - before - request.valid.ends), 30s);
    EXPECT_EQ(peer.fingerprint, made.fingerprint());
    EXPECT_EQ(both.client.details().peer.subject, "CN=localhost");
  });
}

TEST(tls_client_certificates, who_shows_none_has_an_empty_summary) {
  run_tls([]() -> task<void> {
    tls_pair both =
        co_await make_tls_pair(trusting(), server_context(asking(client_certificates::accepted)));
    const certificate_summary peer = both.server.details().peer;
    EXPECT_EQ(peer.subject + peer.issuer + peer.fingerprint, "");
    EXPECT_TRUE(peer.names.empty());
  });
}

TEST(tls_client_certificates, a_client_without_one_comes_in_unless_it_is_required) {
  run_tls([]() -> task<void> {
    EXPECT_EQ(co_await shown_to(asking(client_certificates::accepted), trusting()), "");
    co_await expect_client_refused(asking(client_certificates::required), trusting(),
                                   errc::no_certificate);
  });
}

TEST(tls_client_certificates, a_bad_one_is_refused_also_where_none_is_required) {
  run_tls([]() -> task<void> {
    for (const client_certificates asked :
         {client_certificates::accepted, client_certificates::required}) {
      const test_authority stranger("a stranger");
      co_await expect_client_refused(asking(asked), showing(client_identity(stranger)),
                                     errc::unknown_authority);
      const made_identity old = client_identity(of_clients(), validity::over());
      co_await expect_client_refused(asking(asked), showing(old), errc::expired);
      co_await expect_client_refused(asking(asked), showing(tandem::test::self_signed()),
                                     errc::self_signed);
    }
  });
}

TEST(tls_client_certificates, a_certificate_for_servers_is_not_a_clients) {
  run_tls([]() -> task<void> {
    co_await expect_client_refused(asking(client_certificates::required),
                                   showing(of_clients().issue("localhost")), errc::bad_certificate);
  });
}

TEST(tls_client_certificates, revocation_lists_of_a_server_are_about_its_clients) {
  run_tls([]() -> task<void> {
    const made_identity bad = client_identity(of_clients());
    const made_identity good = client_identity(of_clients());
    server_options server = asking(client_certificates::required);
    server.revocation_lists.push_back(pem::text(of_clients().revocation_list({bad.certificates})));
    co_await expect_client_refused(server, showing(bad), errc::revoked);
    EXPECT_EQ(co_await shown_to(server, showing(good)), good.certificate());
  });
}

TEST(tls_client_certificates, a_chain_is_sent_with_what_stands_between) {
  run_tls([]() -> task<void> {
    const made_identity made = client_identity(of_clients().intermediate());
    EXPECT_EQ(co_await shown_to(asking(client_certificates::required), showing(made)),
              made.certificate());
  });
}

TEST(tls_client_certificates, an_encrypted_key_is_opened_by_its_password) {
  run_tls([]() -> task<void> {
    issue_request request("a client");
    request.is_client = true;
    request.password = "open sesame";
    const made_identity made = of_clients().issue(request);
    client_options client = trusting();
    client.certificate.push_back(as_identity(made, "open sesame"));
    EXPECT_EQ(co_await shown_to(asking(client_certificates::required), client), made.certificate());
  });
}

}  // namespace
