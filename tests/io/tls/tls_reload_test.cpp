// tls_reload_test.cpp: certificates and revocation lists are read again while connections run.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <string>
#include <tandem/task_scope.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/tls/tls_support.hpp"

namespace {

using tandem::task;
using tandem::io::tls::client_certificates;
using tandem::io::tls::client_context;
using tandem::io::tls::client_options;
using tandem::io::tls::errc;
using tandem::io::tls::identity;
using tandem::io::tls::pem;
using tandem::io::tls::server_context;
using tandem::io::tls::server_options;
using tandem::io::tls::version;
using tandem::test::as_identity;
using tandem::test::bytes_of;
using tandem::test::common_authority;
using tandem::test::end_of_read;
using tandem::test::expect_refusal;
using tandem::test::expect_talks;
using tandem::test::issue_request;
using tandem::test::made_identity;
using tandem::test::make_tls_pair;
using tandem::test::run_tls;
using tandem::test::served_by;
using tandem::test::temporary_folder;
using tandem::test::test_authority;
using tandem::test::tls_end;
using tandem::test::tls_ends;
using tandem::test::tls_error_of;
using tandem::test::tls_pair;
using tandem::test::trusting;
using tandem::test::try_tls;

/// A certificate and its key in files.
class stored_identity {
 public:
  explicit stored_identity(const temporary_folder& folder)
      : certificates(folder / "chain.pem"), key(folder / "key.pem") {}

  void put(const made_identity& made) const {
    tandem::test::put(certificates, bytes_of(made.certificates));
    tandem::test::put(key, bytes_of(made.key));
  }
  identity option() const { return {pem::file(certificates), pem::file(key)}; }

  std::string certificates;
  std::string key;
};

/// An identity in files, of which a second one may take the place.
struct renewal {
  renewal() { stored.put(first); }

  const temporary_folder folder;
  const stored_identity stored{folder};
  const made_identity first = common_authority().issue();
  const made_identity second = common_authority().issue();
};

server_options served_from(const stored_identity& stored) {
  server_options options;
  options.certificates.push_back(stored.option());
  return options;
}

client_options without_sessions() {
  client_options options = trusting();
  options.sessions = 0;
  return options;
}

task<std::string> shown_by(server_context server) {
  tls_pair both = co_await make_tls_pair(without_sessions(), std::move(server));
  co_await expect_talks(both);
  co_return both.client.details().peer_certificate;
}

TEST(tls_reload, new_connections_see_the_renewed_certificate_and_old_ones_go_on) {
  run_tls([]() -> task<void> {
    const renewal files;
    server_context server(served_from(files.stored));
    const server_context copy = server;
    tls_pair old = co_await make_tls_pair(without_sessions(), server);
    files.stored.put(files.second);
    EXPECT_EQ(co_await shown_by(server), files.first.certificate());  // nobody has said so yet
    server.reload();
    EXPECT_EQ(co_await shown_by(server), files.second.certificate());
    EXPECT_EQ(co_await shown_by(copy), files.second.certificate());
    EXPECT_EQ(old.client.details().peer_certificate, files.first.certificate());
    co_await expect_talks(old);
    old.client.update_keys(true);
    co_await expect_talks(old);
  });
}

TEST(tls_reload, one_that_fails_leaves_everything_as_it_was) {
  run_tls([]() -> task<void> {
    const renewal files;
    server_context server(served_from(files.stored));
    files.stored.put({files.second.certificates, files.first.key});
    expect_refusal(tls_error_of([&] { server.reload(); }), errc::key_mismatch, files.stored.key);
    EXPECT_EQ(co_await shown_by(server), files.first.certificate());
    std::filesystem::remove(files.stored.certificates);
    expect_refusal(tls_error_of([&] { server.reload(); }), errc::bad_option,
                   files.stored.certificates);
    EXPECT_EQ(co_await shown_by(server), files.first.certificate());
    expect_refusal(tls_error_of([&] { server.reload(server_options()); }), errc::bad_option);
    EXPECT_EQ(co_await shown_by(server), files.first.certificate());
    files.stored.put(files.second);
    server.reload();
    EXPECT_EQ(co_await shown_by(server), files.second.certificate());
  });
}

TEST(tls_reload, other_options_take_the_place_of_the_first_ones_for_later_reloads_too) {
  run_tls([]() -> task<void> {
    const temporary_folder folder;
    const stored_identity stored(folder);
    const made_identity first = common_authority().issue();
    const made_identity second = common_authority().issue();
    stored.put(second);
    server_context server(served_by(first));
    server.reload(served_from(stored));
    EXPECT_EQ(co_await shown_by(server), second.certificate());
    stored.put(first);
    server.reload();
    EXPECT_EQ(co_await shown_by(server), first.certificate());
    server_options old = served_from(stored);
    old.maximum_version = version::tls1_2;
    server.reload(old);
    tls_pair both = co_await make_tls_pair(without_sessions(), server);
    EXPECT_EQ(both.client.details().version, version::tls1_2);
  });
}

TEST(tls_reload, a_client_hears_of_a_newer_revocation_list_and_of_other_authorities) {
  run_tls([]() -> task<void> {
    const temporary_folder folder;
    const std::string list = folder / "list.crl";
    const std::string trusted = folder / "trusted.pem";
    const made_identity made = common_authority().issue();
    const server_context server(served_by(made));
    tandem::test::put(list, bytes_of(common_authority().revocation_list({})));
    tandem::test::put(trusted, bytes_of(common_authority().certificate()));
    client_options options;
    options.trust_system = false;
    options.trusted.push_back(pem::file(trusted));
    options.revocation_lists.push_back(pem::file(list));
    client_context client(options);
    tls_pair old = co_await make_tls_pair(client, server);
    co_await expect_talks(old);  // so there is a session that could be resumed
    tandem::test::put(list, bytes_of(common_authority().revocation_list({made.certificates})));
    client.reload();
    expect_refusal((co_await try_tls(client, server)).client, errc::revoked);
    co_await expect_talks(old);
    tandem::test::put(list, bytes_of("no list"));
    expect_refusal(tls_error_of([&] { client.reload(); }), errc::bad_option, list);
    expect_refusal((co_await try_tls(client, server)).client, errc::revoked);
    tandem::test::put(list, bytes_of(common_authority().revocation_list({})));
    tandem::test::put(trusted, bytes_of(test_authority("another").certificate()));
    client.reload();
    expect_refusal((co_await try_tls(client, server)).client, errc::unknown_authority);
  });
}

TEST(tls_reload, a_client_forgets_its_sessions_and_keeps_none_of_older_connections) {
  run_tls([]() -> task<void> {
    const server_context server(served_by());
    client_context client(trusting());
    tls_pair first = co_await make_tls_pair(client, server);
    co_await expect_talks(first);
    tls_pair second = co_await make_tls_pair(client, server);
    EXPECT_TRUE(second.client.details().resumed);
    client.reload();
    co_await expect_talks(second);  // its tickets come now
    tls_pair third = co_await make_tls_pair(client, server);
    EXPECT_FALSE(third.client.details().resumed);
  });
}

TEST(tls_reload, clients_may_resume_their_sessions_after_the_servers) {
  run_tls([]() -> task<void> {
    for (const version which : {version::tls1_2, version::tls1_3}) {
      server_context server(served_by());
      client_options options = trusting();
      options.maximum_version = which;
      const client_context client(options);
      tls_pair first = co_await make_tls_pair(client, server);
      co_await expect_talks(first);
      server.reload();
      tls_pair second = co_await make_tls_pair(client, server);
      EXPECT_TRUE(second.client.details().resumed);
    }
  });
}

TEST(tls_reload, but_not_those_of_a_client_whose_certificate_was_revoked_meanwhile) {
  run_tls([]() -> task<void> {
    issue_request request("a client");
    request.is_client = true;
    const made_identity shown = common_authority().issue(request);
    for (const version which : {version::tls1_2, version::tls1_3}) {
      server_options options = served_by();
      options.from_clients = client_certificates::required;
      options.trusted.push_back(pem::text(common_authority().certificate()));
      server_context server(options);
      client_options showing = trusting();
      showing.maximum_version = which;
      showing.certificate.push_back(as_identity(shown));
      const client_context client(showing);
      tls_pair first = co_await make_tls_pair(client, server);
      co_await expect_talks(first);
      tls_pair second = co_await make_tls_pair(client, server);
      EXPECT_TRUE(second.server.details().resumed);
      EXPECT_EQ(second.server.details().peer_certificate, shown.certificate());
      co_await expect_talks(second);
      options.revocation_lists.push_back(
          pem::text(common_authority().revocation_list({shown.certificates})));
      server.reload(options);
      expect_refusal((co_await try_tls(client, server)).server, errc::revoked);
      co_await expect_talks(first);
    }
  });
}

// From another thread, as an operator's signal or timer would.
TEST(tls_reload, while_handshakes_go_on_every_one_sees_one_certificate_or_the_other) {
  run_tls([]() -> task<void> {
    const renewal files;
    server_context server(served_from(files.stored));
    client_context client(without_sessions());
    const std::jthread operates([&](const std::stop_token& stop) {
      for (bool odd = true; !stop.stop_requested(); odd = !odd) {
        files.stored.put(odd ? files.second : files.first);
        server.reload();
        client.reload();
      }
    });
    for (int i = 0; i < 30; ++i) {
      tls_pair both = co_await make_tls_pair(client, server);
      co_await expect_talks(both);
      const std::string seen = both.client.details().peer_certificate;
      EXPECT_TRUE(seen == files.first.certificate() || seen == files.second.certificate());
    }
  });
}

}  // namespace
