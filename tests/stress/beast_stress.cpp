// beast_stress.cpp: stops against asio::ssl and Beast's WebSockets on many threads: one outcome each, no byte lost.
// SPDX-License-Identifier: MIT
//
// 200,000 operations in the nightly run. Each stream is on a multi-threaded io_context or on workers of tandem, with a strand or with that of its awaits alone.
#include "io/interop/beast_support.hpp"

#include <array>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/install.hpp>
#include <tandem/spawn.hpp>
#include <tandem/strand.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "counted_stops.hpp"
#include "io/support/io_support.hpp"
#include "seeded.hpp"
#include "spin.hpp"

namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace ssl = boost::asio::ssl;
namespace websocket = boost::beast::websocket;

using tandem::as_result;
using tandem::task;
using tandem::use_await;
using tandem::test::plain_stream;
using tandem::test::stop_ends;
using tandem::test::test_runtime;
using tandem::test::tls_identity;

using asio_socket = net::local::stream_protocol::socket;

constexpr int tasks = 8;
constexpr int stops_of_a_task = 40;
// Of 1,000,000 in all, each for the sockets of Asio and those of tandem: the others are those of asio_stress.
constexpr int reads_of_a_night = 70'000;
constexpr int handshakes_of_a_night = 10'000;
constexpr int websockets_of_a_night = 20'000;

/// An io_context that several threads run, and a runtime whose tasks use it.
class machine {
 public:
  machine() : runtime_(tandem::test::with_threads(3)) {
    tandem::io::completion_options options = tandem::test::steady_threads();
    (void)tandem::io::install(*runtime_, options);
    for (int i = 0; i < 3; ++i) threads_.emplace_back([this] { context_.run(); });
  }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;
  ~machine() {
    work_.reset();
    for (std::thread& each : threads_) each.join();
  }
  net::io_context& context() noexcept { return context_; }
  test_runtime& runtime() noexcept { return runtime_; }

 private:
  net::io_context context_{3};
  net::executor_work_guard<net::io_context::executor_type> work_{context_.get_executor()};
  std::vector<std::thread> threads_;
  test_runtime runtime_;
};

// Where the streams are. Alone: nothing but the awaits' own strands keeps steps and stops apart.
enum class place { context_strand, context_alone, tandem_strand, tandem_alone };
constexpr std::array places{place::context_strand, place::context_alone, place::tandem_strand,
                            place::tandem_alone};
constexpr bool has_strand(place at) {
  return at == place::context_strand || at == place::tandem_strand;
}

template <class Lower>
struct pair_of {
  Lower one;
  Lower other;
};

net::any_io_executor executor_at(machine& on, place at) {
  switch (at) {
    case place::context_strand: return net::make_strand(on.context());
    case place::context_alone: return on.context().get_executor();
    case place::tandem_strand: return tandem::asio_executor(tandem::strand(on.runtime().workers()));
    default: return tandem::asio_executor(on.runtime().workers());
  }
}

/// Sockets of Asio's, at executors of Asio's or of tandem.
class sockets_of_asio {
 public:
  using lower = asio_socket;
  static task<pair_of<lower>> make(machine& on, place at) {
    pair_of<lower> made{lower(executor_at(on, at)), lower(executor_at(on, at))};
    net::local::connect_pair(made.one, made.other);
    co_return std::move(made);
  }
};

/// Sockets of tandem, on completion threads, strands or workers.
class sockets_of_tandem {
 public:
  using lower = plain_stream;
  static task<pair_of<lower>> make(machine& on, place at) {
    tandem::test::connection both = co_await tandem::test::make_connection();
    // A reset at the end: thousands of connections a second would use up the ports otherwise.
    both.client.set_linger(std::chrono::seconds(0));
    both.server.set_linger(std::chrono::seconds(0));
    if (at == place::context_strand || at == place::context_alone) {
      plain_stream one = tandem::as_asio_stream(std::move(both.client));
      plain_stream other = tandem::as_asio_stream(std::move(both.server));
      co_return pair_of<lower>{std::move(one), std::move(other)};
    }
    if (at == place::tandem_alone) {
      plain_stream one = tandem::as_asio_stream(std::move(both.client), on.runtime().workers());
      plain_stream other = tandem::as_asio_stream(std::move(both.server), on.runtime().workers());
      co_return pair_of<lower>{std::move(one), std::move(other)};
    }
    plain_stream one =
        tandem::as_asio_stream(std::move(both.client), tandem::strand(on.runtime().workers()));
    plain_stream other =
        tandem::as_asio_stream(std::move(both.server), tandem::strand(on.runtime().workers()));
    co_return pair_of<lower>{std::move(one), std::move(other)};
  }
};

template <class T>
void count(stop_ends& all, const tandem::result<T>& what) {
  if (what) {
    ++all.done;
  } else if (what.is_cancelled()) {
    ++all.stopped;
  } else {
    ++all.failed;
  }
}

/// Some time: none, less than an operation takes, or as long as others want to run.
task<void> wait_a_little(std::mt19937_64& random) {
  switch (random() % 4) {
    case 0: break;
    case 1:
      for (std::uint64_t left = random() % 4; left != 0; --left) co_await tandem::yield();
      break;
    default: tandem::test::spin(random() % (1ULL << (9 + random() % 7)));
  }
}

template <class T>
task<T> note_begin(task<T> body, bool& has_begun) {
  has_begun = true;
  co_return co_await std::move(body);
}

/// Runs `body` as a task and stops it at any time: before it starts, in the middle, too late.
template <class T>
task<tandem::result<T>> stop_at_any_time(task<T> body, std::mt19937_64& random, stop_ends& all) {
  bool has_begun = false;
  auto running = tandem::spawn(note_begin(std::move(body), has_begun));
  co_await wait_a_little(random);
  ++all.made;
  running.cancel();
  auto end = co_await as_result(std::move(running));
  if (has_begun) {
    count(all, end);
  } else {
    EXPECT_TRUE(end.is_cancelled());
    ++all.before;
  }
  co_return std::move(end);
}

// --- TLS

template <class Lower>
using tls_over = ssl::stream<Lower>;

template <class Lower>
task<void> shake(tls_over<Lower>& stream, ssl::stream_base::handshake_type as) {
  co_await stream.async_handshake(as, use_await);
}

/// Reads that are stopped: what they had is told, and what they had not comes to the next.
template <class Sockets>
task<void> stop_tls_reads(machine& on, place at, tls_identity& identity, std::uint64_t seed,
                          stop_ends& all) {
  using stream_type = tls_over<typename Sockets::lower>;
  std::mt19937_64 random(seed);
  auto both = co_await Sockets::make(on, at);
  stream_type reader(std::move(both.one), identity.client);
  stream_type writer(std::move(both.other), identity.server);
  co_await tandem::when_all(shake(reader, ssl::stream_base::client),
                            shake(writer, ssl::stream_base::server));
  std::array<char, 64> room{};
  char next_written = 0;
  char next_read = 0;
  const auto look_at = [&](std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(room[i], next_read++);
  };
  for (int i = 0; i < 5 * stops_of_a_task && !::testing::Test::HasFailure(); ++i) {
    // Between no byte and some that the reader gets while it is being stopped.
    auto writing = tandem::spawn([](stream_type& to, char& next, std::uint64_t size) -> task<void> {
      std::array<char, 32> bytes;
      for (std::uint64_t n = 0; n < size; ++n) bytes[n] = next++;
      if (size != 0) (void)co_await net::async_write(to, net::buffer(bytes, size), use_await);
    }(writer, next_written, random() % 4 != 0 ? 0 : random() % 32));
    auto end = co_await stop_at_any_time(
        [](stream_type& from, std::array<char, 64>& into) -> task<std::size_t> {
          co_return co_await from.async_read_some(net::buffer(into), use_await);
        }(reader, room),
        random, all);
    if (end) look_at(end.value());
    co_await std::move(writing);
  }
  // Nothing is missing, and nothing came twice.
  auto farewell = tandem::spawn([](stream_type& of) -> task<void> {
    (void)co_await as_result(of.async_shutdown(use_await));
  }(writer));
  while (true) {
    auto got = co_await as_result(reader.async_read_some(net::buffer(room), use_await));
    if (!got) {
      EXPECT_EQ(got.error(), std::error_code(beast::error_code(net::error::eof)));
      break;
    }
    look_at(got.value());
  }
  EXPECT_EQ(next_read, next_written);
  (void)co_await as_result(reader.async_shutdown(use_await));
  co_await std::move(farewell);
}

/// A handshake of which one side, or both, are stopped.
template <class Sockets>
task<void> stop_tls_handshakes(machine& on, place at, tls_identity& identity, std::uint64_t seed,
                               stop_ends& all) {
  using stream_type = tls_over<typename Sockets::lower>;
  std::mt19937_64 random(seed);
  for (int i = 0; i < stops_of_a_task / 4 && !::testing::Test::HasFailure(); ++i) {
    auto both = co_await Sockets::make(on, at);
    stream_type client(std::move(both.one), identity.client);
    std::optional<stream_type> server(std::in_place, std::move(both.other), identity.server);
    auto serving = tandem::spawn([](std::optional<stream_type>& of) -> task<void> {
      auto end = co_await as_result(of->async_handshake(ssl::stream_base::server, use_await));
      if (!end) of.reset();  // so that the client's handshake ends
    }(server));
    const bool stops_server = random() % 2 == 0;
    std::uint64_t other_seed = random();
    auto end = co_await stop_at_any_time(shake(client, ssl::stream_base::client), random, all);
    if (stops_server || !end) {
      std::mt19937_64 own(other_seed);
      co_await wait_a_little(own);
      serving.cancel();
    }
    (void)co_await as_result(std::move(serving));
    EXPECT_TRUE(end || end.is_cancelled()) << end.error().message();
  }
}

// --- WebSocket

template <class Lower>
task<void> echo(websocket::stream<Lower>& ws) {
  if (!co_await as_result(ws.async_accept(use_await))) co_return;
  beast::flat_buffer buffer;
  while (co_await as_result(ws.async_read(buffer, use_await))) {
    if (!co_await as_result(ws.async_write(buffer.data(), use_await))) co_return;
    buffer.consume(buffer.size());
  }
}

/// Handshakes, reads, writes and pings that are stopped; with a strand, a read and a write at a
/// time.
template <class Stream>
task<void> use_client(Stream& client, bool two_at_once, std::mt19937_64& random, int& left,
                      stop_ends& all) {
  using stream_type = Stream;
  const std::string small(100, 's');
  const std::string large(70'000, 'l');
  bool is_whole = true;
  const auto note = [&](const auto& end) {
    --left;
    if (!end) is_whole = false;
    EXPECT_TRUE(end || end.is_cancelled()) << end.error().message();
  };
  const auto shaking = [](stream_type& of) -> task<void> {
    co_await of.async_handshake("localhost", "/", use_await);
  };
  const auto reading = [](stream_type& of) -> task<void> {
    beast::flat_buffer buffer;
    (void)co_await of.async_read(buffer, use_await);
  };
  const auto writing = [](stream_type& of, const std::string& text) -> task<void> {
    (void)co_await of.async_write(net::buffer(text), use_await);
  };
  const auto pinging = [](stream_type& of) -> task<void> {
    co_await of.async_ping("hello", use_await);
  };
  if (random() % 8 == 0) {
    note(co_await stop_at_any_time(shaking(client), random, all));
  } else {
    co_await shaking(client);
  }
  while (is_whole && left > 0) {
    const std::string& text = random() % 4 == 0 ? large : small;
    switch (random() % 4) {
      case 0: note(co_await stop_at_any_time(reading(client), random, all)); break;
      case 1: note(co_await stop_at_any_time(writing(client, text), random, all)); break;
      case 2: note(co_await stop_at_any_time(pinging(client), random, all)); break;
      default:
        if (!two_at_once) break;
        std::mt19937_64 other(random());
        auto reader = tandem::spawn(stop_at_any_time(reading(client), other, all));
        auto writer = co_await stop_at_any_time(writing(client, text), random, all);
        auto read = co_await std::move(reader);
        --left;
        // One that is stopped ends the other, too.
        if (!writer || !read) is_whole = false;
        EXPECT_TRUE(writer || writer.is_cancelled() || !read) << writer.error().message();
        EXPECT_TRUE(read || read.is_cancelled() || !writer) << read.error().message();
    }
  }
}

/// A WebSocket that has been stopped is of no more use (Beast says), so the next one comes.
template <class Sockets>
task<void> stop_websockets(machine& on, place at, std::uint64_t seed, stop_ends& all) {
  using stream_type = websocket::stream<typename Sockets::lower>;
  std::mt19937_64 random(seed);
  // A completion thread of tandem is as good as a strand.
  const bool two_at_once =
      has_strand(at) || (std::is_same_v<Sockets, sockets_of_tandem> && at == place::context_alone);
  int left = stops_of_a_task;
  while (left > 0 && !::testing::Test::HasFailure()) {
    auto both = co_await Sockets::make(on, at);
    stream_type client(std::move(both.one));
    stream_type server(std::move(both.other));
    auto serving = tandem::spawn(echo(server));
    // Whatever becomes of the client: the server's task refers to what is here.
    auto used = co_await as_result(use_client(client, two_at_once, random, left, all));
    serving.cancel();
    (void)co_await as_result(std::move(serving));
    std::move(used).value();
  }
}
// --- Rounds

template <class Body>
void in_rounds(const char* name, int of_a_night, Body body) {
  stop_ends all;
  const int count = tandem::test::quota(of_a_night);
  const auto is_over = [&] { return tandem::test::is_enough(all, count); };
  tandem::test::in_counted_rounds(is_over, [&](std::mt19937_64& random) {
    tls_identity identity;
    machine on;
    on.runtime().run([](Body& of, machine& where, tls_identity& who, std::uint64_t seed,
                        stop_ends& counts) -> task<void> {
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        for (int i = 0; i < tasks; ++i) {
          const place at = places[static_cast<std::size_t>(i) % places.size()];
          scope.spawn(of(where, at, who, seed + static_cast<std::uint64_t>(i), counts));
        }
        co_await scope.join();
      });
    }(body, on, identity, random(), all));
    tandem::test::expect_one_end_each(all, name);
  });
  tandem::test::expect_all_ends(all, count, name);
}

template <class Sockets>
void stop_tls_reads_of(const char* name) {
  in_rounds(name, reads_of_a_night,
            [](machine& on, place at, tls_identity& who, std::uint64_t seed, stop_ends& all) {
              return stop_tls_reads<Sockets>(on, at, who, seed, all);
            });
}
template <class Sockets>
void stop_tls_handshakes_of(const char* name) {
  in_rounds(name, handshakes_of_a_night,
            [](machine& on, place at, tls_identity& who, std::uint64_t seed, stop_ends& all) {
              return stop_tls_handshakes<Sockets>(on, at, who, seed, all);
            });
}
template <class Sockets>
void stop_websockets_of(const char* name) {
  in_rounds(name, websockets_of_a_night,
            [](machine& on, place at, tls_identity&, std::uint64_t seed, stop_ends& all) {
              return stop_websockets<Sockets>(on, at, seed, all);
            });
}

TEST(beast_stress, tls_reads_of_asio_sockets) { stop_tls_reads_of<sockets_of_asio>("reads"); }
TEST(beast_stress, tls_reads_of_tandem) { stop_tls_reads_of<sockets_of_tandem>("reads"); }
TEST(beast_stress, tls_handshakes_of_asio_sockets) {
  stop_tls_handshakes_of<sockets_of_asio>("handshakes");
}
TEST(beast_stress, tls_handshakes_of_tandem) {
  stop_tls_handshakes_of<sockets_of_tandem>("handshakes");
}
TEST(beast_stress, websockets_of_asio_sockets) {
  stop_websockets_of<sockets_of_asio>("WebSockets");
}
TEST(beast_stress, websockets_of_tandem) { stop_websockets_of<sockets_of_tandem>("WebSockets"); }

}  // namespace
