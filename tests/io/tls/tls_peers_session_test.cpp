// tls_peers_session_test.cpp: foreign programs resume, change keys, and ask to renegotiate.
// SPDX-License-Identifier: MIT
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "io/tls/peers_support.hpp"

namespace {

namespace io = tandem::io;
namespace tls = tandem::io::tls;
using tandem::task;
using tandem::test::conversation;
using tandem::test::every_version;
using tandem::test::peer_files;
using tandem::test::peer_kind;
using tandem::test::peer_request;
using tandem::test::read_some;
using tandem::test::wire_end;

task<bool> finish(io::tls_stream& stream) { return stream.finish(std::chrono::seconds(60)); }

/// What a client of theirs is told at first, and for the second time.
std::pair<std::vector<std::string>, std::vector<std::string>> to_resume(peer_kind kind) {
  if (kind != peer_kind::s_client) return {};
  const std::string session = peer_files::shared().fresh("session.pem");
  return {{"-sess_out", session}, {"-sess_in", session}};
}

class tls_sessions_with : public tandem::test::peer_test {};

TEST_P(tls_sessions_with, a_second_connection_resumes_the_first_one) {
  const auto [first, second] = to_resume(kind());
  peer_request asked = request();
  asked.more = first;
  conversation both(asked);
  both.open();
  EXPECT_FALSE(both.stream().details().resumed);
  if (kind() == peer_kind::s_client) {
    both.peer().process().end_input();  // it writes the session when it goes
    EXPECT_TRUE(both.run(finish(both.stream())));
  } else {
    both.run(finish(both.stream()));
  }
  both.open_again(second);
  EXPECT_TRUE(both.stream().details().resumed);
}

INSTANTIATE_TEST_SUITE_P(peer, tls_sessions_with,
                         ::testing::Combine(::testing::Values(peer_kind::s_server,
                                                              peer_kind::gnutls_serv,
                                                              peer_kind::s_client),
                                            every_version),
                         tandem::test::name_of_peer);

/// One connection, from its handshake to the peer's farewell. @returns  whether it was resumed
task<bool> serve_once(io::tcp_listener& listener, tls::server_context context) {
  io::tls_stream stream = co_await tls::accept(co_await listener.accept(), std::move(context));
  std::array<std::byte, 64> room;
  while (co_await stream.read(room) != 0) {}
  co_await stream.finish(std::chrono::seconds(60));
  co_return stream.details().resumed;
}

void reconnect(peer_request asked) {
  tandem::test::test_runtime rt;
  auto& pool = io::install(*rt, tandem::test::steady_threads());
  io::tcp_listener listener = io::tcp_listener::bind(pool, io::endpoint::loopback_v4(0));
  const tls::server_context context(tandem::test::server_of(asked.version));
  tandem::test::foreign_peer peer(asked, listener.local_endpoint().port());
  EXPECT_FALSE(rt.run(serve_once(listener, context)));
  peer.process().end_input();  // nothing is said in the second connection
  EXPECT_TRUE(rt.run(serve_once(listener, context)));
}

TEST(tls_sessions, gnutls_resumes_at_once_in_tls1_2) {
  TANDEM_NEEDS_PROGRAM("gnutls-cli");
  peer_request asked(peer_kind::gnutls_cli, tls::version::tls1_2);
  asked.more = {"--resume"};
  reconnect(std::move(asked));
}

TEST(tls_sessions, gnutls_resumes_in_tls1_3_when_its_ticket_has_come) {
  TANDEM_NEEDS_PROGRAM("gnutls-cli");
  peer_request asked(peer_kind::gnutls_cli, tls::version::tls1_3);
  asked.more = {"--resume", "--waitresumption"};
  reconnect(std::move(asked));
}

TEST(tls_sessions, openssl_resumes_at_once_in_tls1_2) {
  TANDEM_NEEDS_PROGRAM("openssl");
  peer_request asked(peer_kind::s_client, tls::version::tls1_2);
  asked.more = {"-reconnect"};
  reconnect(std::move(asked));
}

// --- New keys

class tls_keys_with : public tandem::test::peer_test {};

TEST_P(tls_keys_with, we_change_our_keys_and_ask_for_theirs) {
  conversation both(request());
  both.open();
  for (const bool of_peer_too : {false, true, true, false}) {
    both.stream().update_keys(of_peer_too);
    both.talk(of_peer_too ? "with all keys changed" : "with our keys changed");
  }
}

INSTANTIATE_TEST_SUITE_P(peer, tls_keys_with,
                         ::testing::Combine(tandem::test::every_peer,
                                            ::testing::Values(tls::version::tls1_3)),
                         tandem::test::name_of_peer);

/// What makes the peer change its keys: only its own, or both sides'.
class key_command {
 public:
  peer_kind peer;
  std::string_view name;
  std::string_view command;
  std::string_view argument;
};
constexpr key_command key_commands[] = {
    {peer_kind::s_server, "s_server_its_own", "k\n", ""},
    {peer_kind::s_server, "s_server_both", "K\n", ""},
    {peer_kind::s_client, "s_client_its_own", "k\n", ""},
    {peer_kind::s_client, "s_client_both", "K\n", ""},
    {peer_kind::gnutls_cli, "gnutls_cli_both", "^rekey^\n", "--inline-commands"}};

/// Until it has answered on the wire: what it reads together with a command it drops.
void command(conversation& both, std::string_view what) {
  const std::size_t before = both.wire().taken(wire_end::peers);
  both.peer().say(what);
  both.wire().wait_for_more(wire_end::peers, before);
}

class tls_keys_of : public ::testing::TestWithParam<key_command> {
 protected:
  void SetUp() override { TANDEM_NEEDS_PROGRAM(tandem::test::program_of(GetParam().peer)); }
};

TEST_P(tls_keys_of, the_peer_are_changed_by_it_and_both_go_on) {
  const key_command& change = GetParam();
  peer_request asked(change.peer, tls::version::tls1_3);
  if (!change.argument.empty()) asked.more.emplace_back(change.argument);
  conversation both(asked);
  both.open();
  for (int i = 1; i <= 3; ++i) {
    command(both, change.command);
    both.it_says("4 heard with new keys " + std::to_string(i) + "\n");
    both.talk("with new keys " + std::to_string(i));
  }
}

INSTANTIATE_TEST_SUITE_P(peer, tls_keys_of, ::testing::ValuesIn(key_commands),
                         [](const auto& of) { return std::string(of.param.name); });

// --- No renegotiation

// Whoever asks, and is refused, may go on without; these programs give the connection up.

void ask_and_be_refused(peer_kind kind, std::string_view how, std::vector<std::string> more = {}) {
  peer_request asked(kind, tls::version::tls1_2);
  asked.more = std::move(more);
  conversation both(asked);
  both.open();
  command(both, how);
  const auto got = both.run(read_some(both.stream()));
  EXPECT_EQ(got.error(), tls::errc::refused_by_peer) << got.error().message();
  both.stream().close();
}

TEST(tls_renegotiation, a_server_of_openssl_that_asks_for_it_is_refused_and_says_so) {
  TANDEM_NEEDS_PROGRAM("openssl");
  ask_and_be_refused(peer_kind::s_server, "r\n");
}

TEST(tls_renegotiation, a_client_of_openssl_that_asks_for_it_is_refused_and_says_so) {
  TANDEM_NEEDS_PROGRAM("openssl");
  ask_and_be_refused(peer_kind::s_client, "R\n");
}

TEST(tls_renegotiation, a_client_of_gnutls_that_asks_for_it_is_refused_and_says_so) {
  TANDEM_NEEDS_PROGRAM("gnutls-cli");
  ask_and_be_refused(peer_kind::gnutls_cli, "^renegotiate^\n", {"--inline-commands"});
}

}  // namespace
