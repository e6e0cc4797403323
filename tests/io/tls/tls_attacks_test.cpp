// tls_attacks_test.cpp: peers that break the rules, or keep them in ways that nobody expects.
// SPDX-License-Identifier: MIT
#include <array>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <memory>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <utility>
#include <vector>

#include "io/tls/raw_peer.hpp"
#include "io/tls/tls_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::with_timeout;
using tandem::io::any_stream;
using tandem::io::tls_stream;
using tandem::io::tls::client_certificates;
using tandem::io::tls::client_context;
using tandem::io::tls::client_options;
using tandem::io::tls::errc;
using tandem::io::tls::pem;
using tandem::io::tls::server_context;
using tandem::io::tls::server_options;
using tandem::test::any_pair;
using tandem::test::as_identity;
using tandem::test::bytes_of;
using tandem::test::common_authority;
using tandem::test::end_of;
using tandem::test::end_of_read;
using tandem::test::expect_refusal;
using tandem::test::expect_talks;
using tandem::test::issue_request;
using tandem::test::over_memory;
using tandem::test::raw_context;
using tandem::test::raw_peer;
using tandem::test::raw_side;
using tandem::test::run_tls;
using tandem::test::served_by;
using tandem::test::tls_end;
using tandem::test::tls_ends;
using tandem::test::trusting;
using tandem::test::try_tls;

server_options asking_clients() {
  server_options options = served_by();
  options.from_clients = client_certificates::required;
  options.trusted.push_back(pem::text(common_authority().certificate()));
  return options;
}

// --- Tickets

/// A client by OpenSSL meets this server; before its last word `meanwhile` happens.
/// @returns  how the server's handshake has ended
template <class F>
task<tls_end> meets(raw_peer& client, any_stream below, server_context server, F meanwhile) {
  auto accepting =
      tandem::spawn(end_of(tandem::io::tls::accept(std::move(below), std::move(server))));
  std::string last = co_await client.shake_hands_but_last();
  meanwhile();
  co_await client.send(std::move(last));
  tls_end end = co_await accepting;
  if (!end.code) {
    co_await end.stream.write_all(bytes_of("x"));
    EXPECT_EQ(co_await client.read(1), "x");  // tickets have come before that
  }
  co_return end;
}

/// Whether the ticket of a connection, during whose handshake `meanwhile` happens, is good for
/// another one.
template <class F>
task<tls_end> comes_again(server_context server, F meanwhile) {
  const raw_context context(raw_side::client);
  any_pair first = over_memory();
  raw_peer client(context, std::move(first.client));
  const tls_end met = co_await meets(client, std::move(first.server), server, meanwhile);
  EXPECT_FALSE(met.code) << met.what;  // by the rules that it has begun with
  any_pair second = over_memory();
  raw_peer again(context, std::move(second.client));
  EXPECT_NE(client.session(), nullptr);
  EXPECT_EQ(SSL_set_session(again.get(), client.session()), 1);
  co_return co_await meets(again, std::move(second.server), server, [] {});
}

TEST(tls_attacks, a_handshake_that_straddles_a_reload_gives_no_ticket_that_gets_round_it) {
  run_tls([]() -> task<void> {
    const server_context server(served_by());
    const tls_end good = co_await comes_again(server, [] {});
    EXPECT_FALSE(good.code) << good.what;
    EXPECT_TRUE(good.stream.is_open() && good.stream.details().resumed);
    const auto reload = [&] { server.reload(asking_clients()); };
    expect_refusal(co_await comes_again(server, reload), errc::no_certificate);
  });
}

/// A certificate of a client, and until when it is valid.
class short_life {
 public:
  explicit short_life(std::chrono::seconds length) {
    issue_request request("a client");
    request.is_client = true;
    request.valid.ends = length;
    options.certificate.push_back(as_identity(common_authority().issue(request)));
    ends = std::time(nullptr) + length.count();  // or a second earlier
  }
  client_options options = trusting();
  std::time_t ends = 0;
};

/// @returns  whether a further connection of that client is resumed
task<bool> resumes(client_context client, server_context server) {
  bool resumed = false;
  for (int i = 0; i < 2; ++i) {
    tls_ends both = co_await try_tls(client, server);
    if (both.client.code || both.server.code) co_return false;
    tandem::test::tls_pair pair(std::move(both.client.stream), std::move(both.server.stream));
    co_await expect_talks(pair);
    resumed = pair.server.details().resumed;
  }
  co_return resumed;
}

// A machine that is slow for seconds makes it take longer, not fail.
TEST(tls_attacks, a_session_does_not_outlive_the_certificate_of_its_client) {
  run_tls([]() -> task<void> {
    const server_context server(asking_clients());
    bool was_resumed = false;
    for (std::chrono::seconds length = 2s; !was_resumed && length < 60s; length *= 2) {
      const short_life life(length);
      const client_context client(life.options);
      was_resumed = co_await resumes(client, server);
      if (!was_resumed) continue;
      while (std::time(nullptr) <= life.ends) co_await tandem::sleep_for(50ms);
      expect_refusal((co_await try_tls(client, server)).server, errc::expired);
    }
    EXPECT_TRUE(was_resumed);
  });
}

// --- Floods

/// Each wants an answer.
std::string key_updates(raw_peer& from, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(SSL_key_update(from.get(), SSL_KEY_UPDATE_REQUESTED), 1);
    EXPECT_EQ(SSL_do_handshake(from.get()), 1);
    all += from.made();
  }
  return all;
}

TEST(tls_attacks, new_keys_again_and_again_without_data_end_the_connection) {
  run_tls([]() -> task<void> {
    const raw_context context(raw_side::client);
    any_pair below = over_memory();
    raw_peer client(context, std::move(below.client));
    tls_end server =
        co_await meets(client, std::move(below.server), server_context(served_by()), [] {});
    std::string flood = key_updates(client, 3000);
    flood += client.encrypted("x");  // comes too late
    co_await client.send(std::move(flood));
    for (int i = 0; i < 2; ++i) {
      expect_refusal(co_await end_of_read(server.stream), errc::failed, "no data");
      server.stream.shutdown();  // what was made goes out
    }
    server.stream.close();
    std::size_t answers = 0;
    while (const std::size_t count = co_await client.come()) answers += count;
    EXPECT_LT(answers, 70'000U);  // of some two thousand messages, and not of all
  });
}

TEST(tls_attacks, with_data_between_them_new_keys_may_come_for_ever) {
  run_tls([]() -> task<void> {
    const raw_context context(raw_side::client);
    any_pair below = over_memory();
    raw_peer client(context, std::move(below.client));
    tls_end server =
        co_await meets(client, std::move(below.server), server_context(served_by()), [] {});
    for (int i = 0; i < 20; ++i) {
      std::string bytes = key_updates(client, 50);
      bytes += client.encrypted("x");
      co_await client.send(std::move(bytes));
      std::array<std::byte, 8> room;
      EXPECT_EQ(co_await server.stream.read(room), 1U);
    }
  });
}

// --- In the midst of a message

/// A connection to a server by OpenSSL, of whose ticket only the first record has come.
class half_ticket {
 public:
  half_ticket() : context_(raw_side::server) { context_.make_tickets_large(); }
  task<void> begin() {
    any_pair below = over_memory();
    server = std::make_unique<raw_peer>(context_, std::move(below.server));
    auto connecting = tandem::spawn(
        end_of(tandem::io::tls::connect(std::move(below.client), "localhost", trusting())));
    const std::vector<std::string> records =
        tandem::test::records_of(co_await server->shake_hands_but_last());
    EXPECT_GT(records.size(), 2U);
    for (std::size_t i = 1; i < records.size(); ++i) rest += records[i];
    co_await server->send(records.at(0));
    tls_end end = co_await connecting;
    EXPECT_FALSE(end.code) << end.what;
    client = std::move(end.stream);
    // Usually it has seen the first record by then.
    EXPECT_TRUE((co_await as_result(with_timeout(20ms, reads(client)))).is_cancelled());
  }
  static task<std::size_t> reads(tls_stream& from) {
    std::array<std::byte, 16> room;
    co_return co_await from.read(room);
  }

  std::unique_ptr<raw_peer> server;
  tls_stream client;
  std::string rest;

 private:
  raw_context context_;
};

TEST(tls_attacks, a_write_in_the_midst_of_a_ticket_goes_out_whole_once_its_rest_has_come) {
  for (const bool is_read_beside : {false, true}) {
    run_tls([is_read_beside]() -> task<void> {
      half_ticket both;
      co_await both.begin();
      auto writing = tandem::spawn(both.client.write_all(bytes_of("hello")));
      std::vector<decltype(tandem::spawn(half_ticket::reads(both.client)))> reading;
      if (is_read_beside) reading.push_back(tandem::spawn(half_ticket::reads(both.client)));
      co_await both.server->send(both.rest);
      co_await writing;
      EXPECT_EQ(co_await both.server->read(5), "hello");
      both.client.shutdown();
      EXPECT_EQ(co_await both.server->read(1), "");
      EXPECT_TRUE(both.server->has_ended_well());
      co_await both.server->send(both.server->goodbye());
      if (is_read_beside) {
        EXPECT_EQ(co_await reading.at(0), 0U);
      }
      EXPECT_TRUE(co_await both.client.finish(1h));
    });
  }
}

TEST(tls_attacks, new_keys_and_a_farewell_in_the_midst_of_a_ticket_follow_its_rest) {
  run_tls([]() -> task<void> {
    half_ticket both;
    co_await both.begin();
    both.client.update_keys();
    both.client.shutdown();
    both.client.shutdown();
    co_await both.server->send(both.rest + both.server->goodbye());
    EXPECT_TRUE(co_await both.client.finish(1h));
    EXPECT_EQ(co_await both.server->read(1), "");
    EXPECT_TRUE(both.server->has_ended_well());
  });
}

TEST(tls_attacks, the_wish_for_new_keys_reaches_the_peer_while_one_only_reads) {
  run_tls([]() -> task<void> {
    const raw_context context(raw_side::server);
    SSL_CTX_set_num_tickets(context.get(), 0);
    any_pair below = over_memory();
    raw_peer server(context, std::move(below.server));
    auto connecting = tandem::spawn(
        end_of(tandem::io::tls::connect(std::move(below.client), "localhost", trusting())));
    co_await server.shake_hands();
    tls_end client = co_await connecting;
    auto reading = tandem::spawn(half_ticket::reads(client.stream));
    client.stream.update_keys(true);
    EXPECT_NE(co_await server.come(), 0U);
    char byte = 0;
    EXPECT_EQ(SSL_get_error(server.get(), SSL_read(server.get(), &byte, 1)), SSL_ERROR_WANT_READ);
    co_await server.send(server.encrypted("answer"));
    EXPECT_EQ(co_await reading, 6U);
  });
}

}  // namespace
