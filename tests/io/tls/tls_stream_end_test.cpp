// tls_stream_end_test.cpp: how a tls_stream ends, its new keys, and what a stop leaves of it.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/install.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <vector>

#include "io/tls/tls_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::with_timeout;
using tandem::io::any_stream;
using tandem::io::buffered_reader;
using tandem::io::tls_stream;
using tandem::io::tls::client_options;
using tandem::io::tls::errc;
using tandem::io::tls::server_context;
using tandem::io::tls::session_details;
using tandem::io::tls::version;
using tandem::test::bytes_of;
using tandem::test::common_identity;
using tandem::test::end_of_read;
using tandem::test::expect_refusal;
using tandem::test::expect_talks;
using tandem::test::for_every_transport;
using tandem::test::make_tls_pair;
using tandem::test::many_bytes;
using tandem::test::read_to_end;
using tandem::test::run_tls;
using tandem::test::same_bytes;
using tandem::test::served_by;
using tandem::test::test_runtime;
using tandem::test::tls_error_of;
using tandem::test::tls_pair;
using tandem::test::trusting;
using tandem::test::writes_until_stopped;

// --- Ends

TEST(tls_stream_end, after_shutdown_the_peer_may_go_on_writing) {
  for_every_transport([](tls_pair both) -> task<void> {
    co_await both.client.write_all(bytes_of("all"));
    both.client.shutdown();
    both.client.shutdown();
    EXPECT_EQ((co_await read_to_end(both.server)).size(), 3U);
    EXPECT_TRUE((co_await read_to_end(both.server)).empty());  // again and again
    const auto late = co_await as_result(both.client.write(bytes_of("late")));
    EXPECT_FALSE(late);
    const std::span<const std::byte> sent = many_bytes(1 << 20);
    const auto sends = [](tls_stream& to, std::span<const std::byte> bytes) -> task<void> {
      co_await to.write_all(bytes);
      to.shutdown();
    };
    const auto receives = [](tls_stream& from, std::span<const std::byte> bytes) -> task<void> {
      const std::vector<std::byte> got = co_await read_to_end(from);
      EXPECT_TRUE(same_bytes(got, bytes));
    };
    co_await tandem::when_all(sends(both.server, sent), receives(both.client, sent));
  });
}

TEST(tls_stream_end, shutdown_says_farewell_even_if_the_stream_is_dropped_at_once) {
  for_every_transport([](tls_pair both) -> task<void> {
    co_await both.client.write_all(bytes_of("all"));
    both.client.shutdown();
    both.client.close();
    EXPECT_EQ((co_await read_to_end(both.server)).size(), 3U);  // and no truncation
  });
}

TEST(tls_stream_end, both_sides_finish_and_each_knows_of_the_other) {
  for_every_transport([](tls_pair both) -> task<void> {
    const auto [one, other] =
        co_await tandem::when_all(both.client.finish(1h), both.server.finish(1h));
    EXPECT_TRUE(one && other);
    EXPECT_TRUE(co_await both.client.finish(1h));
    both.client.close();
    EXPECT_FALSE(both.client.is_open());
  });
}

TEST(tls_stream_end, finishing_drops_what_still_comes_and_does_not_wait_for_a_silent_peer) {
  for_every_transport([](tls_pair both) -> task<void> {
    co_await both.server.write_all(many_bytes(10'000));
    EXPECT_FALSE(co_await both.client.finish(5ms));
    both.server.shutdown();
    EXPECT_TRUE(co_await both.client.finish(1h));
    EXPECT_TRUE((co_await read_to_end(both.server)).empty());
  });
}

TEST(tls_stream_end, finishing_with_a_peer_that_has_gone_says_so_at_once) {
  for_every_transport([](tls_pair both) -> task<void> {
    both.server.close();
    EXPECT_FALSE(co_await both.client.finish(1h));
  });
}

TEST(tls_stream_end, an_end_without_close_notify_is_a_truncation_each_time_one_reads) {
  for_every_transport([](tls_pair both) -> task<void> {
    co_await both.server.write_all(bytes_of("half"));
    both.server.close();
    std::array<std::byte, 64> room;
    EXPECT_EQ(co_await both.client.read(room), 4U);
    for (int i = 0; i < 3; ++i) {
      expect_refusal(co_await end_of_read(both.client), errc::truncated, "close_notify");
    }
  });
}

// --- New keys

TEST(tls_update_keys, of_one_side_or_of_both_between_and_during_what_is_said) {
  for_every_transport([](tls_pair both) -> task<void> {
    for (int i = 0; i < 5; ++i) {
      both.client.update_keys();
      co_await expect_talks(both);
      both.server.update_keys(true);
      both.client.update_keys(true);
      co_await expect_talks(both);
    }
    EXPECT_EQ(both.client.details().version, version::tls1_3);
  });
}

TEST(tls_update_keys, several_times_before_a_write_is_as_good_as_once) {
  for_every_transport([](tls_pair both) -> task<void> {
    both.client.update_keys(true);
    both.client.update_keys(true);
    both.client.update_keys();
    both.server.update_keys();
    both.server.update_keys(true);
    co_await expect_talks(both);
    co_await expect_talks(both);
  });
}

TEST(tls_update_keys, fail_in_tls_1_2_which_goes_on_as_before) {
  run_tls([]() -> task<void> {
    client_options client = trusting();
    client.maximum_version = version::tls1_2;
    tls_pair old = co_await make_tls_pair(client, server_context(served_by()));
    for (const bool of_peer_too : {false, true}) {
      expect_refusal(tls_error_of([&] { old.client.update_keys(of_peer_too); }), errc::failed,
                     "update_keys");
    }
    co_await expect_talks(old);
  });
}

TEST(tls_update_keys, fail_after_the_end_of_writing_while_reading_goes_on) {
  run_tls([]() -> task<void> {
    tls_pair both = co_await make_tls_pair();
    both.client.shutdown();
    expect_refusal(tls_error_of([&] { both.client.update_keys(); }), errc::failed, "update_keys");
    co_await both.server.write_all(bytes_of("more"));
    both.server.shutdown();
    EXPECT_EQ((co_await read_to_end(both.client)).size(), 4U);
    EXPECT_TRUE((co_await read_to_end(both.server)).empty());
  });
}

task<void> sends_with_new_keys(tls_stream& to, std::span<const std::byte> bytes,
                               tandem::executor* home) {
  if (home != nullptr) co_await tandem::resume_on(*home);
  for (std::size_t i = 0; !bytes.empty(); ++i) {
    const std::size_t n =
        co_await to.write(bytes.first(std::min<std::size_t>(bytes.size(), 50'000)));
    bytes = bytes.subspan(n);
    if (i % 3 == 0) to.update_keys(true);
  }
  to.shutdown();
}

task<void> receives_all(tls_stream& from, std::span<const std::byte> bytes,
                        tandem::executor* home) {
  if (home != nullptr) co_await tandem::resume_on(*home);
  const std::vector<std::byte> got = co_await read_to_end(from);
  EXPECT_TRUE(same_bytes(got, bytes)) << got.size() << " of " << bytes.size();
}

TEST(tls_stream, reading_and_writing_on_different_homes_with_new_keys_all_the_time) {
  test_runtime rt;
  tandem::io::completion_pool& pool = tandem::io::install(*rt, tandem::test::steady_threads());
  tandem::executor* const workers = &rt.workers();
  tandem::executor* const completions = &pool.thread(0).executor();
  rt.run([](tandem::executor* one, tandem::executor* other) -> task<void> {
    tls_pair both = co_await make_tls_pair();
    const std::span<const std::byte> there = many_bytes(8 << 20);
    const std::span<const std::byte> back = many_bytes(7 << 20);
    co_await tandem::when_all(
        sends_with_new_keys(both.client, there, one), receives_all(both.client, back, other),
        sends_with_new_keys(both.server, back, other), receives_all(both.server, there, one));
  }(workers, completions));
}

// Both sides owe each other answers, while what each has written lies unread at the other.
TEST(tls_stream, a_read_never_waits_for_a_write_that_the_peer_does_not_take) {
  tandem::test::on_every_home([]() -> task<void> {
    tls_pair both = co_await make_tls_pair();
    const std::span<const std::byte> much = many_bytes(8 << 20);
    const std::span<const std::byte> back = many_bytes(1 << 20);
    tandem::event has_read;
    const auto floods = [](tls_stream& to, std::span<const std::byte> bytes) -> task<void> {
      co_await to.write_all(bytes);
      to.shutdown();
    };
    const auto reads = [](tls_stream& from, std::span<const std::byte> bytes,
                          tandem::event& done) -> task<void> {
      co_await receives_all(from, bytes, nullptr);
      done.set();
    };
    const auto reads_late = [](tls_stream& from, std::span<const std::byte> bytes,
                               tandem::event& first) -> task<void> {
      co_await first.wait();
      co_await receives_all(from, bytes, nullptr);
    };
    co_await tandem::when_all(floods(both.client, much), reads(both.client, back, has_read),
                              sends_with_new_keys(both.server, back, nullptr),
                              reads_late(both.server, much, has_read));
  });
}

// --- Stops

task<std::size_t> read_some(tls_stream& stream, std::span<std::byte> room) {
  co_return co_await stream.read(room);
}

constexpr int trickled = 100;

TEST(tls_stream_stop, a_stopped_read_is_a_stop_and_loses_nothing) {
  for_every_transport([](tls_pair both) -> task<void> {
    const auto trickles = [](tls_stream& to) -> task<void> {
      unsigned dice = 12345;
      for (int i = 0; i < trickled; ++i) {
        dice = dice * 1664525U + 1013904223U;
        co_await tandem::sleep_for(std::chrono::microseconds(dice >> 25));
        const auto byte = static_cast<std::byte>(i);
        co_await to.write_all(std::span(&byte, 1));
      }
      to.shutdown();
    };
    const auto reads = [](tls_stream& from) -> task<void> {
      int expected = 0;
      while (true) {
        std::byte byte{};
        const auto got =
            co_await as_result(with_timeout(100us, read_some(from, std::span(&byte, 1))));
        if (!got) {
          EXPECT_TRUE(got.is_cancelled()) << got.error().message();
          if (!got.is_cancelled()) break;
          continue;
        }
        if (got.value() == 0) break;
        EXPECT_EQ(static_cast<int>(byte), expected);
        ++expected;
      }
      EXPECT_EQ(expected, trickled);
    };
    co_await tandem::when_all(trickles(both.client), reads(both.server));
  });
}

// Over TCP, where a peer that does not read makes a write wait.
TEST(tls_stream_stop, a_stopped_write_says_how_much_it_took_and_the_next_one_goes_on_there) {
  tandem::test::on_every_home([]() -> task<void> {
    tls_pair both = co_await make_tls_pair();
    const std::span<const std::byte> sent = many_bytes(8 << 20);
    std::size_t taken = 0;
    for (int i = 0; i < 5; ++i) {
      const auto end =
          co_await as_result(with_timeout(5ms, writes_until_stopped(both.client, sent, taken)));
      EXPECT_TRUE(end.is_cancelled());
    }
    EXPECT_LT(taken, sent.size());
    const auto goes_on = [](tls_stream& to, std::span<const std::byte> bytes) -> task<void> {
      co_await to.write_all(bytes);
      to.shutdown();
    };
    co_await tandem::when_all(goes_on(both.client, sent.subspan(taken)),
                              receives_all(both.server, sent, nullptr));
  });
}

TEST(tls_stream_stop, a_stopped_handshake_or_finish_ends_with_the_stop) {
  tandem::test::on_every_home([]() -> task<void> {
    tandem::test::any_pair plain = co_await tandem::test::over_tcp();
    const auto connects = [](any_stream below) -> task<void> {
      (void)co_await tandem::io::tls::connect(std::move(below), "localhost", trusting());
    };
    const auto end = co_await as_result(with_timeout(5ms, connects(std::move(plain.client))));
    EXPECT_TRUE(end.is_cancelled());
    tls_pair both = co_await make_tls_pair();
    const auto finishes = [](tls_stream& stream) -> task<void> {
      (void)co_await stream.finish(1h);
    };
    auto finishing = tandem::spawn(finishes(both.client));
    EXPECT_TRUE((co_await read_to_end(both.server)).empty());  // it says its part first
    finishing.cancel();
    EXPECT_TRUE((co_await as_result(std::move(finishing))).is_cancelled());
  });
}

// --- What was agreed on

TEST(tls_stream, details_say_what_was_agreed_on_and_who_the_peer_is) {
  for_every_transport([](tls_pair both) -> task<void> {
    const session_details client = both.client.details();
    const session_details server = both.server.details();
    EXPECT_EQ(client.version, version::tls1_3);
    EXPECT_EQ(client.cipher, "TLS_AES_256_GCM_SHA384");
    EXPECT_EQ(client.cipher, server.cipher);
    EXPECT_EQ(client.protocol, "");
    EXPECT_EQ(client.server_name, "localhost");
    EXPECT_EQ(server.server_name, "localhost");
    EXPECT_FALSE(client.resumed);
    EXPECT_EQ(client.peer_certificate, common_identity().certificate());
    EXPECT_EQ(server.peer_certificate, "");
    co_return;
  });
}

}  // namespace
