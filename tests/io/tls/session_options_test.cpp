// session_options_test.cpp: what a client keeps of a connection, so that the next one costs less.
// SPDX-License-Identifier: MIT
#include "io/tls/tls_support.hpp"

#include <chrono>
#include <string>
#include <tandem/sleep.hpp>
#include <tandem/when_all.hpp>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::tls::client_context;
using tandem::io::tls::client_options;
using tandem::io::tls::server_context;
using tandem::io::tls::server_options;
using tandem::io::tls::version;
using tandem::test::as_identity;
using tandem::test::common_authority;
using tandem::test::expect_talks;
using tandem::test::make_tls_pair;
using tandem::test::run_tls;
using tandem::test::served_by;
using tandem::test::tls_pair;
using tandem::test::trusting;

constexpr std::array both_versions{version::tls1_2, version::tls1_3};

client_options speaking(version which) {
  client_options client = trusting();
  client.maximum_version = which;
  return client;
}

bool is_resumed(tls_pair& both) {
  const bool resumed = both.client.details().resumed;
  EXPECT_EQ(both.server.details().resumed, resumed);
  return resumed;
}

task<void> finish(tls_pair& both) {
  co_await tandem::when_all(both.client.finish(1h), both.server.finish(1h));
}

/// Whether a further connection is; it reads whatever tickets it is given.
task<bool> resumed(client_context client, server_context server, std::string name = "localhost") {
  tls_pair both = co_await make_tls_pair(std::move(client), std::move(server), std::move(name));
  co_await expect_talks(both);
  co_await finish(both);
  co_return is_resumed(both);
}

/// As above; it reads nothing, so that the client has no more tickets after it than before.
task<bool> resumed_and_silent(client_context client, server_context server) {
  tls_pair both = co_await make_tls_pair(std::move(client), std::move(server));
  co_return is_resumed(both);
}

server_options served_as(const std::vector<std::string>& names) {
  server_options server;
  for (const std::string& each : names) {
    server.certificates.push_back(as_identity(common_authority().issue(each)));
  }
  return server;
}

TEST(tls_sessions, a_further_connection_of_the_same_context_to_the_same_name_is_resumed) {
  run_tls([]() -> task<void> {
    for (const version which : both_versions) {
      const client_context client(speaking(which));
      const server_context server(served_by());
      EXPECT_FALSE(co_await resumed(client, server));
      for (int i = 0; i < 3; ++i) EXPECT_TRUE(co_await resumed(client, server));
      EXPECT_FALSE(co_await resumed(client_context(speaking(which)), server));
    }
  });
}

// Those of TLS 1.0 were not: since then a connection may end in any way.
TEST(tls_sessions, of_a_connection_that_just_went_away_are_as_good) {
  run_tls([]() -> task<void> {
    for (const version which : both_versions) {
      server_options options = served_by();
      options.tickets = 1;
      const server_context server(options);
      const client_context client(speaking(which));
      for (int i = 0; i < 3; ++i) {
        tls_pair both = co_await make_tls_pair(client, server);
        co_await expect_talks(both);
        EXPECT_EQ(is_resumed(both), i != 0);
      }
    }
  });
}

TEST(tls_sessions, one_of_another_name_or_another_server_is_not_resumed) {
  run_tls([]() -> task<void> {
    for (const version which : both_versions) {
      const client_context client(speaking(which));
      const server_options options = served_as({"one.example", "two.example"});
      const server_context server(options);
      EXPECT_FALSE(co_await resumed(client, server, "one.example"));
      EXPECT_FALSE(co_await resumed(client, server, "two.example"));
      EXPECT_TRUE(co_await resumed(client, server, "one.example"));
      EXPECT_TRUE(co_await resumed(client, server, "two.example"));
      // A ticket that this server has not made is no failure.
      EXPECT_FALSE(co_await resumed(client, server_context(options), "one.example"));
    }
  });
}

TEST(tls_sessions, without_room_for_any_nothing_is_resumed) {
  run_tls([]() -> task<void> {
    for (const version which : both_versions) {
      client_options options = speaking(which);
      options.sessions = 0;
      const client_context client(options);
      const server_context server(served_by());
      for (int i = 0; i < 3; ++i) EXPECT_FALSE(co_await resumed(client, server));
    }
  });
}

TEST(tls_sessions, the_newest_ones_are_kept) {
  run_tls([]() -> task<void> {
    const server_context server(served_as({"one.example", "two.example"}));
    for (const version which : both_versions) {
      client_options options = speaking(which);
      options.sessions = 1;
      const client_context client(options);
      EXPECT_FALSE(co_await resumed(client, server, "one.example"));
      EXPECT_TRUE(co_await resumed(client, server, "one.example"));
      EXPECT_FALSE(co_await resumed(client, server, "two.example"));
      EXPECT_FALSE(co_await resumed(client, server, "one.example"));
    }
  });
}

TEST(tls_sessions, a_server_without_tickets_resumes_nothing) {
  run_tls([]() -> task<void> {
    for (const version which : both_versions) {
      server_options options = served_by();
      options.tickets = 0;
      const server_context server(options);
      const client_context client(speaking(which));
      for (int i = 0; i < 3; ++i) EXPECT_FALSE(co_await resumed(client, server));
    }
  });
}

// So nobody who listens can tell from a ticket that two connections are of the same client.
TEST(tls_sessions,
     a_ticket_of_tls_1_3_is_good_for_one_connection_and_there_are_as_many_as_asked_for) {
  run_tls([]() -> task<void> {
    for (const std::size_t count : {1U, 2U, 5U}) {
      server_options options = served_by();
      options.tickets = count;
      const server_context server(options);
      const client_context client(trusting());
      EXPECT_FALSE(co_await resumed(client, server));
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_TRUE(co_await resumed_and_silent(client, server)) << i << " of " << count;
      }
      EXPECT_FALSE(co_await resumed_and_silent(client, server)) << count;
    }
  });
}

TEST(tls_sessions, a_ticket_is_good_for_as_long_as_the_option_says) {
  run_tls([]() -> task<void> {
    for (const version which : both_versions) {
      server_options options = served_by();
      options.ticket_lifetime = 1s;
      const server_context server(options);
      const client_context client(speaking(which));
      EXPECT_FALSE(co_await resumed(client, server));
      co_await tandem::sleep_for(2100ms);
      EXPECT_FALSE(co_await resumed(client, server));
    }
  });
}

TEST(tls_sessions, a_resumed_connection_agrees_on_a_protocol_and_knows_the_name) {
  run_tls([]() -> task<void> {
    for (const version which : both_versions) {
      client_options options = speaking(which);
      options.protocols = {"h2"};
      server_options server = served_by();
      server.protocols = {"h2"};
      const client_context client(options);
      const server_context accepting(server);
      EXPECT_FALSE(co_await resumed(client, accepting));
      tls_pair both = co_await make_tls_pair(client, accepting);
      EXPECT_TRUE(is_resumed(both));
      EXPECT_EQ(both.client.details().protocol, "h2");
      EXPECT_EQ(both.server.details().protocol, "h2");
      EXPECT_EQ(both.server.details().server_name, "localhost");
    }
  });
}

}  // namespace
