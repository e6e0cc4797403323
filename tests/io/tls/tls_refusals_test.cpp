// tls_refusals_test.cpp: each way to be refused: its code on both sides, and a text that says what to do.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <tandem/as_result.hpp>
#include <vector>

#include "io/tls/tls_support.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::any_stream;
using tandem::io::tcp_stream;
using tandem::io::tls::client_certificates;
using tandem::io::tls::client_context;
using tandem::io::tls::client_options;
using tandem::io::tls::errc;
using tandem::io::tls::identity;
using tandem::io::tls::pem;
using tandem::io::tls::server_context;
using tandem::io::tls::server_options;
using tandem::io::tls::version;
using tandem::test::any_pair;
using tandem::test::as_identity;
using tandem::test::bytes_of;
using tandem::test::common_authority;
using tandem::test::common_identity;
using tandem::test::connection;
using tandem::test::end_of;
using tandem::test::end_of_read;
using tandem::test::expect_refusal;
using tandem::test::issue_request;
using tandem::test::made_identity;
using tandem::test::make_connection;
using tandem::test::on_every_home;
using tandem::test::over_memory;
using tandem::test::over_tcp;
using tandem::test::read_to_end;
using tandem::test::run_tls;
using tandem::test::self_signed;
using tandem::test::served_by;
using tandem::test::shake_hands;
using tandem::test::test_authority;
using tandem::test::tls_end;
using tandem::test::tls_ends;
using tandem::test::tls_error_of;
using tandem::test::trusting;
using tandem::test::validity;

/// The client refuses; the server hears of it by an alert. Over TCP and over memory.
task<void> expect_client_refuses(client_context client, server_options server, errc code,
                                 std::string_view advice, std::string name = "localhost") {
  const server_context accepting(server);
  for (const bool tcp : {true, false}) {
    any_pair below = over_memory();
    if (tcp) below = co_await over_tcp();
    const tls_ends ends = co_await shake_hands(std::move(below), client, accepting, name);
    expect_refusal(ends.client, code, advice);
    expect_refusal(ends.client, code, "certificate verify failed");
    expect_refusal(ends.server, errc::refused_by_peer, "the peer says");
  }
}

/// Both sides find the same.
task<void> expect_both_refuse(client_context client, server_options server, errc code,
                              std::string_view advice) {
  const server_context accepting(server);
  for (const bool tcp : {true, false}) {
    any_pair below = over_memory();
    if (tcp) below = co_await over_tcp();
    const tls_ends ends = co_await shake_hands(std::move(below), client, accepting, "localhost");
    expect_refusal(ends.client, code, advice);
    expect_refusal(ends.server, code, advice);
  }
}

server_options served_with(validity valid) {
  issue_request request;
  request.valid = valid;
  return served_by(common_authority().issue(request));
}

TEST(tls_refusals, a_certificate_for_another_name) {
  on_every_home([]() -> task<void> {
    const client_context client(trusting());
    issue_request request("www.example.org");
    request.names.emplace_back("*.example.net");
    request.addresses = {"127.0.0.1"};
    const server_options server = served_by(common_authority().issue(request));
    for (const char* const name : {"example.org", "www.example.org.uk", "a.b.example.net",
                                   "example.net", "127.0.0.2", "::1"}) {
      co_await expect_client_refuses(client, server, errc::wrong_name, "connect with a name", name);
    }
  });
}

// Whoever reads a log wants to know what was shown, not only that it was wrong.
TEST(tls_refusals, the_reason_describes_the_certificate_that_was_not_accepted) {
  run_tls([]() -> task<void> {
    issue_request request("www.example.org");
    request.names = {"www.example.org", "a.example", "b.example", "c.example", "d.example"};
    request.valid = validity(std::chrono::hours(-48), std::chrono::hours(48));
    const made_identity wrong = common_authority().issue(request);
    co_await expect_client_refuses(trusting(), served_by(wrong), errc::wrong_name,
                                   "it is that of CN=www.example.org for www.example.org, "
                                   "a.example, b.example, c.example, ..., signed by CN=");
    request.valid = validity::over();
    const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
    const std::chrono::year_month_day day(today - std::chrono::days(1));
    co_await expect_client_refuses(
        trusting(), served_by(common_authority().issue(request)), errc::expired,
        " to " + std::to_string(static_cast<int>(day.year())) + "-", "www.example.org");

    server_options choosy = served_by(common_identity());
    choosy.from_clients = client_certificates::required;
    choosy.trusted = {pem::text(test_authority("others").certificate())};
    client_options client = trusting();
    client.certificate.push_back(as_identity(wrong));
    const tls_ends ends = co_await shake_hands(over_memory(), client_context(client),
                                               server_context(choosy), "localhost");
    expect_refusal(ends.server, errc::unknown_authority, ", above CN=www.example.org)");
  });
}

// Names stand in subjectAltName since 2000; what people write into the common name is no host.
TEST(tls_refusals, a_name_that_only_stands_in_the_common_name) {
  run_tls([]() -> task<void> {
    issue_request request("localhost");
    request.names = {"other.example"};
    co_await expect_client_refuses(trusting(), served_by(common_authority().issue(request)),
                                   errc::wrong_name, "connect with a name");
  });
}

TEST(tls_refusals, one_that_has_expired_or_is_not_valid_yet) {
  on_every_home([]() -> task<void> {
    co_await expect_client_refuses(trusting(), served_with(validity::over()), errc::expired,
                                   "renew it");
    co_await expect_client_refuses(trusting(), served_with(validity::to_come()),
                                   errc::not_yet_valid, "clocks");
  });
}

TEST(tls_refusals, one_whose_authority_has_expired) {
  run_tls([]() -> task<void> {
    const test_authority between = common_authority().intermediate("between", validity::over());
    co_await expect_client_refuses(trusting(), served_by(between.issue()), errc::expired,
                                   "renew it");
  });
}

TEST(tls_refusals, one_that_is_signed_by_itself_or_by_nobody_we_know) {
  on_every_home([]() -> task<void> {
    co_await expect_client_refuses(trusting(), served_by(self_signed()), errc::self_signed,
                                   "`trusted`");
    const test_authority stranger("a stranger");
    made_identity made = stranger.issue();
    co_await expect_client_refuses(trusting(), served_by(made), errc::unknown_authority,
                                   "`trusted`");
    made.certificates += stranger.certificate();  // its root, which nobody trusts for being sent
    co_await expect_client_refuses(trusting(), served_by(made), errc::unknown_authority,
                                   "`trusted`");
  });
}

TEST(tls_refusals, one_that_was_revoked_or_of_whose_authority_there_is_no_list) {
  on_every_home([]() -> task<void> {
    const made_identity made = common_authority().issue();
    client_options client = trusting();
    client.revocation_lists = {pem::text(common_authority().revocation_list({made.certificates}))};
    co_await expect_client_refuses(client, served_by(made), errc::revoked, "needs a new one");
    client.revocation_lists = {pem::text(test_authority("another").revocation_list({}))};
    co_await expect_client_refuses(client, served_by(made), errc::no_revocation_list,
                                   "`revocation_lists`");
  });
}

TEST(tls_refusals, a_client_without_a_certificate) {
  on_every_home([]() -> task<void> {
    server_options server = served_by();
    server.from_clients = client_certificates::required;
    server.trusted.push_back(pem::text(common_authority().certificate()));
    const server_context accepting(server);
    for (const version which : {version::tls1_2, version::tls1_3}) {
      client_options client = trusting();
      client.maximum_version = which;
      tls_ends ends = co_await tandem::test::try_tls(client, accepting);
      expect_refusal(ends.server, errc::no_certificate, "client_options::certificate");
      tls_end told = std::move(ends.client);
      if (told.stream.is_open()) told = co_await end_of_read(told.stream);
      // TLS 1.2 has no alert of its own for that.
      EXPECT_TRUE(told.code == errc::no_certificate || which == version::tls1_2) << told.what;
      EXPECT_EQ(&told.code.category(), &tandem::io::tls::tls_category()) << told.what;
    }
  });
}

TEST(tls_refusals, sides_that_share_no_version_no_cipher_or_no_protocol) {
  on_every_home([]() -> task<void> {
    client_options client = trusting();
    server_options server = served_by();
    client.minimum_version = version::tls1_3;
    server.maximum_version = version::tls1_2;
    co_await expect_both_refuse(client, server, errc::no_common_version, "maximum_version");
    client = trusting();
    server = served_by();
    client.cipher_suites = "TLS_AES_128_GCM_SHA256";
    server.cipher_suites = "TLS_AES_256_GCM_SHA384";
    co_await expect_both_refuse(client, server, errc::no_common_cipher, "`cipher_suites`");
    client = trusting();
    server = served_by();
    client.protocols = {"h2"};
    server.protocols = {"http/1.1"};
    co_await expect_both_refuse(client, server, errc::no_common_protocol, "`protocols`");
  });
}

// --- What is not TLS at all

TEST(tls_refusals, a_client_that_speaks_something_else) {
  on_every_home([]() -> task<void> {
    for (const std::string_view said :
         {std::string_view("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
          std::string_view("CONNECT example.org:443 HTTP/1.1\r\n\r\n"),
          std::string_view("SSH-2.0-OpenSSH_9.2\r\n"), std::string_view("\0\0\0\0\0\0\0\0", 8)}) {
      connection both = co_await make_connection();
      co_await both.client.write_all(bytes_of(said));
      const tls_end end = co_await end_of(
          tandem::io::tls::accept(std::move(both.server), server_context(served_by())));
      expect_refusal(end, errc::not_tls, "check the port");
    }
  });
}

TEST(tls_refusals, a_server_that_speaks_something_else) {
  on_every_home([]() -> task<void> {
    for (const std::string_view said : {std::string_view("HTTP/1.1 400 Bad Request\r\n\r\n"),
                                        std::string_view("220 mail.example.org ESMTP\r\n"),
                                        std::string_view("\n\n\n\n\n\n", 6)}) {
      connection both = co_await make_connection();
      co_await both.server.write_all(bytes_of(said));
      const tls_end end = co_await end_of(
          tandem::io::tls::connect(std::move(both.client), "localhost", trusting()));
      expect_refusal(end, errc::not_tls, "check the port");
    }
  });
}

TEST(tls_refusals, a_peer_that_ends_in_the_midst_of_the_handshake) {
  on_every_home([]() -> task<void> {
    for (const std::string_view said : {std::string_view(), std::string_view("\x16\x03\x01", 3)}) {
      connection both = co_await make_connection();
      co_await both.client.write_all(bytes_of(said));
      both.client.shutdown();
      tls_end end = co_await end_of(
          tandem::io::tls::accept(std::move(both.server), server_context(served_by())));
      expect_refusal(end, said.empty() ? errc::nothing_said : errc::closed_in_handshake,
                     said.empty() ? "health checks" : "during the handshake");
      both = co_await make_connection();
      co_await both.server.write_all(bytes_of(said));
      both.server.shutdown();
      end = co_await end_of(
          tandem::io::tls::connect(std::move(both.client), "localhost", trusting()));
      expect_refusal(end, errc::closed_in_handshake, "during the handshake");
    }
  });
}

TEST(tls_refusals, the_stream_below_is_closed_by_a_failed_handshake) {
  run_tls([]() -> task<void> {
    connection both = co_await make_connection();
    tcp_stream plain = std::move(both.client);
    co_await plain.write_all(bytes_of("this is something else\r\n"));
    const tls_end end = co_await end_of(
        tandem::io::tls::accept(std::move(both.server), server_context(served_by())));
    expect_refusal(end, errc::not_tls);
    std::array<std::byte, 64> room;
    while (true) {  // an alert perhaps, then the end
      const auto got = co_await as_result(plain.read(room));
      if (!got || got.value() == 0) break;
    }
  });
}

// --- Before any connection

TEST(tls_refusals, a_key_that_does_not_fit) {
  server_options server;
  const made_identity other = common_authority().issue();
  server.certificates.emplace_back(pem::text(common_identity().certificates), pem::text(other.key));
  expect_refusal(tls_error_of([&] { (void)server_context(server); }), errc::key_mismatch,
                 "give both of the same identity");
}

TEST(tls_refusals, every_code_has_a_text_of_its_own) {
  std::vector<std::string> texts;
  for (int code = static_cast<int>(errc::truncated); code <= static_cast<int>(errc::failed);
       ++code) {
    texts.push_back(make_error_code(static_cast<errc>(code)).message());
  }
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(std::adjacent_find(texts.begin(), texts.end()), texts.end());
  EXPECT_EQ(std::error_code(errc::expired), make_error_code(errc::expired));
}

}  // namespace
