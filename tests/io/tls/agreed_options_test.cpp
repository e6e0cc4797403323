// agreed_options_test.cpp: what two sides agree on: versions, ciphers, groups, protocols, a certificate.
// SPDX-License-Identifier: MIT
#include "io/tls/tls_support.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "io/support/file_support.hpp"

namespace {

using tandem::task;
using tandem::io::tls::client_context;
using tandem::io::tls::client_options;
using tandem::io::tls::errc;
using tandem::io::tls::server_context;
using tandem::io::tls::server_options;
using tandem::io::tls::session_details;
using tandem::io::tls::version;
using tandem::test::as_identity;
using tandem::test::common_authority;
using tandem::test::common_identity;
using tandem::test::expect_refusal;
using tandem::test::expect_talks;
using tandem::test::issue_request;
using tandem::test::made_identity;
using tandem::test::make_tls_pair;
using tandem::test::run_tls;
using tandem::test::served_by;
using tandem::test::tls_ends;
using tandem::test::tls_pair;
using tandem::test::trusting;
using tandem::test::try_tls;

/// What the client has agreed to; the server says the same.
task<session_details> agreed(client_options client, server_options server,
                             std::string name = "localhost") {
  tls_pair both =
      co_await make_tls_pair(std::move(client), server_context(server), std::move(name));
  co_await expect_talks(both);
  const session_details of_server = both.server.details();
  session_details of_client = both.client.details();
  EXPECT_EQ(of_client.version, of_server.version);
  EXPECT_EQ(of_client.cipher, of_server.cipher);
  EXPECT_EQ(of_client.protocol, of_server.protocol);
  EXPECT_EQ(of_client.server_name, of_server.server_name);
  co_return of_client;
}

/// Neither side takes it for something else.
task<void> expect_no_common(client_options client, server_options server, errc code) {
  const tls_ends ends = co_await try_tls(std::move(client), server_context(server));
  expect_refusal(ends.client, code);
  expect_refusal(ends.server, code);
}

// --- Versions

TEST(tls_versions, the_newest_one_that_both_allow_is_spoken) {
  run_tls([]() -> task<void> {
    EXPECT_EQ((co_await agreed(trusting(), served_by())).version, version::tls1_3);
    client_options client = trusting();
    client.maximum_version = version::tls1_2;
    EXPECT_EQ((co_await agreed(client, served_by())).version, version::tls1_2);
    server_options server = served_by();
    server.maximum_version = version::tls1_2;
    EXPECT_EQ((co_await agreed(trusting(), server)).version, version::tls1_2);
    EXPECT_EQ((co_await agreed(client, server)).version, version::tls1_2);
  });
}

TEST(tls_versions, one_that_a_side_forbids_is_never_spoken) {
  run_tls([]() -> task<void> {
    client_options newer = trusting();
    newer.minimum_version = version::tls1_3;
    server_options old = served_by();
    old.maximum_version = version::tls1_2;
    co_await expect_no_common(newer, old, errc::no_common_version);
    client_options older = trusting();
    older.maximum_version = version::tls1_2;
    server_options strict = served_by();
    strict.minimum_version = version::tls1_3;
    co_await expect_no_common(older, strict, errc::no_common_version);
    EXPECT_EQ((co_await agreed(newer, strict)).version, version::tls1_3);
  });
}

TEST(tls_versions, they_have_names) {
  EXPECT_EQ(to_string(version::tls1_2), "TLS 1.2");
  EXPECT_EQ(to_string(version::tls1_3), "TLS 1.3");
}

// --- Ciphers and groups

/// A cipher of TLS 1.2: as OpenSSL calls it, and as RFC 5289 does.
constexpr std::array aes_128{"ECDHE-ECDSA-AES128-GCM-SHA256",
                             "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"};
constexpr std::array aes_256{"ECDHE-ECDSA-AES256-GCM-SHA384",
                             "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"};

TEST(tls_ciphers, of_tls_1_2_are_those_of_the_option) {
  run_tls([]() -> task<void> {
    client_options client = trusting();
    client.maximum_version = version::tls1_2;
    server_options server = served_by();
    for (const auto& [cipher, standard] : {aes_128, aes_256}) {
      client.ciphers = cipher;
      EXPECT_EQ((co_await agreed(client, served_by())).cipher, standard);
      client.ciphers.clear();
      server.ciphers = cipher;
      EXPECT_EQ((co_await agreed(client, server)).cipher, standard);
    }
    client.ciphers = aes_128.front();
    server.ciphers = aes_256.front();
    co_await expect_no_common(client, server, errc::no_common_cipher);
  });
}

// Without forward secrecy: whoever has the key later could read what was said before.
TEST(tls_ciphers, by_default_none_is_taken_that_lacks_forward_secrecy) {
  run_tls([]() -> task<void> {
    issue_request request;
    request.key = tandem::test::key_kind::rsa;
    const made_identity made = common_authority().issue(request);
    client_options weak = trusting();
    weak.maximum_version = version::tls1_2;
    weak.ciphers = "AES128-GCM-SHA256";
    co_await expect_no_common(weak, served_by(made), errc::no_common_cipher);
    weak.ciphers.clear();
    server_options server = served_by(made);
    server.ciphers = "AES128-GCM-SHA256";
    co_await expect_no_common(weak, server, errc::no_common_cipher);
  });
}

TEST(tls_ciphers, of_tls_1_3_are_those_of_the_option) {
  run_tls([]() -> task<void> {
    client_options client = trusting();
    server_options server = served_by();
    for (const char* const suite : {"TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"}) {
      client.cipher_suites = suite;
      EXPECT_EQ((co_await agreed(client, served_by())).cipher, suite);
      client.cipher_suites.clear();
      server.cipher_suites = suite;
      EXPECT_EQ((co_await agreed(client, server)).cipher, suite);
    }
    client.cipher_suites = "TLS_AES_128_GCM_SHA256";
    co_await expect_no_common(client, server, errc::no_common_cipher);
  });
}

// The certificate is of RSA: in TLS 1.2 an elliptic one is only good for a client that has its group.
TEST(tls_ciphers, key_exchange_takes_a_group_of_the_option) {
  run_tls([]() -> task<void> {
    issue_request request;
    request.key = tandem::test::key_kind::rsa;
    const server_options usual = served_by(common_authority().issue(request));
    for (const version which : {version::tls1_2, version::tls1_3}) {
      client_options client = trusting();
      client.maximum_version = which;
      server_options server = usual;
      server.groups = "P-384";
      (void)co_await agreed(client, server);
      client.groups = "P-521:P-384";
      (void)co_await agreed(client, server);
      (void)co_await agreed(client, usual);
      client.groups = "X25519";
      (void)co_await agreed(client, usual);
      co_await expect_no_common(client, server, errc::no_common_cipher);
    }
  });
}

// --- Application protocols

TEST(tls_protocols, the_servers_first_one_that_the_client_has_is_taken) {
  run_tls([]() -> task<void> {
    client_options client = trusting();
    client.protocols = {"http/1.1", "h2"};
    server_options server = served_by();
    server.protocols = {"spdy/3", "h2", "http/1.1"};
    for (const version which : {version::tls1_2, version::tls1_3}) {
      client.maximum_version = which;
      EXPECT_EQ((co_await agreed(client, server)).protocol, "h2");
    }
    client.protocols = {"http/1.1"};
    EXPECT_EQ((co_await agreed(client, server)).protocol, "http/1.1");
  });
}

TEST(tls_protocols, without_any_on_a_side_there_is_none) {
  run_tls([]() -> task<void> {
    client_options client = trusting();
    client.protocols = {"h2"};
    server_options server = served_by();
    server.protocols = {"h2"};
    EXPECT_EQ((co_await agreed(client, served_by())).protocol, "");
    EXPECT_EQ((co_await agreed(trusting(), server)).protocol, "");
    EXPECT_EQ((co_await agreed(client, server)).protocol, "h2");
  });
}

TEST(tls_protocols, two_sides_without_a_common_one_do_not_meet) {
  run_tls([]() -> task<void> {
    client_options client = trusting();
    client.protocols = {"h2", "h2c"};
    server_options server = served_by();
    server.protocols = {"http/1.1"};
    co_await expect_no_common(client, server, errc::no_common_protocol);
  });
}

TEST(tls_protocols, a_name_may_have_255_bytes_of_any_kind) {
  run_tls([]() -> task<void> {
    client_options client = trusting();
    client.protocols = {std::string(255, 'x'), std::string("\0\xff ,", 4)};
    server_options server = served_by();
    server.protocols = {client.protocols.back()};
    EXPECT_EQ((co_await agreed(client, server)).protocol, client.protocols.back());
    server.protocols = {client.protocols.front()};
    EXPECT_EQ((co_await agreed(client, server)).protocol, client.protocols.front());
  });
}

// --- Certificates by the name that the client asks for

TEST(tls_names, the_first_certificate_for_the_name_is_shown) {
  run_tls([]() -> task<void> {
    issue_request request("first.example");
    request.addresses = {"127.0.0.1"};
    std::vector<made_identity> made;
    made.push_back(common_authority().issue(request));
    made.push_back(common_authority().issue("second.example"));
    made.push_back(common_authority().issue("*.wide.example"));
    made.push_back(common_authority().issue("one.wide.example"));
    server_options server;
    for (const made_identity& each : made) server.certificates.push_back(as_identity(each));
    const auto shown = [&server](std::string name) -> task<std::string> {
      co_return (co_await agreed(trusting(), server, std::move(name))).peer_certificate;
    };
    EXPECT_EQ(co_await shown("first.example"), made[0].certificate());
    EXPECT_EQ(co_await shown("second.example"), made[1].certificate());
    EXPECT_EQ(co_await shown("SECOND.example"), made[1].certificate());
    EXPECT_EQ(co_await shown("one.wide.example"), made[2].certificate());
    EXPECT_EQ(co_await shown("127.0.0.1"), made[0].certificate());
    const tls_ends ends = co_await try_tls(trusting(), server_context(server), "third.example");
    expect_refusal(ends.client, errc::wrong_name);
  });
}

TEST(tls_names, a_host_is_told_to_the_server_and_an_address_is_not) {
  run_tls([]() -> task<void> {
    EXPECT_EQ((co_await agreed(trusting(), served_by())).server_name, "localhost");
    EXPECT_EQ((co_await agreed(trusting(), served_by(), "127.0.0.1")).server_name, "");
    EXPECT_EQ((co_await agreed(trusting(), served_by(), "::1")).server_name, "");
    // The same host: certificates have it without the dot, and so has SNI.
    EXPECT_EQ((co_await agreed(trusting(), served_by(), "localhost.")).server_name, "localhost");
  });
}

TEST(tls_names, rsa_and_elliptic_certificates_stand_side_by_side) {
  run_tls([]() -> task<void> {
    issue_request request("rsa.example");
    request.key = tandem::test::key_kind::rsa;
    const made_identity rsa = common_authority().issue(request);
    server_options server = served_by(common_identity());
    server.certificates.push_back(as_identity(rsa));
    EXPECT_EQ((co_await agreed(trusting(), server, "rsa.example")).peer_certificate,
              rsa.certificate());
    EXPECT_EQ((co_await agreed(trusting(), server)).peer_certificate,
              common_identity().certificate());
  });
}

// --- For debugging

TEST(tls_key_log, has_a_line_for_each_secret_of_every_connection) {
  run_tls([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const auto lines_of = [&](const std::string& path, std::string_view word) {
      const std::string all = tandem::test::get(path);
      std::size_t count = 0;
      for (std::size_t at = all.find(word); at != all.npos; at = all.find(word, at + 1)) ++count;
      return count;
    };
    client_options client = trusting();
    client.key_log = folder / "client";
    server_options server = served_by();
    server.key_log = folder / "server";
    for (const version which : {version::tls1_2, version::tls1_3, version::tls1_3}) {
      client.maximum_version = which;
      (void)co_await agreed(client, server);
    }
    for (const std::string side : {"client", "server"}) {
      EXPECT_EQ(lines_of(folder / side, "CLIENT_RANDOM "), 1U) << side;
      EXPECT_EQ(lines_of(folder / side, "CLIENT_HANDSHAKE_TRAFFIC_SECRET "), 2U) << side;
      EXPECT_EQ(lines_of(folder / side, "SERVER_TRAFFIC_SECRET_0 "), 2U) << side;
      EXPECT_EQ(tandem::test::get(folder / side).back(), '\n') << side;
    }
  });
}

}  // namespace
