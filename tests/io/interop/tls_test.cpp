// tls_test.cpp: asio::ssl over streams of tandem, awaited with use_await.
// SPDX-License-Identifier: MIT
#include "io/interop/tls_support.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <tandem/as_result.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/spawn.hpp>
#include <tandem/when_all.hpp>
#include <utility>
#include <vector>

namespace {

namespace io = tandem::io;
namespace net = boost::asio;
namespace ssl = boost::asio::ssl;

using tandem::as_result;
using tandem::task;
using tandem::use_await;
using tandem::test::code_of;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::over;
using tandem::test::run;
using tandem::test::shake_hands;
using tandem::test::tls_identity;
using tandem::test::tls_stream;

/// Gives `body` both ends of a connection that have shaken hands.
template <class Body>
void with_tls(Body body) {
  run([&body]() -> task<void> {
    tls_identity identity;
    connection both = co_await make_connection();
    tls_stream server(over(std::move(both.server)), identity.server);
    tls_stream client(over(std::move(both.client)), identity.client);
    co_await shake_hands(server, client);
    co_await body(server, client);
  });
}

TEST(tls_on_tandem, bytes_come_back_and_both_sides_say_farewell) {
  with_tls([](tls_stream& server, tls_stream& client) -> task<void> {
    const std::string message(300'000, 't');
    std::string there(message.size(), ' ');
    std::string back(message.size(), ' ');
    co_await tandem::when_all(
        [](tls_stream& stream, std::string& room) -> task<void> {
          (void)co_await net::async_read(stream, net::buffer(room), use_await);
          (void)co_await net::async_write(stream, net::buffer(room), use_await);
          // The client's farewell, and ours.
          std::array<char, 8> more;
          auto end = co_await as_result(stream.async_read_some(net::buffer(more), use_await));
          EXPECT_EQ(end.error(), code_of(net::error::eof));
          co_await stream.async_shutdown(use_await);
        }(server, there),
        [](tls_stream& stream, const std::string& text, std::string& room) -> task<void> {
          (void)co_await net::async_write(stream, net::buffer(text), use_await);
          (void)co_await net::async_read(stream, net::buffer(room), use_await);
          co_await stream.async_shutdown(use_await);
        }(client, message, back));
    EXPECT_TRUE(there == message && back == message);
  });
}

TEST(tls_on_tandem, an_end_without_a_farewell_is_told_from_one_with) {
  with_tls([](tls_stream& server, tls_stream& client) -> task<void> {
    client.next_layer().shutdown();
    std::array<char, 8> room;
    auto end = co_await as_result(server.async_read_some(net::buffer(room), use_await));
    EXPECT_EQ(end.error(), code_of(ssl::error::stream_truncated));
  });
}

TEST(tls_on_tandem, a_certificate_that_nobody_trusts_ends_the_handshake_on_both_sides) {
  run([]() -> task<void> {
    tls_identity identity;
    tls_identity other;
    connection both = co_await make_connection();
    tls_stream server(over(std::move(both.server)), other.server);
    tls_stream client(over(std::move(both.client)), identity.client);
    co_await tandem::when_all(
        [](tls_stream& stream) -> task<void> {
          auto end =
              co_await as_result(stream.async_handshake(ssl::stream_base::server, use_await));
          EXPECT_FALSE(end);
          EXPECT_EQ(&end.error().category(),
                    &std::error_code(boost::system::error_code(0, net::error::get_ssl_category()))
                         .category());
        }(server),
        [](tls_stream& stream) -> task<void> {
          auto end =
              co_await as_result(stream.async_handshake(ssl::stream_base::client, use_await));
          EXPECT_FALSE(end);
        }(client));
  });
}

TEST(tls_on_tandem, a_stop_ends_a_handshake_and_a_read_and_no_byte_is_lost) {
  run([]() -> task<void> {
    tls_identity identity;
    connection both = co_await make_connection();
    tls_stream server(over(std::move(both.server)), identity.server);
    tls_stream client(over(std::move(both.client)), identity.client);
    auto handshake = tandem::spawn([](tls_stream& stream) -> task<void> {
      co_await stream.async_handshake(ssl::stream_base::server, use_await);
    }(server));
    handshake.cancel();
    auto never = co_await as_result(std::move(handshake));
    EXPECT_TRUE(never.is_cancelled());

    connection again = co_await make_connection();
    tls_stream reader(over(std::move(again.server)), identity.server);
    tls_stream writer(over(std::move(again.client)), identity.client);
    co_await shake_hands(reader, writer);
    std::array<char, 4> room{};
    auto reading = tandem::spawn([](tls_stream& stream, std::span<char> into) -> task<void> {
      (void)co_await stream.async_read_some(net::buffer(into.data(), into.size()), use_await);
    }(reader, room));
    reading.cancel();
    auto read = co_await as_result(std::move(reading));
    EXPECT_TRUE(read.is_cancelled());
    (void)co_await net::async_write(writer, net::buffer("late", 4), use_await);
    const std::size_t got = co_await net::async_read(reader, net::buffer(room), use_await);
    EXPECT_EQ(std::string_view(room.data(), got), "late");
  });
}

// --- And back: a stream of Asio's over a stream of tandem, as a byte stream

static_assert(io::byte_stream<tandem::asio_byte_stream<tls_stream>>);

TEST(tls_on_tandem, is_a_byte_stream_again) {
  with_tls([](tls_stream& server, tls_stream& client) -> task<void> {
    auto serving = tandem::spawn([](tls_stream stream) -> task<void> {
      auto bytes = tandem::from_asio_stream(std::move(stream));
      std::array<std::byte, 1000> room;
      while (const std::size_t n = co_await bytes.read(room)) {
        co_await bytes.write_all(std::span(room).first(n));
      }
      co_await bytes.socket().async_shutdown(use_await);
      EXPECT_TRUE(bytes.is_open());
      bytes.shutdown();
      bytes.close();
      EXPECT_FALSE(bytes.is_open());
    }(std::move(server)));
    auto bytes = tandem::from_asio_stream(std::move(client));
    const std::vector<std::byte> sent = tandem::test::pattern(5000, 7);
    co_await bytes.write_all(sent);
    std::vector<std::byte> back(sent.size());
    for (std::size_t n = 0; n < back.size();) n += co_await bytes.read(std::span(back).subspan(n));
    EXPECT_TRUE(back == sent);
    co_await bytes.socket().async_shutdown(use_await);
    co_await std::move(serving);
  });
}

}  // namespace
