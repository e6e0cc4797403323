// asio_stress.cpp: stops against operations of Asio on a context of many threads: one outcome each, nothing lost.
// SPDX-License-Identifier: MIT
//
// Timers, reads of sockets, composed reads, on plain executors and on strands: 800,000 operations in the nightly run.
// Whoever reads a socket counts what it got, stopped or not; what it left must be the rest of what was sent.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <tandem/as_result.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>

#include "counted_stops.hpp"
#include "io/interop/asio_flavour.hpp"
#include "seeded.hpp"
#include "spin.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::use_await;
using tandem::test::expect_all_ends;
using tandem::test::expect_one_end_each;
using tandem::test::is_enough;
using tandem::test::quota;
using tandem::test::spin;
using tandem::test::stop_ends;
using socket = tandem::test::local_socket;

constexpr int stops_a_round = 2000;
constexpr int tasks = 8;

// Of 1,000,000 in all: the others are those of beast_stress.
constexpr int timers_of_a_night = 400'000;
constexpr int reads_of_a_night = 200'000;
constexpr int composed_of_a_night = 200'000;

struct ends {
  stop_ends timers;
  stop_ends reads;
  stop_ends composed;
};

class context_threads {
 public:
  explicit context_threads(int count) : work_(context.get_executor()) {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { context.run(); });
  }
  context_threads(const context_threads&) = delete;
  context_threads& operator=(const context_threads&) = delete;
  ~context_threads() {
    work_.reset();
    for (auto& each : threads_) each.join();
  }
  asio::io_context context;

 private:
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::vector<std::thread> threads_;
};

void count_end(std::error_code code, stop_ends& all) {
  if (!code) {
    ++all.done;
  } else {
    EXPECT_EQ(code, std::error_code(asio::error::operation_aborted));
    ++all.stopped;
  }
}

task<void> one_timer(asio::any_io_executor at, std::uint64_t choice, stop_ends& all) {
  asio::steady_timer timer(at, choice % 3 == 0   ? std::chrono::steady_clock::duration(1h)
                               : choice % 3 == 1 ? 0us
                                                 : std::chrono::microseconds(choice / 3 % 100));
  auto got = co_await tandem::as_result(timer.async_wait(use_await));
  if (got) {
    ++all.done;
  } else {
    EXPECT_TRUE(got.is_cancelled()) << got.error().message();
    ++all.stopped;
  }
}

/// What both ends of a connection know of it.
struct stream_counts {
  std::uint64_t sent = 0;
  std::uint64_t got = 0;
};

/// The error is the handler's: with as_tuple what a read that was stopped has got is not lost.
task<void> one_read(socket& from, stream_counts& counts, bool is_composed, std::uint64_t choice,
                    stop_ends& all) {
  std::array<char, 64> bytes;
  const std::size_t size = 1 + choice % bytes.size();
  if (!is_composed) {
    auto [code, n] = co_await from.async_read_some(asio::buffer(bytes.data(), size),
                                                   asio::experimental::as_tuple(use_await));
    counts.got += n;
    count_end(code, all);
  } else {
    auto [code, n] = co_await asio::async_read(from, asio::buffer(bytes.data(), size),
                                               asio::experimental::as_tuple(use_await));
    counts.got += n;
    count_end(code, all);
  }
}

task<void> say_begun(task<void> body, std::atomic<bool>& has_begun) {
  has_begun = true;
  co_await std::move(body);
}

/// Starts it, and stops it at any time: before, in its start, beside its end.
task<void> stop_one(task<void> body, std::uint64_t pause, stop_ends& all) {
  std::atomic<bool> has_begun = false;
  auto handle = tandem::spawn(say_begun(std::move(body), has_begun));
  const bool waits = pause % 8 != 0;
  while (waits && !has_begun) co_await tandem::yield();
  spin(pause);
  ++all.made;
  handle.cancel();
  const auto end = co_await tandem::as_result(std::move(handle));
  if (!end) {
    EXPECT_TRUE(end.is_cancelled());
    ++all.before;
  }
}

task<void> write_some(socket& to, stream_counts& counts, std::uint64_t choice) {
  static constexpr std::array<char, 48> bytes{};
  const std::size_t size = choice % (bytes.size() + 1);
  counts.sent += co_await asio::async_write(to, asio::buffer(bytes.data(), size), use_await);
}

task<void> stop_many(asio::any_io_executor at, std::uint64_t seed, int count, ends& all) {
  std::mt19937_64 random(seed);
  socket near(at);
  socket far(at);
  tandem::test::connect_pair(near, far);
  stream_counts counts;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t choice = random();
    const std::uint64_t pause = random() % 300;
    if (random() % 2 == 0) {
      co_await stop_one(one_timer(at, choice, all.timers), pause, all.timers);
    } else {
      const bool is_composed = random() % 2 == 0;
      stop_ends& kind = is_composed ? all.composed : all.reads;
      co_await tandem::when_all(
          stop_one(one_read(near, counts, is_composed, choice, kind), pause, kind),
          write_some(far, counts, choice / 64));
    }
  }
  // What was written may be on its way still: only the end tells that all of it has come.
  far.shutdown(socket::shutdown_send);
  std::array<char, 64> rest;
  std::error_code end;
  while (!end) counts.got += near.read_some(asio::buffer(rest), end);
  EXPECT_EQ(end, std::error_code(asio::error::eof));
  EXPECT_EQ(counts.got, counts.sent);
}

TEST(asio_stress, each_operation_has_one_outcome_and_no_byte_is_lost) {
  ends all;
  const int timers = quota(timers_of_a_night);
  const int reads = quota(reads_of_a_night);
  const int composed = quota(composed_of_a_night);
  const auto is_over = [&] {
    return is_enough(all.timers, timers) && is_enough(all.reads, reads) &&
           is_enough(all.composed, composed);
  };
  tandem::test::in_counted_rounds(is_over, [&](std::mt19937_64& random) {
    tandem::test::test_runtime rt(tandem::test::with_threads(3));
    context_threads io(2);
    const bool strands = random() % 3 == 0;
    rt.run(
        [](asio::io_context& in, bool on_strands, std::uint64_t seed, ends& counts) -> task<void> {
          co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
            for (int i = 0; i < tasks; ++i) {
              asio::any_io_executor at = in.get_executor();
              if (on_strands || i % 4 == 0) at = asio::make_strand(in);
              scope.spawn(stop_many(at, seed + static_cast<std::uint64_t>(i), stops_a_round / tasks,
                                    counts));
            }
            co_await scope.join();
          });
        }(io.context, strands, random(), all));
    expect_one_end_each(all.timers, "timers");
    expect_one_end_each(all.reads, "reads");
    expect_one_end_each(all.composed, "composed reads");
  });
  expect_all_ends(all.timers, timers, "timers");
  expect_all_ends(all.reads, reads, "reads");
  expect_all_ends(all.composed, composed, "composed reads");
}

// The task of an asio_stream waits for a request; the stream's end, its stop, meets the beginning of
// that wait, and the last request.
TEST(asio_stress, a_stop_of_a_stream_is_heard_wherever_it_comes) {
  using tandem::detail::request_lane;
  using tandem::detail::stream_request;
  class request final : public stream_request {
   public:
    request() : stream_request(kind::read) {}
    void complete(const std::error_code& /*code*/, std::size_t /*bytes*/) noexcept override {}
  };
  int heard = 0;
  int took = 0;
  tandem::test::stress([&](std::mt19937_64& random) {
    tandem::test::test_runtime rt(tandem::test::with_threads(1));
    for (int i = 0; i < stops_a_round; ++i) {
      request_lane lane;
      request asked;
      std::atomic<bool> has_begun{false};
      auto serving = rt->spawn(
          [](request_lane& own, std::atomic<bool>& begun, std::uint64_t length) -> task<int> {
            begun = true;
            spin(length);
            int taken = 0;
            while (co_await own.next() != nullptr) ++taken;
            co_return taken;
          }(lane, has_begun, random() % 8));
      const bool asks = random() % 4 == 0;
      const std::uint64_t before = random() % 8;
      const std::uint64_t between = random() % 16;
      while (!has_begun) {}
      spin(before);
      if (asks) {
        EXPECT_EQ(lane.ask(asked), request_lane::answer::taken);
        spin(between);
      }
      serving.cancel();
      const int taken = std::move(serving).wait();
      stream_request* const late = lane.close();
      EXPECT_EQ(taken + (late != nullptr ? 1 : 0), asks ? 1 : 0);
      ++heard;
      took += taken;
    }
  });
  std::printf("%d stops, after %d requests\n", heard, took);
}

}  // namespace
