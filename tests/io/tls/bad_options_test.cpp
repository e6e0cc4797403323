// bad_options_test.cpp: what cannot be used fails when the context is made, with what it is in the text.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/tls/tls_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::io::tls::client_certificates;
using tandem::io::tls::client_context;
using tandem::io::tls::client_options;
using tandem::io::tls::errc;
using tandem::io::tls::identity;
using tandem::io::tls::pem;
using tandem::io::tls::server_context;
using tandem::io::tls::server_options;
using tandem::io::tls::shared_options;
using tandem::io::tls::version;
using tandem::test::as_identity;
using tandem::test::bytes_of;
using tandem::test::common_authority;
using tandem::test::common_identity;
using tandem::test::issue_request;
using tandem::test::made_identity;
using tandem::test::served_by;
using tandem::test::temporary_folder;
using tandem::test::tls_end;
using tandem::test::tls_error_of;
using tandem::test::trusting;
using tandem::test::trusting_anybody;

using words = std::vector<std::string>;

void expect_words(const tls_end& end, errc code, const words& all) {
  EXPECT_EQ(end.code, make_error_code(code)) << end.what;
  for (const std::string& each : all) {
    EXPECT_NE(end.what.find(each), std::string::npos) << end.what << " has no " << each;
  }
}

template <class Spoil>
void bad_client(const words& all, Spoil spoil, errc code = errc::bad_option) {
  SCOPED_TRACE("client, " + all.front());
  client_options options = trusting();
  spoil(options);
  expect_words(tls_error_of([&] { (void)client_context(options); }), code, all);
}

template <class Spoil>
void bad_server(const words& all, Spoil spoil, errc code = errc::bad_option) {
  SCOPED_TRACE("server, " + all.front());
  server_options options = served_by();
  spoil(options);
  expect_words(tls_error_of([&] { (void)server_context(options); }), code, all);
}

/// What both sides have.
void bad_for_both(const words& all, const std::function<void(shared_options&)>& spoil) {
  bad_client(all, spoil);
  bad_server(all, spoil);
}

std::string put_file(const temporary_folder& folder, const std::string& name,
                     const std::string& content) {
  const std::string path = folder / name;
  tandem::test::put(path, bytes_of(content));
  return path;
}

/// One of its letters is another one, which no form of PEM has.
std::string damaged(std::string text) {
  text.at(text.size() / 2) = '?';
  return text;
}

// --- Words of both sides

TEST(tls_bad_options, versions_of_which_the_least_is_above_the_greatest) {
  bad_for_both({"minimum_version", "maximum_version"}, [](shared_options& options) {
    options.minimum_version = version::tls1_3;
    options.maximum_version = version::tls1_2;
  });
}

TEST(tls_bad_options, ciphers_and_groups_that_openssl_does_not_have) {
  bad_for_both({"ciphers", "NO-SUCH-CIPHER"},
               [](shared_options& options) { options.ciphers = "NO-SUCH-CIPHER"; });
  bad_for_both({"ciphers", "NO-SUCH-CIPHER"}, [](shared_options& options) {
    options.ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256:NO-SUCH-CIPHER";
  });
  bad_for_both({"cipher_suites", "TLS_NONE"},
               [](shared_options& options) { options.cipher_suites = "TLS_NONE"; });
  bad_for_both({"cipher_suites", "TLS_NONE"}, [](shared_options& options) {
    options.cipher_suites = "TLS_AES_128_GCM_SHA256:TLS_NONE";
  });
  bad_for_both({"groups", "P-1"}, [](shared_options& options) { options.groups = "P-256:P-1"; });
}

TEST(tls_bad_options, ciphers_of_a_version_that_is_not_spoken) {
  bad_for_both({"ciphers", "minimum_version"}, [](shared_options& options) {
    options.ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256";
    options.minimum_version = version::tls1_3;
  });
  bad_for_both({"cipher_suites", "maximum_version"}, [](shared_options& options) {
    options.cipher_suites = "TLS_AES_128_GCM_SHA256";
    options.maximum_version = version::tls1_2;
  });
}

TEST(tls_bad_options, protocols_that_are_empty_or_too_long) {
  bad_for_both({"protocols"}, [](shared_options& options) { options.protocols = {"h2", ""}; });
  bad_for_both({"protocols", "256"},
               [](shared_options& options) { options.protocols = {std::string(256, 'x')}; });
  bad_for_both({"protocols"}, [](shared_options& options) {
    options.protocols.resize(300, std::string(255, 'x'));
  });
}

TEST(tls_bad_options, a_key_log_that_cannot_be_written) {
  const temporary_folder folder;
  const std::string nowhere = folder / "no_folder/log";
  bad_for_both({"key_log", nowhere, "No such file"},
               [&](shared_options& options) { options.key_log = nowhere; });
  bad_for_both({"key_log", folder.path()},
               [&](shared_options& options) { options.key_log = folder.path(); });
}

// --- Files and texts

/// Asks for certificates of clients, so that authorities and lists mean something.
server_options& asking(shared_options& options) {
  auto& server = static_cast<server_options&>(options);
  server.from_clients = client_certificates::required;
  return server;
}

void bad_authority(const words& all, const pem& source) {
  bad_client(all, [&](client_options& options) { options.trusted.push_back(source); });
  bad_server(all, [&](server_options& options) { asking(options).trusted.push_back(source); });
}

void bad_list(const words& all, const pem& source) {
  bad_client(all, [&](client_options& options) { options.revocation_lists.push_back(source); });
  bad_server(all, [&](server_options& options) {
    asking(options).trusted.push_back(pem::text(common_authority().certificate()));
    options.revocation_lists.push_back(source);
  });
}

TEST(tls_bad_options, an_authority_that_is_not_there_or_is_no_certificate) {
  const temporary_folder folder;
  const std::string missing = folder / "missing.pem";
  bad_authority({missing, "No such file"}, pem::file(missing));
  bad_authority({folder.path()}, pem::file(folder.path()));
  const std::string garbage = put_file(folder, "garbage.pem", "this is no certificate\n");
  bad_authority({garbage, "certificate"}, pem::file(garbage));
  bad_authority({"text given in memory", "certificate"}, pem::text(""));
  bad_authority({"text given in memory", "certificate"}, pem::text(common_identity().key));
  const std::string broken =
      put_file(folder, "broken.pem",
               common_authority().certificate() + damaged(common_authority().certificate()));
  bad_authority({broken, "certificate"}, pem::file(broken));
}

TEST(tls_bad_options, a_path_that_is_taken_for_text) {
  bad_client({"has no certificate", "pem::file"},
             [](client_options& options) { options.trusted.push_back(pem::text("ca.pem")); });
}

TEST(tls_bad_options, a_chain_that_is_asked_about_without_a_list) {
  const auto spoil = [](tandem::io::tls::shared_options& options) {
    options.revocation = tandem::io::tls::revocation_check::chain;
  };
  bad_client({"revocation_lists"}, spoil);
  bad_server({"revocation_lists"}, spoil);
}

TEST(tls_bad_options, a_revocation_list_that_is_none) {
  const temporary_folder folder;
  const std::string missing = folder / "missing.crl";
  bad_list({missing, "No such file"}, pem::file(missing));
  const std::string other = put_file(folder, "other.crl", common_authority().certificate());
  bad_list({other, "revocation list"}, pem::file(other));
  bad_list({"revocation list"}, pem::text(damaged(common_authority().revocation_list({}))));
}

void bad_identity(const words& all, const identity& shown, errc code = errc::bad_option) {
  bad_client(all, [&](client_options& options) { options.certificate.push_back(shown); }, code);
  bad_server(all, [&](server_options& options) { options.certificates.push_back(shown); }, code);
}

TEST(tls_bad_options, a_certificate_or_key_that_cannot_be_read) {
  const temporary_folder folder;
  const made_identity& good = common_identity();
  const std::string missing = folder / "missing.pem";
  bad_identity({missing, "No such file"}, identity(pem::file(missing), pem::text(good.key)));
  bad_identity({missing, "No such file"},
               identity(pem::text(good.certificates), pem::file(missing)));
  const std::string garbage = put_file(folder, "garbage.pem", "neither\n");
  bad_identity({garbage, "certificate"}, identity(pem::file(garbage), pem::text(good.key)));
  bad_identity({garbage, "private key"},
               identity(pem::text(good.certificates), pem::file(garbage)));
  bad_identity({"private key"},
               identity(pem::text(good.certificates), pem::text(damaged(good.key))));
  bad_identity({"certificate"},
               identity(pem::text(damaged(good.certificates)), pem::text(good.key)));
}

TEST(tls_bad_options, a_key_whose_password_is_missing_or_wrong) {
  issue_request request;
  request.password = "right";
  const made_identity made = common_authority().issue(request);
  bad_identity({"private key", "password"}, as_identity(made));
  bad_identity({"private key", "password"}, as_identity(made, "wrong"));
  bad_identity({"not encrypted", "password"}, as_identity(common_identity(), "right"));
  server_options options;
  options.certificates.push_back(as_identity(made, "right"));
  EXPECT_NO_THROW((void)server_context(options));
}

TEST(tls_bad_options, a_key_of_another_certificate) {
  const temporary_folder folder;
  const made_identity other = common_authority().issue("other");
  const std::string key = put_file(folder, "other.key", other.key);
  bad_identity({key, "does not belong"},
               identity(pem::text(common_identity().certificates), pem::file(key)),
               errc::key_mismatch);
  issue_request request;
  request.key = tandem::test::key_kind::rsa;
  const made_identity rsa = common_authority().issue(request);
  bad_identity({"does not belong"},
               identity(pem::text(common_identity().certificates), pem::text(rsa.key)),
               errc::key_mismatch);
}

// --- Options of one side

TEST(tls_bad_options,
     a_client_that_could_trust_nobody_or_checks_nothing_and_still_has_authorities) {
  bad_client({"trust_system", "trusted"}, [](client_options& options) { options.trusted.clear(); });
  const std::string any = "accept_any_certificate_from_anybody";
  bad_client({any, "trusted"},
             [](client_options& options) { options.accept_any_certificate_from_anybody = true; });
  bad_client({any, "revocation_lists"}, [](client_options& options) {
    options = trusting_anybody();
    options.revocation_lists.push_back(pem::text(common_authority().revocation_list({})));
  });
}

TEST(tls_bad_options, a_client_with_two_certificates) {
  bad_client({"certificate"}, [](client_options& options) {
    options.certificate.assign(2, as_identity(common_identity()));
  });
}

TEST(tls_bad_options, a_server_without_a_certificate) {
  bad_server({"certificates"}, [](server_options& options) { options.certificates.clear(); });
}

TEST(tls_bad_options, a_server_that_asks_its_clients_and_trusts_nobody_or_the_reverse) {
  for (const auto asked : {client_certificates::accepted, client_certificates::required}) {
    bad_server({"from_clients", "trusted"},
               [&](server_options& options) { options.from_clients = asked; });
  }
  bad_server({"from_clients", "trusted"}, [](server_options& options) {
    options.trusted.push_back(pem::text(common_authority().certificate()));
  });
  bad_server({"from_clients", "revocation_lists"}, [](server_options& options) {
    options.revocation_lists.push_back(pem::text(common_authority().revocation_list({})));
  });
}

TEST(tls_bad_options, tickets_that_live_for_no_time_or_too_long_or_are_too_many) {
  for (const std::chrono::seconds span : {0s, -1s, 7 * 24 * 3600s + 1s}) {
    bad_server({"ticket_lifetime"},
               [&](server_options& options) { options.ticket_lifetime = span; });
  }
  bad_server({"tickets"}, [](server_options& options) { options.tickets = 100'000; });
}

TEST(tls_bad_options, no_place_for_any_handshake) {
  tandem::io::tls::accepting_options options;
  options.max_handshakes = 0;
  try {
    const auto handler = [](tandem::io::tls_stream) -> tandem::task<void> { co_return; };
    (void)tandem::io::tls::accepting(server_context(served_by()), handler, options);
    ADD_FAILURE() << "no place for handshakes";
  } catch (const std::invalid_argument& failure) {
    EXPECT_NE(std::string(failure.what()).find("max_handshakes"), std::string::npos)
        << failure.what();
  }
}

TEST(tls_bad_options, every_failure_is_a_tls_error_of_its_category) {
  server_options options;
  try {
    (void)server_context(options);
    ADD_FAILURE() << "a server without a certificate";
  } catch (const tandem::io::tls::error& failure) {
    EXPECT_EQ(&failure.code().category(), &tandem::io::tls::tls_category());
    EXPECT_EQ(failure.code(), errc::bad_option);
    EXPECT_EQ(failure.reason(), "");
  }
  EXPECT_STREQ(tandem::io::tls::tls_category().name(), "tandem.tls");
}

}  // namespace
