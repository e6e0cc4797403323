// beast_test.cpp: Beast's WebSocket and HTTP, also with TLS, over streams of tandem, awaited with use_await.
// SPDX-License-Identifier: MIT
//
// The one file of its kind that is compiled in release, and with beast_stress.cpp under ThreadSanitizer:
// Beast, WebSocket and TLS take a compiler a minute.
#include "io/interop/beast_support.hpp"

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <tandem/as_result.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/spawn.hpp>
#include <tandem/strand.hpp>
#include <tandem/when_all.hpp>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"

namespace {

namespace io = tandem::io;
namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace ssl = boost::asio::ssl;
namespace websocket = boost::beast::websocket;

using tandem::as_result;
using tandem::task;
using tandem::use_await;
using tandem::test::code_of;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::over;
using tandem::test::plain_stream;
using tandem::test::plain_websocket;
using tandem::test::run;
using tandem::test::shake_hands;
using tandem::test::test_runtime;
using tandem::test::tls_identity;
using tandem::test::tls_stream;
using tandem::test::tls_websocket;

// --- WebSocket

template <class Socket>
task<void> echo_messages(Socket& ws) {
  beast::flat_buffer buffer;
  while (true) {
    auto got = co_await as_result(ws.async_read(buffer, use_await));
    if (!got) {
      EXPECT_EQ(got.error(), code_of(websocket::error::closed));
      co_return;
    }
    EXPECT_EQ(got.value(), buffer.size());
    ws.text(ws.got_text());
    const std::size_t sent = co_await ws.async_write(buffer.data(), use_await);
    EXPECT_EQ(sent, buffer.size());
    buffer.consume(buffer.size());
  }
}
task<void> serve_messages(io::tcp_stream connected) {
  plain_websocket ws(over(std::move(connected)));
  co_await ws.async_accept(use_await);
  co_await echo_messages(ws);
}

template <class Socket>
task<std::string> next_message(Socket& ws) {
  beast::flat_buffer buffer;
  (void)co_await ws.async_read(buffer, use_await);
  co_return beast::buffers_to_string(buffer.data());
}

/// Gives `body` a client of a server that echoes; both say farewell after it.
template <class Body>
void with_echo(Body body) {
  run([&body]() -> task<void> {
    connection both = co_await make_connection();
    auto server = tandem::spawn(serve_messages(std::move(both.server)));
    plain_websocket ws(over(std::move(both.client)));
    co_await ws.async_handshake("localhost", "/", use_await);
    co_await body(ws);
    co_await ws.async_close(websocket::close_code::normal, use_await);
    co_await std::move(server);
    EXPECT_FALSE(ws.is_open());
    EXPECT_FALSE(ws.next_layer().is_open());
  });
}

task<void> shake_hands(plain_websocket& server, plain_websocket& client) {
  co_await tandem::when_all(
      [](plain_websocket& ws) -> task<void> { co_await ws.async_accept(use_await); }(server),
      [](plain_websocket& ws) -> task<void> {
        co_await ws.async_handshake("localhost", "/", use_await);
      }(client));
}

TEST(websocket_on_tandem, messages_of_all_forms_come_back) {
  with_echo([](plain_websocket& ws) -> task<void> {
    ws.text(true);
    (void)co_await ws.async_write(net::buffer("text", 4), use_await);
    EXPECT_EQ(co_await next_message(ws), "text");
    EXPECT_TRUE(ws.got_text());

    ws.binary(true);
    (void)co_await ws.async_write(net::buffer("\0\1\2", 3), use_await);
    const std::string bytes = co_await next_message(ws);
    EXPECT_EQ(bytes, std::string("\0\1\2", 3));
    EXPECT_TRUE(ws.got_binary());

    (void)co_await ws.async_write(net::const_buffer(), use_await);
    EXPECT_EQ(co_await next_message(ws), "");

    for (const std::string_view part : {"in ", "three ", "parts"}) {
      (void)co_await ws.async_write_some(part == "parts", net::buffer(part), use_await);
    }
    EXPECT_EQ(co_await next_message(ws), "in three parts");

    // Several buffers, and more than any socket takes at once; both sides write before they read on.
    std::string large(3'000'000, 'x');
    for (std::size_t i = 0; i < large.size(); i += 1000) large[i] = static_cast<char>(i / 1000);
    const std::array<net::const_buffer, 2> halves{net::buffer(large.data(), 1'000'000),
                                                  net::buffer(large.data() + 1'000'000, 2'000'000)};
    (void)co_await ws.async_write(halves, use_await);
    const std::string back = co_await next_message(ws);
    EXPECT_TRUE(back == large);
  });
}

TEST(websocket_on_tandem, a_read_and_a_write_go_at_a_time) {
  with_echo([](plain_websocket& ws) -> task<void> {
    // The server answers while we still write: more than the sockets' buffers hold.
    const std::string message(200'000, 'm');
    constexpr int count = 50;
    co_await tandem::when_all(
        [](plain_websocket& socket, const std::string& text) -> task<void> {
          for (int i = 0; i < count; ++i)
            (void)co_await socket.async_write(net::buffer(text), use_await);
        }(ws, message),
        [](plain_websocket& socket, const std::string& text) -> task<void> {
          for (int i = 0; i < count; ++i) {
            const std::string back = co_await next_message(socket);
            EXPECT_EQ(back.size(), text.size());
          }
        }(ws, message));
  });
}

TEST(websocket_on_tandem, a_ping_is_answered_while_the_peer_reads) {
  with_echo([](plain_websocket& ws) -> task<void> {
    std::string seen;
    ws.control_callback([&seen](websocket::frame_type kind, beast::string_view said) {
      if (kind == websocket::frame_type::pong) seen = std::string(said);
    });
    co_await ws.async_ping("are you there", use_await);
    (void)co_await ws.async_write(net::buffer("x", 1), use_await);
    EXPECT_EQ(co_await next_message(ws), "x");
    EXPECT_EQ(seen, "are you there");
  });
}

TEST(websocket_on_tandem, either_side_closes_and_the_other_hears_why) {
  run([]() -> task<void> {
    for (const bool server_closes : {false, true}) {
      connection both = co_await make_connection();
      plain_websocket server(over(std::move(both.server)));
      plain_websocket client(over(std::move(both.client)));
      co_await shake_hands(server, client);
      plain_websocket& closing = server_closes ? server : client;
      plain_websocket& hearing = server_closes ? client : server;
      co_await tandem::when_all(
          [](plain_websocket& ws) -> task<void> {
            co_await ws.async_close({websocket::close_code::going_away, "enough"}, use_await);
          }(closing),
          [](plain_websocket& ws) -> task<void> {
            beast::flat_buffer buffer;
            auto end = co_await as_result(ws.async_read(buffer, use_await));
            EXPECT_EQ(end.error(), code_of(websocket::error::closed));
          }(hearing));
      EXPECT_EQ(hearing.reason().code, websocket::close_code::going_away);
      EXPECT_EQ(hearing.reason().reason, "enough");
      EXPECT_FALSE(client.next_layer().is_open());
      EXPECT_FALSE(server.next_layer().is_open());
    }
  });
}

TEST(websocket_on_tandem, a_peer_that_says_nothing_is_closed_after_the_idle_timeout) {
  run([]() -> task<void> {
    connection both = co_await make_connection();
    plain_websocket server(over(std::move(both.server)));
    plain_websocket client(over(std::move(both.client)));
    co_await shake_hands(server, client);
    server.set_option(websocket::stream_base::timeout{std::chrono::seconds(30),
                                                      std::chrono::milliseconds(50), false});
    beast::flat_buffer buffer;
    auto idle = co_await as_result(server.async_read(buffer, use_await));
    EXPECT_EQ(idle.error(), code_of(beast::error::timeout));
    EXPECT_FALSE(server.next_layer().is_open());
    auto end = co_await as_result(client.async_read(buffer, use_await));
    EXPECT_EQ(end.error(), code_of(net::error::eof));
  });
}

TEST(websocket_on_tandem, a_stop_ends_a_read_and_a_handshake) {
  run([]() -> task<void> {
    connection both = co_await make_connection();
    plain_websocket server(over(std::move(both.server)));
    plain_websocket client(over(std::move(both.client)));
    auto handshake = tandem::spawn(
        [](plain_websocket& ws) -> task<void> { co_await ws.async_accept(use_await); }(server));
    handshake.cancel();
    auto ended = co_await as_result(std::move(handshake));
    EXPECT_TRUE(ended.is_cancelled());

    connection again = co_await make_connection();
    auto echoing = tandem::spawn([](io::tcp_stream connected) -> task<void> {
      plain_websocket socket(over(std::move(connected)));
      co_await socket.async_accept(use_await);
      (void)co_await next_message(socket);
    }(std::move(again.server)));
    plain_websocket ws(over(std::move(again.client)));
    co_await ws.async_handshake("localhost", "/", use_await);
    auto reading = tandem::spawn(
        [](plain_websocket& of) -> task<std::string> { co_return co_await next_message(of); }(ws));
    reading.cancel();
    auto read = co_await as_result(std::move(reading));
    EXPECT_TRUE(read.is_cancelled());
    // Beast leaves it undefined what a stopped read has seen: its stream is of no more use.
    echoing.cancel();
    auto served = co_await as_result(std::move(echoing));
    EXPECT_TRUE(served.is_cancelled());
  });
}

// Timers of its WebSocket may call the strand when nobody else knows it any more.
TEST(websocket_on_tandem, lives_on_a_strand_of_workers_which_it_keeps) {
  test_runtime rt;
  rt.run([](tandem::runtime& owner) -> task<void> {
    connection both = co_await make_connection();
    const auto with_timeouts = [&owner](io::tcp_stream connected) {
      plain_websocket ws(
          tandem::as_asio_stream(std::move(connected), tandem::strand(owner.workers())));
      ws.set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
      return ws;
    };
    auto server = tandem::spawn([](plain_websocket ws) -> task<void> {
      co_await ws.async_accept(use_await);
      co_await echo_messages(ws);
    }(with_timeouts(std::move(both.server))));
    plain_websocket ws = with_timeouts(std::move(both.client));
    co_await ws.async_handshake("localhost", "/", use_await);
    for (int i = 0; i < 100; ++i) {
      (void)co_await ws.async_write(net::buffer("again", 5), use_await);
      EXPECT_EQ(co_await next_message(ws), "again");
    }
    co_await ws.async_close(websocket::close_code::normal, use_await);
    co_await std::move(server);
  }(*rt));
}

// --- Teardown

TEST(teardown_on_tandem, beast_closes_a_stream_of_tandem) {
  run([]() -> task<void> {
    for (const beast::role_type role : {beast::role_type::client, beast::role_type::server}) {
      connection both = co_await make_connection();
      plain_stream ours = over(std::move(both.client));
      beast::error_code code = net::error::eof;
      teardown(role, ours, code);  // by the arguments' namespaces, as Beast calls it
      EXPECT_FALSE(code);
      EXPECT_FALSE(ours.is_open());
      std::array<std::byte, 8> room;
      EXPECT_EQ(co_await both.server.read(room), 0U);
    }
  });
}

TEST(teardown_on_tandem, the_peers_last_words_are_read_before_the_end) {
  run([]() -> task<void> {
    for (const beast::role_type role : {beast::role_type::client, beast::role_type::server}) {
      connection both = co_await make_connection();
      plain_stream ours = over(std::move(both.client));
      co_await both.server.write_all(io::bytes_of("bytes that nobody wanted"));
      const bool ends_first = role == beast::role_type::server;
      if (!ends_first) both.server.shutdown();
      auto tearing = tandem::spawn([](beast::role_type as, plain_stream& stream) -> task<void> {
        co_await net::async_initiate<const tandem::use_await_t, void(beast::error_code)>(
            [as, &stream](auto&& done) {
              async_teardown(as, stream, std::forward<decltype(done)>(done));
            },
            use_await);
      }(role, ours));
      if (ends_first) {
        // The server's end comes first, and the client may still write.
        std::array<std::byte, 8> room;
        EXPECT_EQ(co_await both.server.read(room), 0U);
        both.server.shutdown();
      }
      co_await std::move(tearing);
      EXPECT_FALSE(ours.is_open());
    }
  });
}

// --- HTTP

task<void> serve_requests(io::tcp_stream connected) {
  plain_stream stream = over(std::move(connected));
  beast::flat_buffer buffer;
  while (true) {
    http::request<http::string_body> request;
    auto got = co_await as_result(http::async_read(stream, buffer, request, use_await));
    if (!got) {
      EXPECT_EQ(got.error(), code_of(http::error::end_of_stream));
      co_return;
    }
    http::response<http::string_body> response(http::status::ok, request.version());
    response.keep_alive(request.keep_alive());
    response.body() = std::string(request.target()) + ":" + request.body();
    response.prepare_payload();
    (void)co_await http::async_write(stream, response, use_await);
    if (!response.keep_alive()) co_return;
  }
}

task<std::string> ask(plain_stream& stream, beast::flat_buffer& buffer, std::string target,
                      std::string body, bool chunked) {
  http::request<http::string_body> request(http::verb::post, target, 11);
  request.set(http::field::host, "localhost");
  request.body() = std::move(body);
  if (chunked) {
    request.chunked(true);
  } else {
    request.prepare_payload();
  }
  (void)co_await http::async_write(stream, request, use_await);
  http::response<http::string_body> response;
  (void)co_await http::async_read(stream, buffer, response, use_await);
  EXPECT_EQ(response.result(), http::status::ok);
  co_return response.body();
}

TEST(http_on_tandem, many_requests_go_over_one_connection) {
  run([]() -> task<void> {
    connection both = co_await make_connection();
    auto server = tandem::spawn(serve_requests(std::move(both.server)));
    {
      plain_stream stream = over(std::move(both.client));
      beast::flat_buffer buffer;
      for (int i = 0; i < 10; ++i) {
        const std::string target = "/" + std::to_string(i);
        const std::string answer = co_await ask(stream, buffer, target, "body", i % 2 == 1);
        EXPECT_EQ(answer, target + ":body");
      }
      const std::string large(700'000, 'l');
      const std::string answer = co_await ask(stream, buffer, "/large", large, false);
      EXPECT_EQ(answer.size(), large.size() + 7);
    }
    co_await std::move(server);
  });
}

TEST(http_on_tandem, two_requests_at_once_are_answered_in_turn) {
  run([]() -> task<void> {
    connection both = co_await make_connection();
    auto server = tandem::spawn(serve_requests(std::move(both.server)));
    {
      plain_stream stream = over(std::move(both.client));
      (void)co_await net::async_write(
          stream,
          net::buffer(std::string_view("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"
                                       "GET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")),
          use_await);
      beast::flat_buffer buffer;
      for (const std::string_view expected : {"/1:", "/2:"}) {
        http::response<http::string_body> response;
        (void)co_await http::async_read(stream, buffer, response, use_await);
        EXPECT_EQ(response.body(), expected);
      }
      http::response<http::string_body> none;
      auto end = co_await as_result(http::async_read(stream, buffer, none, use_await));
      EXPECT_EQ(end.error(), code_of(http::error::end_of_stream));
    }
    co_await std::move(server);
  });
}

// --- WebSocket over TLS over tandem

TEST(websocket_on_tandem, goes_over_tls) {
  run([]() -> task<void> {
    tls_identity identity;
    connection both = co_await make_connection();
    tls_websocket server(over(std::move(both.server)), identity.server);
    tls_websocket client(over(std::move(both.client)), identity.client);
    co_await shake_hands(server.next_layer(), client.next_layer());
    auto serving = tandem::spawn([](tls_websocket& ws) -> task<void> {
      co_await ws.async_accept(use_await);
      co_await echo_messages(ws);
    }(server));
    co_await client.async_handshake("localhost", "/", use_await);
    const std::string large(400'000, 'w');
    for (const std::string& message : {std::string("small"), large}) {
      (void)co_await client.async_write(net::buffer(message), use_await);
      const std::string back = co_await next_message(client);
      EXPECT_TRUE(back == message);
    }
    co_await client.async_close(websocket::close_code::normal, use_await);
    co_await std::move(serving);
  });
}

static_assert(io::byte_stream<tandem::asio_byte_stream<beast::tcp_stream>>);

}  // namespace
