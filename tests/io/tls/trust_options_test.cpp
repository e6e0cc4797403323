// trust_options_test.cpp: whom a client trusts, and that each option about it makes a difference.
// SPDX-License-Identifier: MIT
#include "io/tls/tls_support.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/support/file_support.hpp"
#include "system.hpp"

namespace {

using tandem::task;
using tandem::io::tls::client_options;
using tandem::io::tls::errc;
using tandem::io::tls::pem;
using tandem::io::tls::revocation_check;
using tandem::io::tls::server_context;
using tandem::test::as_identity;
using tandem::test::common_authority;
using tandem::test::expect_refusal;
using tandem::test::expect_talks;
using tandem::test::issue_request;
using tandem::test::made_identity;
using tandem::test::make_tls_pair;
using tandem::test::run_tls;
using tandem::test::served_by;
using tandem::test::test_authority;
using tandem::test::tls_ends;
using tandem::test::tls_pair;
using tandem::test::trusting;
using tandem::test::trusting_anybody;
using tandem::test::try_tls;
using tandem::test::validity;

task<void> expect_good(client_options client, made_identity server) {
  tls_pair both = co_await make_tls_pair(std::move(client), server_context(served_by(server)));
  co_await expect_talks(both);
}

task<void> expect_refused(client_options client, made_identity server, errc code) {
  const tls_ends ends = co_await try_tls(std::move(client), server_context(served_by(server)));
  expect_refusal(ends.client, code);
}

/// Of the environment, as long as it lives; what was there before is forgotten.
class variable {
 public:
  variable(const char* name, const std::string& value) : name_(name) {
    tandem::test::set_variable(name, value.c_str());
  }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;
  ~variable() { tandem::test::unset_variable(name_); }

 private:
  const char* name_;
};

TEST(tls_trust, a_server_is_trusted_whose_authority_is_in_trusted_and_no_other) {
  run_tls([]() -> task<void> {
    const test_authority first("first");
    const test_authority second("second");
    const test_authority third("third");
    client_options client = trusting(first);
    client.trusted.push_back(pem::text(second.certificate()));
    co_await expect_good(client, first.issue());
    co_await expect_good(client, second.issue());
    co_await expect_refused(client, third.issue(), errc::unknown_authority);
    client_options both;  // several in one text
    both.trust_system = false;
    both.trusted.push_back(pem::text(second.certificate() + third.certificate()));
    co_await expect_good(both, second.issue());
    co_await expect_good(both, third.issue());
    co_await expect_refused(both, first.issue(), errc::unknown_authority);
  });
}

TEST(tls_trust, an_authority_may_stand_in_a_file) {
  run_tls([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const std::string path = folder / "authority.pem";
    tandem::test::put(path, tandem::test::bytes_of(common_authority().certificate()));
    client_options client;
    client.trust_system = false;
    client.trusted.push_back(pem::file(path));
    co_await expect_good(client, common_authority().issue());
  });
}

TEST(tls_trust, a_certificate_signed_by_itself_is_trusted_if_it_is_in_trusted) {
  run_tls([]() -> task<void> {
    const made_identity made = tandem::test::self_signed();
    client_options client;
    client.trust_system = false;
    client.trusted.push_back(pem::text(made.certificate()));
    co_await expect_good(client, made);
  });
}

TEST(tls_trust, the_systems_authorities_are_trusted_unless_the_option_is_off) {
  run_tls([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const test_authority of_system("of the system");
    const std::string path = folder / "system.pem";
    tandem::test::put(path, tandem::test::bytes_of(of_system.certificate()));
    const made_identity server = of_system.issue();
    const variable file("SSL_CERT_FILE", path);
    co_await expect_good(client_options(), server);
    client_options besides;  // the system's, and others
    besides.trusted.push_back(pem::text(common_authority().certificate()));
    co_await expect_good(besides, server);
    co_await expect_good(besides, common_authority().issue());
    co_await expect_refused(trusting(), server, errc::unknown_authority);
  });
}

TEST(tls_trust, intermediates_come_from_the_peer) {
  run_tls([]() -> task<void> {
    const test_authority between = common_authority().intermediate();
    co_await expect_good(trusting(), between.issue());
    co_await expect_good(trusting(), between.intermediate("a second one").issue());
    const made_identity whole = between.issue();
    co_await expect_refused(trusting(), made_identity(whole.certificate(), whole.key),
                            errc::unknown_authority);
  });
}

TEST(tls_trust, a_certificate_that_is_for_clients_is_not_a_servers) {
  run_tls([]() -> task<void> {
    issue_request request;
    request.is_client = true;
    co_await expect_refused(trusting(), common_authority().issue(request), errc::bad_certificate);
  });
}

TEST(tls_trust, anybody_is_trusted_only_by_whoever_says_so_in_so_many_words) {
  run_tls([]() -> task<void> {
    const test_authority stranger("a stranger");
    issue_request request("another.example");
    request.valid = validity::over();
    const made_identity worst = stranger.issue(request);
    co_await expect_good(trusting_anybody(), worst);
    co_await expect_good(trusting_anybody(), tandem::test::self_signed("another.example"));
    const tls_ends ends = co_await try_tls(trusting(), server_context(served_by(worst)));
    EXPECT_TRUE(ends.client.code);
  });
}

// --- Lists of revoked certificates

constexpr auto leaf = revocation_check::leaf;
constexpr auto chain = revocation_check::chain;

template <class... Lists>
client_options with_lists(revocation_check which, const Lists&... lists) {
  client_options client = trusting();
  (client.revocation_lists.push_back(pem::text(lists)), ...);
  client.revocation = which;
  return client;
}

TEST(tls_revocation, a_certificate_that_a_list_has_is_refused_and_others_are_not) {
  run_tls([]() -> task<void> {
    const made_identity bad = common_authority().issue();
    const made_identity good = common_authority().issue();
    const client_options client =
        with_lists(leaf, common_authority().revocation_list({bad.certificates}));
    co_await expect_refused(client, bad, errc::revoked);
    co_await expect_good(client, good);
    co_await expect_good(trusting(), bad);
  });
}

TEST(tls_revocation, an_authority_without_a_valid_list_is_refused) {
  run_tls([]() -> task<void> {
    const made_identity server = common_authority().issue();
    const test_authority other("another one");
    const std::string of_other = other.revocation_list({});
    co_await expect_refused(with_lists(leaf, of_other), server, errc::no_revocation_list);
    for (const validity when : {validity::over(), validity::to_come()}) {
      const std::string stale = common_authority().revocation_list({}, when);
      co_await expect_refused(with_lists(leaf, stale), server, errc::no_revocation_list);
    }
    // Several lists, in one text and in two.
    const std::string own = common_authority().revocation_list({});
    co_await expect_good(with_lists(leaf, of_other, own), server);
    co_await expect_good(with_lists(leaf, of_other + own), server);
  });
}

TEST(tls_revocation, the_whole_chain_is_asked_about_only_if_the_option_says_so) {
  run_tls([]() -> task<void> {
    const test_authority between = common_authority().intermediate();
    const made_identity server = between.issue();
    const std::string of_between = between.revocation_list({});
    const std::string clean = common_authority().revocation_list({});
    const std::string revoked = common_authority().revocation_list({between.certificate()});
    co_await expect_good(with_lists(leaf, of_between), server);
    co_await expect_good(with_lists(leaf, of_between, revoked), server);
    co_await expect_refused(with_lists(chain, of_between), server, errc::no_revocation_list);
    co_await expect_refused(with_lists(chain, of_between, revoked), server, errc::revoked);
    co_await expect_good(with_lists(chain, of_between, clean), server);
  });
}

}  // namespace
