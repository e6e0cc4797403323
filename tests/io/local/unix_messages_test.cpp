// unix_messages_test.cpp: whole messages, descriptors that travel, and who sends them.
// SPDX-License-Identifier: MIT
#include <tandem/io/unix_datagram.hpp>
#include <tandem/io/unix_listener.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::native_descriptor;
using tandem::io::owned_descriptor;
using tandem::io::received_message;
using tandem::io::unix_datagram;
using tandem::io::unix_endpoint;
using tandem::io::unix_seqpacket;
using tandem::io::unix_stream;
using tandem::test::bytes_of;
using tandem::test::on_every_home;

std::string text_of(std::span<const std::byte> bytes, std::size_t count) {
  return {reinterpret_cast<const char*>(bytes.data()), count};
}

/// A pipe, which says whether all of its writing ends are closed.
class counted_pipe {
 public:
  counted_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) ADD_FAILURE() << "no pipe";
    read_ = owned_descriptor(ends[0]);
    write_ = owned_descriptor(ends[1]);
  }
  native_descriptor end() const { return write_.native_handle(); }
  void close_own() { write_.close(); }
  bool is_held_by_nobody() const {
    char byte = 0;
    return ::read(read_.native_handle(), &byte, 1) == 0;
  }

 private:
  owned_descriptor read_;
  owned_descriptor write_;
};

TEST(unix_descriptors, come_with_the_bytes_and_refer_to_the_same) {
  on_every_home([]() -> task<void> {
    auto [one, other] = unix_stream::pair();
    counted_pipe pipe;
    const std::array<native_descriptor, 2> sent{pipe.end(), one.native_handle()};
    EXPECT_EQ(co_await one.write_with(bytes_of("two"), sent), 3U);
    std::array<std::byte, 16> room;
    {
      const received_message got = co_await other.read_with(room);
      EXPECT_EQ(text_of(room, got.bytes), "two");
      EXPECT_EQ(got.descriptors.size(), 2U);
      EXPECT_EQ(got.surplus, 0U);
      EXPECT_FALSE(got.lacks_descriptors);
      for (const owned_descriptor& each : got.descriptors) {
        EXPECT_EQ(::fcntl(each.native_handle(), F_GETFD), FD_CLOEXEC);
      }
      pipe.close_own();
      EXPECT_FALSE(pipe.is_held_by_nobody());
    }
    EXPECT_TRUE(pipe.is_held_by_nobody());
  });
}

TEST(unix_descriptors, one_alone_needs_no_list) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const auto name = unix_endpoint::path(folder / "socket");
    auto [writes, reads] = unix_stream::pair();
    auto [sends, receives] = unix_seqpacket::pair();
    unix_datagram bound = unix_datagram::bind(name);
    unix_datagram nameless = unix_datagram::bind(unix_endpoint());
    counted_pipe pipe;
    std::array<std::byte, 16> room;
    {
      EXPECT_EQ(co_await writes.write_with(bytes_of("1"), pipe.end()), 1U);
      const received_message first = co_await reads.read_with(room);
      co_await writes.write_all_with(bytes_of("22"), pipe.end());
      const received_message second = co_await reads.read_with(room);
      // An awaiter that is kept for a while.
      auto kept = sends.send(bytes_of("333"), pipe.end());
      co_await std::move(kept);
      const received_message third = co_await receives.receive(room);
      co_await nameless.send_to(bytes_of("4444"), name, pipe.end());
      const received_message fourth = co_await bound.receive(room);
      std::size_t bytes = 0;
      for (const received_message* each : {&first, &second, &third, &fourth}) {
        EXPECT_EQ(each->bytes, ++bytes);
        EXPECT_EQ(each->descriptors.size(), 1U);
      }
      co_await sends.send(bytes_of("no descriptor"), {});
      const received_message none = co_await receives.receive(room);
      EXPECT_EQ(none.descriptors.size(), 0U);
      pipe.close_own();
      EXPECT_FALSE(pipe.is_held_by_nobody());
    }
    EXPECT_TRUE(pipe.is_held_by_nobody());
  });
}

/// Reads to the end.
task<std::pair<std::size_t, std::size_t>> bytes_and_descriptors_of(unix_stream& from) {
  std::vector<std::byte> room(64 * 1024);
  std::size_t bytes = 0;
  std::size_t descriptors = 0;
  while (true) {
    const received_message got = co_await from.read_with(room);
    if (got.bytes == 0) co_return std::pair(bytes, descriptors);
    bytes += got.bytes;
    descriptors += got.descriptors.size();
  }
}

TEST(unix_descriptors, go_once_with_bytes_of_which_all_are_written) {
  on_every_home([]() -> task<void> {
    auto [one, other] = unix_stream::pair();
    const std::vector<std::byte> large(4 << 20);  // far more than the system takes at once
    const std::array<native_descriptor, 2> sent{one.native_handle(), other.native_handle()};
    std::pair<std::size_t, std::size_t> got;
    const auto read = [&got](unix_stream& from) -> task<void> {
      got = co_await bytes_and_descriptors_of(from);
    };
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn(read(other));
      co_await one.write_all_with(large, sent);
      one.shutdown();
    });
    EXPECT_EQ(got.first, large.size());
    EXPECT_EQ(got.second, 2U);
  });
}

TEST(unix_descriptors, a_write_of_all_is_stopped_while_the_peer_does_not_read) {
  on_every_home([]() -> task<void> {
    auto [one, other] = unix_stream::pair();
    const std::vector<std::byte> large(4 << 20);
    bool has_begun = false;
    while (!has_begun) {  // else the time was over before
      const auto stopped = co_await as_result(
          tandem::with_timeout(5ms, one.write_all_with(large, one.native_handle())));
      EXPECT_EQ(stopped.error(), std::errc::timed_out);
      if (stopped.error() != std::errc::timed_out) co_return;
      const auto came = co_await as_result(
          tandem::with_timeout(20ms, tandem::io::readable(other.native_handle())));
      has_begun = came.has_value();
    }
    std::vector<std::byte> room(1024);
    const received_message got = co_await other.read_with(room);
    EXPECT_EQ(got.descriptors.size(), 1U) << "they go with the first part";
    unix_stream closed;
    EXPECT_EQ(
        (co_await as_result(closed.write_all_with(bytes_of("x"), one.native_handle()))).error(),
        std::errc::bad_file_descriptor);
  });
}

TEST(unix_descriptors, what_comes_beyond_is_closed_and_counted) {
  on_every_home([]() -> task<void> {
    auto [one, other] = unix_seqpacket::pair();
    std::array<counted_pipe, 3> pipes;
    std::vector<native_descriptor> sent;
    for (const counted_pipe& each : pipes) sent.push_back(each.end());
    co_await one.send(bytes_of("x"), sent);
    for (counted_pipe& each : pipes) each.close_own();
    std::array<std::byte, 16> room;
    received_message got = co_await other.receive(room, 1);
    EXPECT_EQ(got.descriptors.size(), 1U);
    EXPECT_EQ(got.surplus, 2U);
    EXPECT_FALSE(pipes[0].is_held_by_nobody());
    EXPECT_TRUE(pipes[1].is_held_by_nobody());
    EXPECT_TRUE(pipes[2].is_held_by_nobody());
    got.descriptors.clear();
    EXPECT_TRUE(pipes[0].is_held_by_nobody());
  });
}

TEST(unix_descriptors, a_plain_read_drops_them) {
  on_every_home([]() -> task<void> {
    auto [one, other] = unix_stream::pair();
    counted_pipe pipe;
    const std::array<native_descriptor, 1> sent{pipe.end()};
    co_await one.write_with(bytes_of("x"), sent);
    pipe.close_own();
    std::array<std::byte, 16> room;
    EXPECT_EQ(co_await other.read(room), 1U);
    EXPECT_TRUE(pipe.is_held_by_nobody());
  });
}

TEST(unix_descriptors, what_cannot_be_sent_is_refused) {
  on_every_home([]() -> task<void> {
    auto [one, other] = unix_stream::pair();
    const std::vector<native_descriptor> many(254, one.native_handle());
    const std::array<native_descriptor, 1> closed{12345};
    const auto none = co_await as_result(one.write_with({}, std::span(many).first(1)));
    EXPECT_EQ(none.error(), std::errc::invalid_argument) << "they do not go alone";
    const auto too_many = co_await as_result(one.write_with(bytes_of("x"), many));
    EXPECT_EQ(too_many.error(), std::errc::invalid_argument);
    const auto bad = co_await as_result(one.write_with(bytes_of("x"), closed));
    EXPECT_EQ(bad.error(), std::errc::bad_file_descriptor);
  });
}

task<std::string> refusal_of(unix_seqpacket& by, std::span<const std::byte> bytes,
                             std::span<const native_descriptor> descriptors) {
  try {
    (void)co_await by.send(bytes, descriptors);
  } catch (const std::system_error& failure) {
    co_return failure.what();
  }
  co_return "it was sent";
}

TEST(unix_descriptors, a_refusal_says_which_condition_is_broken) {
  on_every_home([]() -> task<void> {
    auto [one, other] = unix_seqpacket::pair();
    const std::vector<native_descriptor> many(254, one.native_handle());
    const std::string alone = co_await refusal_of(one, {}, std::span(many).first(1));
    EXPECT_NE(alone.find("descriptors need a byte to go with"), std::string::npos) << alone;
    const std::string too_many = co_await refusal_of(one, bytes_of("x"), many);
    EXPECT_NE(too_many.find("254 descriptors, and the most at once are 253"), std::string::npos)
        << too_many;
  });
}

TEST(unix_descriptors, who_asks_for_more_than_64_gets_64) {
  on_every_home([]() -> task<void> {
    auto [one, other] = unix_seqpacket::pair();
    const std::vector<native_descriptor> sent(65, one.native_handle());
    co_await one.send(bytes_of("x"), sent);
    std::array<std::byte, 16> room;
    const received_message got = co_await other.receive(room, 100);
    EXPECT_EQ(got.descriptors.size(), 64U);
    EXPECT_EQ(got.surplus, 1U);
  });
}

TEST(unix_descriptors, an_await_that_nobody_resumes_closes_what_came) {
  on_every_home([]() -> task<void> {
    auto [one, other] = unix_stream::pair();
    counted_pipe pipe;
    const std::array<native_descriptor, 1> sent{pipe.end()};
    std::array<std::byte, 16> room;
    const auto stopped = co_await as_result(tandem::with_timeout(1ms, other.read_with(room)));
    EXPECT_EQ(stopped.error(), std::errc::timed_out);
    co_await one.write_with(bytes_of("x"), sent);
    pipe.close_own();
    {
      const received_message got = co_await other.read_with(room);
      EXPECT_EQ(got.descriptors.size(), 1U) << "the stopped one has lost it";
    }
    EXPECT_TRUE(pipe.is_held_by_nobody());
  });
}

TEST(unix_seqpacket, messages_stay_whole_and_one_that_is_too_long_says_so) {
  on_every_home([]() -> task<void> {
    auto [one, other] = unix_seqpacket::pair();
    co_await one.send(bytes_of("first"));
    co_await one.send(bytes_of("the second one"));
    std::array<std::byte, 8> room;
    received_message got = co_await other.receive(room);
    EXPECT_EQ(text_of(room, got.bytes), "first");
    EXPECT_FALSE(got.is_cut);
    got = co_await other.receive(room);
    EXPECT_EQ(text_of(room, got.bytes), "the seco");
    EXPECT_TRUE(got.is_cut);
    one.shutdown();
    got = co_await other.receive(room);
    EXPECT_EQ(got.bytes, 0U);
  });
}

TEST(unix_seqpacket, a_listener_accepts_them) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const auto name = unix_endpoint::path(folder / "socket");
    auto listener = tandem::io::unix_seqpacket_listener::bind(name);
    unix_seqpacket client = co_await unix_seqpacket::connect(name);
    unix_seqpacket server = co_await listener.accept();
    co_await client.send(bytes_of("hello"));
    std::array<std::byte, 8> room;
    const received_message got = co_await server.receive(room);
    EXPECT_EQ(text_of(room, got.bytes), "hello");
    EXPECT_EQ(server.credentials().process, ::getpid());
  });
}

TEST(unix_seqpacket, who_sends_waits_while_the_peers_queue_is_full) {
  on_every_home([]() -> task<void> {
    auto [one, other] = unix_seqpacket::pair();
    const std::vector<std::byte> large(16 * 1024);
    EXPECT_EQ(co_await one.send(large), large.size());
    std::size_t sent = 1;
    while (co_await as_result(tandem::with_timeout(20ms, one.send(large)))) ++sent;
    std::vector<std::byte> room(large.size());
    for (std::size_t i = 0; i < sent; ++i) (void)co_await other.receive(room);
    EXPECT_EQ(co_await one.send(large), large.size());
  });
}

TEST(unix_datagram, come_with_the_name_and_the_credentials_of_their_sender) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const auto here = unix_endpoint::path(folder / "here");
    const auto there = unix_endpoint::path(folder / "there");
    tandem::io::unix_datagram_options options;
    options.tells_credentials = true;
    unix_datagram receiver = unix_datagram::bind(here, options);
    unix_datagram sender = unix_datagram::bind(there);
    unix_datagram nameless = unix_datagram::bind(unix_endpoint());
    co_await sender.send_to(bytes_of("one"), here);
    nameless.connect_to(here);
    co_await nameless.send(bytes_of("two"));
    std::array<std::byte, 8> room;
    received_message got = co_await receiver.receive(room);
    EXPECT_EQ(text_of(room, got.bytes), "one");
    EXPECT_EQ(got.sender, there);
    EXPECT_TRUE(got.credentials.has_value());
    EXPECT_EQ(got.credentials.value_or(tandem::io::peer_credentials()).process, ::getpid());
    got = co_await receiver.receive(room);
    EXPECT_TRUE(got.sender.is_unnamed());
  });
}

TEST(unix_datagram, who_sends_by_name_waits_while_the_queue_is_full) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const auto here = unix_endpoint::path(folder / "here");
    unix_datagram receiver = unix_datagram::bind(here);
    unix_datagram sender = unix_datagram::bind(unix_endpoint());
    std::size_t sent = 0;
    while (true) {
      const auto went =
          co_await as_result(tandem::with_timeout(20ms, sender.send_to(bytes_of("x"), here)));
      if (!went) {
        EXPECT_EQ(went.error(), std::errc::timed_out);
        break;
      }
      ++sent;
    }
    std::array<std::byte, 8> room;
    for (std::size_t i = 0; i < sent; ++i) (void)co_await receiver.receive(room);
    co_await sender.send_to(bytes_of("y"), here);
    const received_message got = co_await receiver.receive(room);
    EXPECT_EQ(text_of(room, got.bytes), "y");
  });
}

TEST(unix_sockets, foreign_ones_are_taken_over_if_they_are_of_that_kind) {
  on_every_home([]() -> task<void> {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const owned_descriptor other(ends[1]);
    try {
      (void)unix_seqpacket::from_native(ends[0]);
      ADD_FAILURE() << "a stream is no seqpacket";
    } catch (const std::system_error& failure) {
      EXPECT_NE(std::string(failure.what()).find("is a Unix socket of another kind"),
                std::string::npos)
          << failure.what();
    }
    EXPECT_THROW((void)tandem::io::unix_listener::from_native(ends[0]), std::system_error);
    EXPECT_THROW((void)tandem::io::tcp_stream::from_native(ends[0]), std::system_error);
    unix_stream taken = unix_stream::from_native(ends[0]);
    EXPECT_EQ(::fcntl(ends[0], F_GETFD), FD_CLOEXEC);
    co_await taken.write_all(bytes_of("mine"));
    char room[8];
    EXPECT_EQ(::read(other.native_handle(), room, sizeof room), 4);
  });
}

}  // namespace
