// copy_both_test.cpp: two streams joined: each direction ends on its own, and fails for both.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/io/any_stream.hpp>
#include <tandem/io/copy_both.hpp>
#include <tandem/stop.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <utility>
#include <vector>

#include "io/stream/scripted_stream.hpp"
#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::event;
using tandem::task;
using tandem::io::buffered_reader;
using tandem::io::copied_both;
using tandem::io::copy_both;
using tandem::io::copy_both_options;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::read_to_end;

/// A proxy's two connections: `front.client` is joined to `back.server` by the ends in between.
struct proxied {
  connection front;
  connection back;
  tcp_stream& one() { return front.server; }
  tcp_stream& other() { return back.client; }
};
task<proxied> make_proxied() {
  proxied made;
  made.front = co_await make_connection();
  made.back = co_await make_connection();
  co_return made;
}

/// Sends all, ends, and reads what comes until the end.
task<void> ask(tcp_stream& by, std::span<const std::byte> question,
               std::span<const std::byte> answer) {
  co_await by.write_all(question);
  by.shutdown();
  const std::vector<std::byte> came = co_await read_to_end(by);
  EXPECT_TRUE(std::ranges::equal(came, answer));
}
/// Reads until the end, and only then begins to send.
task<void> tell(tcp_stream& by, std::span<const std::byte> question,
                std::span<const std::byte> answer) {
  const std::vector<std::byte> came = co_await read_to_end(by);
  EXPECT_TRUE(std::ranges::equal(came, question));
  co_await by.write_all(answer);
  by.shutdown();
}

/// Joins two streams, and keeps what came out.
template <class First, class Second>
task<void> join(First& first, Second& second, copied_both& counted) {
  counted = co_await copy_both(first, second);
}

TEST(copy_both, an_end_passes_on_and_the_other_direction_goes_on_whichever_ends_first) {
  on_every_home([]() -> task<void> {
    const std::vector<std::byte> question = pattern(200'000, 1);
    const std::vector<std::byte> answer = pattern(700'001, 2);
    for (const bool front_asks : {true, false}) {
      proxied p = co_await make_proxied();
      copied_both counted;
      tcp_stream& asks = front_asks ? p.front.client : p.back.server;
      tcp_stream& tells = front_asks ? p.back.server : p.front.client;
      co_await tandem::when_all(join(p.one(), p.other(), counted), ask(asks, question, answer),
                                tell(tells, question, answer));
      EXPECT_EQ(front_asks ? counted.there : counted.back, question.size());
      EXPECT_EQ(front_asks ? counted.back : counted.there, answer.size());
    }
  });
}

TEST(copy_both, takes_streams_of_any_kind_and_readers_that_hold_something) {
  on_every_home([]() -> task<void> {
    const std::vector<std::byte> question = pattern(5000, 3);
    const std::vector<std::byte> answer = pattern(6000, 4);
    proxied p = co_await make_proxied();
    tandem::io::any_stream other(std::move(p.other()));
    buffered_reader reader(p.one());
    co_await p.front.client.write_all(std::span(question).first(1000));
    while (reader.buffered().size() < 1000) (void)co_await reader.fill();
    copied_both counted;
    co_await tandem::when_all(join(reader, other, counted),
                              ask(p.front.client, std::span(question).subspan(1000), answer),
                              tell(p.back.server, question, answer));
    EXPECT_EQ(counted.there, question.size());
    EXPECT_EQ(counted.back, answer.size());
  });
}

TEST(copy_both, a_failure_of_one_direction_stops_the_other_and_passes_no_end_on) {
  on_every_home([]() -> task<void> {
    proxied p = co_await make_proxied();
    copied_both progress;
    copy_both_options options;
    options.progress = &progress;
    const auto break_off = [](proxied& at) -> task<void> {
      co_await at.front.client.write_all(pattern(100, 5));
      std::array<std::byte, 100> got{};
      for (std::size_t all = 0; all < got.size();) {
        all += co_await at.back.server.read(std::span(got).subspan(all));
      }
      at.front.client.abort();
    };
    const auto joins = [](proxied& at, const copy_both_options& how) -> task<std::error_code> {
      const auto ended = co_await as_result(copy_both(at.one(), at.other(), how));
      co_return ended.error();
    };
    auto [failure, nothing] = co_await tandem::when_all(joins(p, options), break_off(p));
    EXPECT_EQ(failure, std::errc::connection_reset);
    EXPECT_EQ(progress.there, 100U);
    EXPECT_EQ(progress.back, 0U);
    // The other side has been told nothing: the stream to it is as it was.
    co_await p.other().write_all(pattern(10, 6));
    p.other().shutdown();
    EXPECT_EQ(co_await read_to_end(p.back.server), pattern(10, 6));
  });
}

TEST(copy_both, a_stop_ends_both_directions_and_readers_lose_nothing) {
  on_every_home([]() -> task<void> {
    proxied p = co_await make_proxied();
    buffered_reader one(p.one());
    buffered_reader other(p.other());
    const auto got = co_await as_result(tandem::with_timeout(1ms, copy_both(one, other)));
    EXPECT_TRUE(got.is_cancelled());
    const std::vector<std::byte> question = pattern(3000, 7);
    const std::vector<std::byte> answer = pattern(4000, 8);
    copied_both counted;
    co_await tandem::when_all(join(one, other, counted), ask(p.front.client, question, answer),
                              tell(p.back.server, question, answer));
    EXPECT_EQ(counted.there, question.size());
  });
}

/// Both directions of a stream of the test's own: what it gives, and what it has been given.
class scripted_end {
 public:
  explicit scripted_end(std::span<const std::byte> gives) : gives_(gives) {}
  task<std::size_t> read(std::span<std::byte> room) {
    if (fails) throw std::runtime_error("broken");
    if (hangs != nullptr) co_await hangs->wait();
    const std::size_t some = std::min(room.size(), gives_.size());
    std::ranges::copy(gives_.first(some), room.begin());
    gives_ = gives_.subspan(some);
    co_return some;
  }
  task<void> write_all(std::span<const std::byte> bytes) {
    taken.insert(taken.end(), bytes.begin(), bytes.end());
    co_return;
  }
  void shutdown() { ended = true; }

  bool fails = false;
  event* hangs = nullptr;
  bool ended = false;
  std::vector<std::byte> taken;

 private:
  std::span<const std::byte> gives_;
};

TEST(copy_both, needs_no_more_of_a_stream_than_reading_and_writing) {
  tandem::test::test_runtime rt;
  rt.run([]() -> task<void> {
    const std::vector<std::byte> a = pattern(1000, 1);
    const std::vector<std::byte> b = pattern(2000, 2);
    scripted_end one(a);
    scripted_end other(b);
    copy_both_options small;
    small.buffer_bytes = 64;
    const copied_both counted = co_await copy_both(one, other, small);
    EXPECT_EQ(counted.there, 1000U);
    EXPECT_EQ(counted.back, 2000U);
    EXPECT_EQ(one.taken, b);
    EXPECT_EQ(other.taken, a);
    EXPECT_TRUE(one.ended && other.ended);
    event never;
    scripted_end hangs(a);
    hangs.hangs = &never;
    scripted_end breaks(b);
    breaks.fails = true;
    EXPECT_THROW((void)co_await copy_both(hangs, breaks), std::runtime_error);
    EXPECT_FALSE(hangs.ended || breaks.ended);
  }());
}

}  // namespace
