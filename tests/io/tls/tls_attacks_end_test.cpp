// tls_attacks_end_test.cpp: ends beside a peer that does not read; odd hellos, names and words.
// SPDX-License-Identifier: MIT
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/io/install.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "io/tls/raw_peer.hpp"
#include "io/tls/tls_support.hpp"
#include "waits.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::with_timeout;
using tandem::io::tls_stream;
using tandem::io::tls::client_context;
using tandem::io::tls::client_options;
using tandem::io::tls::errc;
using tandem::io::tls::server_context;
using tandem::io::tls::server_options;
using tandem::test::any_pair;
using tandem::test::as_identity;
using tandem::test::common_authority;
using tandem::test::end_of;
using tandem::test::expect_refusal;
using tandem::test::expect_talks;
using tandem::test::for_every_transport;
using tandem::test::issue_request;
using tandem::test::made_identity;
using tandem::test::make_tls_pair;
using tandem::test::many_bytes;
using tandem::test::over_memory;
using tandem::test::raw_context;
using tandem::test::raw_peer;
using tandem::test::raw_side;
using tandem::test::read_to_end;
using tandem::test::run_tls;
using tandem::test::same_bytes;
using tandem::test::served_by;
using tandem::test::test_runtime;
using tandem::test::tls_end;
using tandem::test::tls_ends;
using tandem::test::tls_error_of;
using tandem::test::tls_pair;
using tandem::test::trusting;
using tandem::test::try_tls;
using tandem::test::writes_until_stopped;

// --- What is on its way

/// The peer does not read. @returns how many bytes were taken until nothing more was
task<std::size_t> fill(tls_stream& to) {
  std::size_t taken = 0;
  const auto end =
      co_await as_result(with_timeout(20ms, writes_until_stopped(to, many_bytes(8 << 20), taken)));
  EXPECT_TRUE(end.is_cancelled());
  co_return taken;
}

TEST(tls_attacks_end, what_a_stopped_write_has_counted_arrives_although_nothing_is_written_then) {
  tandem::test::on_every_home([]() -> task<void> {
    tls_pair both = co_await make_tls_pair();
    const std::size_t taken = co_await fill(both.client);
    const auto answers = [](tls_stream& stream, std::size_t count) -> task<void> {
      std::vector<std::byte> all(count);
      for (std::size_t got = 0; got < count;) {
        got += co_await stream.read(std::span(all).subspan(got));
      }
      EXPECT_TRUE(same_bytes(all, many_bytes(count)));
      co_await stream.write_all(tandem::test::bytes_of("x"));
    };
    const auto only_reads = [](tls_stream& stream) -> task<void> {
      std::array<std::byte, 8> room;
      EXPECT_EQ(co_await stream.read(room), 1U);
    };
    co_await tandem::when_all(answers(both.server, taken), only_reads(both.client));
  });
}

TEST(tls_attacks_end, finishing_without_any_time_still_says_farewell) {
  for_every_transport([](tls_pair both) -> task<void> {
    EXPECT_FALSE(co_await both.client.finish(0s));
    both.client.close();
    EXPECT_TRUE((co_await read_to_end(both.server)).empty());  // and no truncation
  });
}

TEST(tls_attacks_end, a_runtime_ends_although_a_farewell_waits_for_a_peer_that_does_not_read) {
  tls_pair held;  // longer than the runtime
  test_runtime rt;
  (void)tandem::io::install(*rt, tandem::test::steady_threads());
  rt.run([](tls_pair& into) -> task<void> {
    into = co_await make_tls_pair();
    (void)co_await fill(into.client);
    into.client.shutdown();
  }(held));
  rt->shutdown();
  EXPECT_TRUE(held.client.is_open());
}

TEST(tls_attacks_end, and_so_it_does_when_the_streams_owner_is_stopped_by_that_end) {
  test_runtime rt;
  tandem::io::completion_pool& pool = tandem::io::install(*rt, tandem::test::steady_threads());
  tls_pair held;
  tandem::event ready;
  const auto owns = [](tandem::executor& home, tls_pair& into,
                       tandem::event& is_ready) -> task<void> {
    co_await tandem::resume_on(home);
    tls_pair both = co_await make_tls_pair();
    into.server = std::move(both.server);
    (void)co_await fill(both.client);
    both.client.shutdown();
    is_ready.set();
    std::array<std::byte, 8> room;
    (void)co_await both.client.read(room);
  };
  rt->spawn(owns(pool.thread(0).executor(), held, ready)).detach();
  const auto waits = [](tandem::event& is_ready) -> task<void> { co_await is_ready.wait(); };
  rt.run(waits(ready));
  rt->shutdown();
  EXPECT_TRUE(held.server.is_open());
}

// --- A hello that has to be said again

server_options only_p384() {
  server_options options = served_by();
  options.groups = "P-384";
  return options;
}

TEST(tls_attacks_end, a_hello_that_has_to_be_said_again_is_answered_on_every_home) {
  tandem::test::on_every_home([]() -> task<void> {
    client_options client = trusting();
    client.groups = "X25519:P-384";
    tls_pair both = co_await make_tls_pair(client, server_context(only_p384()));
    co_await expect_talks(both);
  });
}

/// Keeps the only worker of a runtime until it is let go.
class kept_worker {
 public:
  task<void> keep(test_runtime& rt) {
    rt->spawn(stays()).detach();
    co_await is_kept_.wait();
  }
  void let_go() { may_go_ = true; }

 private:
  task<void> stays() {
    is_kept_.set();
    may_go_.wait(false);
    co_return;
  }
  tandem::event is_kept_;
  tandem::test::flag may_go_;
};

TEST(tls_attacks_end, and_signed_by_a_worker_as_any_other) {
  test_runtime rt(1);
  tandem::io::completion_pool& pool = tandem::io::install(*rt, tandem::test::steady_threads());
  rt.run([](test_runtime& of, tandem::executor& home) -> task<void> {
    co_await tandem::resume_on(home);
    const raw_context context(raw_side::client);
    EXPECT_EQ(SSL_CTX_set1_groups_list(context.get(), "X25519:P-384"), 1);
    any_pair below = over_memory();
    raw_peer client(context, std::move(below.client));
    auto accepting = tandem::spawn(
        home,
        end_of(tandem::io::tls::accept(std::move(below.server), server_context(only_p384()))));
    EXPECT_EQ(SSL_do_handshake(client.get()), -1);
    co_await client.send(client.made());
    EXPECT_NE(co_await client.come(), 0U);  // it has to be said again
    kept_worker worker;
    co_await worker.keep(of);
    EXPECT_EQ(SSL_do_handshake(client.get()), -1);
    co_await client.send(client.made());
    std::atomic<bool> has_come{false};
    const auto answer = [](raw_peer& to, std::atomic<bool>& came) -> task<void> {
      co_await to.shake_hands();
      came = true;
    };
    auto shaking = tandem::spawn(home, answer(client, has_come));
    while (!has_come && of.workers().stats().queued == 0) co_await tandem::yield();
    EXPECT_FALSE(has_come);
    worker.let_go();
    co_await shaking;
    const tls_end end = co_await accepting;
    EXPECT_FALSE(end.code) << end.what;
  }(rt, pool.thread(0).executor()));
}

// --- Names, and words of options

TEST(tls_attacks_end, a_name_has_to_be_a_hosts_alone) {
  run_tls([]() -> task<void> {
    const client_context client(trusting());
    const server_context server(served_by());
    for (const char* name : {".localhost", "localhost:443", "https://localhost/", "a b", "", "[::1",
                             "127.0.0.1 ", "a..b", "user@localhost"}) {
      const tls_ends ends = co_await try_tls(client, server, name);
      EXPECT_EQ(ends.client.code, make_error_code(errc::bad_option)) << '"' << name << '"';
    }
  });
}

TEST(tls_attacks_end, an_address_is_one_with_brackets_or_without) {
  run_tls([]() -> task<void> {
    issue_request request("elsewhere.example");
    request.addresses = {"127.0.0.1", "::1"};
    const made_identity made = common_authority().issue(request);
    const server_context server(served_by(made));
    for (const char* name : {"127.0.0.1", "[::1]", "::1"}) {
      tls_pair both = co_await make_tls_pair(trusting(), server, name);
      co_await expect_talks(both);
      EXPECT_EQ(both.server.details().server_name, "");  // an address is no name
    }
    expect_refusal((co_await try_tls(trusting(), server, "::2")).client, errc::wrong_name);
  });
}

TEST(tls_attacks_end, words_that_name_no_cipher_of_their_version_are_refused_whatever_parts_them) {
  for (const char* ciphers :
       {"ECDHE-RSA-AES128-GCM-SHA256,NONSENSE", "ECDHE-RSA-AES128-GCM-SHA256 NONSENSE"}) {
    client_options options = trusting();
    options.ciphers = ciphers;
    expect_refusal(tls_error_of([&] { (void)client_context(options); }), errc::bad_option,
                   "NONSENSE");
  }
  client_options options = trusting();
  options.cipher_suites = "TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256";
  expect_refusal(tls_error_of([&] { (void)client_context(options); }), errc::bad_option,
                 "ECDHE-RSA-AES128-GCM-SHA256");
}

}  // namespace
