// asio_stream_test.cpp: streams of tandem as Asio's, and the other way.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <cerrno>

#include <tandem/as_result.hpp>
#include <tandem/io/any_stream.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/copy.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>

#include "io/interop/asio_flavour.hpp"
#include "io/support/io_support.hpp"
#include "plain_sockets.hpp"
#include "refusal_text.hpp"
#include "sanitized.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_asio_stream;
using tandem::as_result;
using tandem::from_asio_stream;
using tandem::task;
using tandem::use_await;
using tandem::test::aborted;
using tandem::test::connection;
using tandem::test::local_pair;
using tandem::test::local_socket;
using tandem::test::make_connection;
using tandem::test::net_code;
using tandem::test::pattern;
using tandem::test::running_context;
using tandem::test::says_nobody_is_there;
using tandem::test::std_code;
using tandem::test::test_runtime;
using stream = tandem::asio_stream<tandem::io::tcp_stream>;

static_assert(tandem::io::byte_stream<tandem::asio_byte_stream<net::ip::tcp::socket>>);
static_assert(std::is_nothrow_move_constructible_v<stream>);
static_assert(std::is_same_v<stream::lowest_layer_type, stream>);

/// An Asio stream of tandem's and what it is connected to.
struct asio_end {
  explicit asio_end(test_runtime& rt) : asio_end(rt.run(make_connection())) {}
  explicit asio_end(connection made)
      : near(as_asio_stream(std::move(made.server))), far(std::move(made.client)) {}
  stream near;
  tandem::io::tcp_stream far;
};

/// Waits for what a handler gets, on a thread that no runtime owns.
struct outcome {
  net_code code;
  std::size_t bytes = 0;
};
template <class Start>
std::future<outcome> begin(Start start) {
  auto told = std::make_shared<std::promise<outcome>>();
  start([told](net_code code, std::size_t bytes) { told->set_value({code, bytes}); });
  return told->get_future();
}

TEST(asio_stream, reads_and_writes_of_one_and_of_several_buffers) {
  test_runtime rt;
  asio_end end(rt);
  rt.run([](asio_end& at) -> task<void> {
    co_await at.far.write_all(tandem::io::bytes_of("hello world"));
    std::string head(5, ' ');
    std::string tail(6, ' ');
    const std::array<net::mutable_buffer, 3> parts{net::buffer(head), net::buffer(head, 0),
                                                   net::buffer(tail)};
    const std::size_t n = co_await net::async_read(at.near, parts, use_await);
    EXPECT_EQ(n, 11u);
    EXPECT_EQ(head + tail, "hello world");
    const std::array<net::const_buffer, 3> gathered{net::buffer("ab", 2), net::buffer("", 0),
                                                    net::buffer("cde", 3)};
    const std::size_t first = co_await at.near.async_write_some(gathered, use_await);
    EXPECT_EQ(first, 2u);
    std::array<std::byte, 2> head_of_it;
    EXPECT_EQ(co_await at.far.read(head_of_it), 2u);
    const std::size_t some = co_await net::async_write(at.near, gathered, use_await);
    EXPECT_EQ(some, 5u);
    std::array<std::byte, 5> got;
    std::size_t filled = 0;
    while (filled < got.size()) filled += co_await at.far.read(std::span(got).subspan(filled));
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(got.data()), 5), "abcde");
    // More buffers than one operation takes.
    std::vector<net::const_buffer> many(40, net::buffer("x", 1));
    const std::size_t all = co_await net::async_write(at.near, many, use_await);
    EXPECT_EQ(all, 40u);
  }(end));
}

TEST(asio_stream, without_a_slot_several_buffers_are_written_at_once) {
  test_runtime rt;
  asio_end end(rt);
  const std::array<net::const_buffer, 3> gathered{net::buffer("ab", 2), net::buffer("", 0),
                                                  net::buffer("cde", 3)};
  auto wrote =
      begin([&](auto handler) { end.near.async_write_some(gathered, std::move(handler)); });
  EXPECT_EQ(wrote.get().bytes, 5u);
  std::string left(2, ' ');
  std::string right(3, ' ');
  const std::array<net::mutable_buffer, 2> parts{net::buffer(left), net::buffer(right)};
  rt.run([](tandem::io::tcp_stream& to) -> task<void> {
    co_await to.write_all(tandem::io::bytes_of("vwxyz"));
  }(end.far));
  auto read = begin([&](auto handler) { end.near.async_read_some(parts, std::move(handler)); });
  EXPECT_EQ(read.get().bytes, 5u);
  EXPECT_EQ(left + right, "vwxyz");
}

TEST(asio_stream, no_bytes_are_done_at_once_and_an_end_is_told) {
  test_runtime rt;
  asio_end end(rt);
  rt.run([](asio_end& at) -> task<void> {
    char byte = 0;
    const std::size_t none = co_await at.near.async_read_some(net::buffer(&byte, 0), use_await);
    EXPECT_EQ(none, 0u);
    const std::size_t wrote = co_await at.near.async_write_some(net::const_buffer(), use_await);
    EXPECT_EQ(wrote, 0u);
    at.far.shutdown();
    auto got = co_await as_result(at.near.async_read_some(net::buffer(&byte, 1), use_await));
    EXPECT_EQ(got.error(), std_code(net::error::eof));
  }(end));
}

TEST(asio_stream, what_comes_of_a_reset_is_an_error_of_asio) {
  test_runtime rt;
  asio_end end(rt);
  rt.run([](asio_end& at) -> task<void> {
    char byte = 'x';
    tandem::test::reset_at_close(at.far.native_handle());
    at.far.close();
    auto [reset, none] = co_await at.near.async_read_some(net::buffer(&byte, 1),
                                                          net::experimental::as_tuple(use_await));
    EXPECT_EQ(reset, net::error::connection_reset) << reset.message();
    EXPECT_EQ(none, 0u);
    auto [broken, zero] = co_await at.near.async_write_some(net::buffer(&byte, 1),
                                                            net::experimental::as_tuple(use_await));
    EXPECT_TRUE(says_nobody_is_there(broken)) << broken.message();
    EXPECT_EQ(zero, 0u);
  }(end));
}

TEST(asio_stream, errors_are_those_of_asio) {
  test_runtime rt;
  asio_end end(rt);
  rt.run([](asio_end& at) -> task<void> {
    char byte = 'x';
    at.near.shutdown();
    auto [shut, zero] = co_await at.near.async_write_some(net::buffer(&byte, 1),
                                                          net::experimental::as_tuple(use_await));
    EXPECT_EQ(std_code(shut).category(), std_code(net::error::broken_pipe).category());
    EXPECT_TRUE(shut == net::error::broken_pipe || shut == net::error::shut_down) << shut.message();
    EXPECT_EQ(zero, 0u);
    at.near.close();
    EXPECT_FALSE(at.near.is_open());
    auto [closed, nil] = co_await at.near.async_read_some(net::buffer(&byte, 1),
                                                          net::experimental::as_tuple(use_await));
    EXPECT_EQ(closed, net::error::bad_descriptor) << closed.message();
    EXPECT_EQ(nil, 0u);
  }(end));
}

TEST(asio_stream, cancelling_one_operation_loses_no_byte) {
  test_runtime rt;
  asio_end end(rt);
  std::uint64_t got = 0;
  std::uint64_t sent = 0;
  for (int i = 0; i < tandem::test::rounds(2000); ++i) {
    std::array<char, 8> bytes;
    net::cancellation_signal signal;
    auto read = begin([&](auto handler) {
      end.near.async_read_some(net::buffer(bytes),
                               net::bind_cancellation_slot(signal.slot(), std::move(handler)));
    });
    auto writes = rt->spawn([](tandem::io::tcp_stream& to, bool some) -> task<void> {
      if (some) co_await to.write_all(tandem::io::bytes_of("abc"));
    }(end.far, i % 2 == 0));
    sent += i % 2 == 0 ? 3 : 0;
    std::promise<void> emitted;  // where handlers run: Asio's signals are for one thread at a time
    net::post(end.near.get_executor(), [&] {
      signal.emit(net::cancellation_type::partial);
      emitted.set_value();
    });
    emitted.get_future().wait();
    const outcome told = read.get();
    writes.wait();
    got += told.bytes;
    if (told.code) {
      EXPECT_EQ(told.code, net::error::operation_aborted);
    }
  }
  rt.run([](asio_end& at, std::uint64_t left) -> task<void> {
    std::vector<char> rest(left + 1);
    if (left != 0) {
      co_await net::async_read(at.near, net::buffer(rest.data(), left), use_await);
    }
    at.far.shutdown();
    auto none = co_await as_result(at.near.async_read_some(net::buffer(rest), use_await));
    EXPECT_EQ(none.error(), std_code(net::error::eof));
  }(end, sent - got));
}

TEST(asio_stream, close_and_destruction_end_what_is_under_way_and_close_the_descriptor) {
  test_runtime rt;
  for (int i = 0; i < tandem::test::rounds(200); ++i) {
    const std::size_t before = tandem::test::open_descriptors();
    {
      std::optional<asio_end> end(std::in_place, rt);
      std::array<char, 8> bytes;
      auto first = begin(
          [&](auto handler) { end->near.async_read_some(net::buffer(bytes), std::move(handler)); });
      if (i % 3 == 0) {
        end->near.close();
      } else if (i % 3 == 1) {
        const stream gone(std::move(end->near));
      } else {
        auto second = begin([&](auto handler) {
          end->near.async_read_some(net::buffer(bytes), std::move(handler));
        });
        end->near.close();
        const net_code code = second.get().code;
        EXPECT_TRUE(code == net::error::operation_aborted || code == net::error::bad_descriptor ||
                    code == net::error::in_progress)
            << code.message();
      }
      EXPECT_EQ(first.get().code, net::error::operation_aborted);
      // The peer sees the end: the descriptor is closed.
      rt.run([](tandem::io::tcp_stream& far) -> task<void> {
        std::array<std::byte, 4> some;
        EXPECT_EQ(co_await far.read(some), 0u);
      }(end->far));
    }
    if (i > 10) {
      EXPECT_LE(tandem::test::open_descriptors(), before + 1);
    }
  }
}

TEST(asio_stream, a_third_read_at_a_time_is_refused) {
  test_runtime rt;
  asio_end end(rt);
  std::array<char, 8> bytes;
  const auto read = [&] {
    return begin(
        [&](auto handler) { end.near.async_read_some(net::buffer(bytes), std::move(handler)); });
  };
  auto one = read();
  auto two = read();
  auto three = read();  // one of the last two is refused, by when the task has taken the first
  const auto is_told = [](const std::future<outcome>& one_of) {
    return one_of.wait_for(1ms) == std::future_status::ready;
  };
  while (!is_told(two) && !is_told(three)) {}
  const net_code refused = is_told(two) ? two.get().code : three.get().code;
  EXPECT_EQ(refused, net::error::in_progress) << refused.message();
  end.near.close();
  EXPECT_EQ(one.get().code, net::error::operation_aborted);
}

TEST(asio_stream, a_handler_that_is_an_lvalue_stays_the_callers) {
  test_runtime rt;
  asio_end end(rt);
  auto owned = std::make_shared<std::promise<outcome>>();
  auto handler = [owned](net_code code, std::size_t bytes) { owned->set_value({code, bytes}); };
  char byte = 0;
  end.near.async_read_some(net::buffer(&byte, 0), handler);
  EXPECT_FALSE(owned->get_future().get().code);
  EXPECT_GE(owned.use_count(), 2);
}

TEST(asio_stream, handlers_run_at_their_executor_and_without_one_at_the_streams) {
  running_context io;
  test_runtime rt;
  asio_end end(rt);
  std::promise<bool> bound;
  std::promise<bool> own;
  char byte = 0;
  end.near.async_read_some(net::buffer(&byte, 0),
                           net::bind_executor(io->get_executor(), [&](net_code, std::size_t) {
                             bound.set_value(io->get_executor().running_in_this_thread());
                           }));
  end.near.async_write_some(net::buffer("x", 1), [&](net_code, std::size_t) {
    own.set_value(end.near.get_executor().target().is_current());
  });
  EXPECT_TRUE(bound.get_future().get());
  EXPECT_TRUE(own.get_future().get());
}

TEST(asio_stream, bad_use_is_told_of) {
  test_runtime rt;
  test_runtime other;
  const auto says = [](auto call, const char* part) {
    const std::string refusal = tandem::test::refusal_of<std::logic_error>(call);
    EXPECT_TRUE(tandem::test::has(refusal, part)) << refusal;
  };
  connection made = rt.run(make_connection());
  says([&] { (void)as_asio_stream(std::move(made.server), other.workers()); },
       "belongs to another runtime");
  says([&] { (void)as_asio_stream(tandem::io::tcp_stream()); }, "name the executor");
}

TEST(asio_stream, the_end_of_the_runtime_ends_what_waits) {
  std::optional<test_runtime> rt(std::in_place);
  std::optional<asio_end> end(std::in_place, *rt);
  std::array<char, 8> bytes;
  auto read = begin(
      [&](auto handler) { end->near.async_read_some(net::buffer(bytes), std::move(handler)); });
  std::thread ends([&] { (*rt)->shutdown(); });
  EXPECT_EQ(read.get().code, net::error::operation_aborted);
  ends.join();
  end.reset();
  rt.reset();
}

TEST(asio_stream, the_end_of_the_runtime_ends_what_no_task_has_looked_at) {
  running_context other;  // where the handler is to be called
  std::promise<void> go;
  std::future<outcome> got;
  std::optional<stream> near;
  {
    test_runtime rt(1);
    connection both = rt.run(make_connection());
    near.emplace(as_asio_stream(std::move(both.server), rt->workers()));
    std::promise<void> busy;
    auto holds = rt->spawn([](std::promise<void>& is_busy, std::future<void> until) -> task<void> {
      is_busy.set_value();
      until.wait();
      co_return;
    }(busy, go.get_future()));
    busy.get_future().wait();
    got = begin([&](auto told) {
      static char room[4];
      near->async_read_some(net::buffer(room),
                            net::bind_executor(other->get_executor(), std::move(told)));
    });
    std::thread ends([&] { rt->shutdown(); });
    while (rt.workers().state() == tandem::pool_state::running) std::this_thread::yield();
    go.set_value();
    ends.join();
    near.reset();
  }
  EXPECT_EQ(got.get().code, net::error::operation_aborted);
}

TEST(asio_stream, threads_of_no_runtime_may_use_it_over_and_over) {
  test_runtime rt;
  asio_end end(rt);
  auto echo = rt->spawn(tandem::test::echo(std::move(end.far)));
  for (int i = 0; i < tandem::test::rounds(500); ++i) {
    std::array<char, 4> bytes{};
    auto wrote = begin([&](auto handler) {
      net::async_write(end.near, net::buffer("ping", 4), std::move(handler));
    });
    auto read = begin(
        [&](auto handler) { net::async_read(end.near, net::buffer(bytes), std::move(handler)); });
    EXPECT_EQ(wrote.get().bytes, 4u);
    EXPECT_EQ(read.get().bytes, 4u);
    EXPECT_EQ(std::string_view(bytes.data(), 4), "ping");
  }
  end.near.close();
  echo.wait();
}

TEST(asio_stream, moves_and_assignments_keep_what_is_under_way) {
  test_runtime rt;
  asio_end end(rt);
  asio_end other(rt);
  std::array<char, 2> bytes{};
  auto read = begin(
      [&](auto handler) { net::async_read(end.near, net::buffer(bytes), std::move(handler)); });
  (void)read;
  auto replaced = begin(
      [&](auto handler) { other.near.async_read_some(net::buffer(bytes), std::move(handler)); });
  other.near = as_asio_stream(rt.run(make_connection()).server);
  EXPECT_EQ(replaced.get().code, net::error::operation_aborted);
  end.near.close();
  EXPECT_EQ(read.get().code, net::error::operation_aborted);
}

// ---- the other way

TEST(asio_byte_stream, copies_and_buffers_as_any_stream) {
  running_context io;
  test_runtime rt;
  rt.run([](running_context& in) -> task<void> {
    local_pair left(in->get_executor());
    local_pair right(in->get_executor());
    auto from = from_asio_stream(std::move(left.near));
    auto to = from_asio_stream(std::move(right.near));
    const auto sent = pattern(200'000, 7);
    const auto send = [&]() -> task<void> {
      auto source = from_asio_stream(std::move(left.far));
      co_await source.write_all(sent);
      source.shutdown();
      std::array<std::byte, 1> none;
      (void)none;
    };
    std::vector<std::byte> got;
    const auto receive = [&]() -> task<void> {
      tandem::io::any_stream sink(from_asio_stream(std::move(right.far)));
      std::vector<std::byte> part(4096);
      while (const std::size_t n = co_await sink.read(part)) {
        got.insert(got.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(n));
      }
    };
    const auto pump = [&]() -> task<void> {
      (void)co_await tandem::io::copy(from, to);
      to.shutdown();
    };
    co_await tandem::when_all(send(), receive(), pump());
    EXPECT_TRUE(got == sent);
    EXPECT_TRUE(from.is_open());
    from.close();
    from.close();
    EXPECT_FALSE(from.is_open());
  }(io));
}

TEST(asio_byte_stream, lines_errors_and_stops) {
  running_context io;
  test_runtime rt;
  rt.run([](running_context& in) -> task<void> {
    local_pair pair(in->get_executor());
    auto near = from_asio_stream(std::move(pair.near));
    auto far = from_asio_stream(std::move(pair.far));
    co_await near.write_all({});
    std::array<std::byte, 8> bytes;
    EXPECT_EQ(co_await near.read(std::span<std::byte>()), 0u);
    std::uint64_t got = 0;
    std::uint64_t sent = 0;
    for (int i = 0; i < tandem::test::rounds(500); ++i) {
      auto reads = tandem::spawn(near.read(bytes));
      if (i % 2 == 0) {
        co_await far.write_all(tandem::io::bytes_of("abc"));
        sent += 3;
      }
      reads.cancel();
      auto end = co_await as_result(std::move(reads));
      if (end) {
        got += end.value();
      } else {
        EXPECT_TRUE(end.is_cancelled());
      }
    }
    // What was written may be on its way still: only the end tells that all of it has come.
    far.close();
    while (const std::size_t n = co_await near.read(bytes)) got += n;
    EXPECT_EQ(got, sent);
    // Whose first one is taken, over TCP: the peer answers it.
    auto broken = co_await as_result(near.write(std::span<const std::byte>(bytes)));
    while (broken) broken = co_await as_result(near.write(std::span<const std::byte>(bytes)));
    EXPECT_TRUE(says_nobody_is_there(broken.error())) << broken.error().message();
    local_socket back = std::move(near).release();
    EXPECT_TRUE(back.is_open());
  }(io));
}

}  // namespace
