// stream_stress.cpp: merged and buffered streams on several threads, left and stopped at any time.
// SPDX-License-Identifier: MIT
//
// The laws: an item comes once, whole, and in its source's order; nothing of a stream is open in
// the consumer's next line; every await ends. A lost hand-over is a hang, which the watchdog
// reports.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <tandem/sleep.hpp>
#include <tandem/streams.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "seeded.hpp"
#include "sync_actors.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::elements_of;
using tandem::flow;
using tandem::stream;
using tandem::task;
using tandem::test::dice;
using tandem::test::handles;
using tandem::test::some_threads;
using tandem::test::stop_some;
using tandem::test::stress;
using tandem::test::test_runtime;
using tandem::test::wait_for_all;
using tandem::test::with_threads;
namespace streams = tandem::streams;

constexpr int sources = 4;
constexpr int items = 60;

/// An item that shows whether it is whole.
struct parcel {
  parcel(int s, int n) : source(s), number(n), text(std::make_unique<int>(s * 1000 + n)) {}
  bool is_whole() const { return text != nullptr && *text == source * 1000 + number; }
  int source;
  int number;
  std::unique_ptr<int> text;
};

/// Of one consumer: which item of each source was last, and what is open.
struct state {
  explicit state(std::uint64_t s) : seed(s) {}
  std::uint64_t seed;
  std::atomic<int> open{0};
  std::array<int, sources> last{-1, -1, -1, -1};
  std::atomic<long> broken{0};
  int taken = 0;

  void take(const parcel& one, bool in_order) {
    ++taken;
    if (!one.is_whole()) ++broken;
    int& before = last.at(static_cast<std::size_t>(one.source));
    if (in_order && one.number != before + 1) ++broken;
    before = one.number;
  }
};

task<void> perhaps_wait(dice& random) {
  switch (random(6)) {
    case 0: co_await tandem::yield(); break;
    case 1: co_await tandem::sleep_for(std::chrono::microseconds(random(20))); break;
    default: break;
  }
}

stream<parcel> raw(int source, std::uint64_t seed) {
  dice random(seed);
  for (int i = 0; i < items; ++i) {
    co_await perhaps_wait(random);
    co_yield parcel(source, i);
  }
}
/// With a clean-up that waits.
stream<parcel> source_of(state& s, int source) {
  ++s.open;
  const std::uint64_t seed = s.seed + static_cast<std::uint64_t>(source) * 77;
  co_yield elements_of(raw(source, seed) | streams::finally([&s, seed]() -> task<void> {
                         dice random(seed);
                         co_await perhaps_wait(random);
                         --s.open;
                       }));
}
task<parcel> handled(parcel one, std::uint64_t seed) {
  dice random(seed + static_cast<std::uint64_t>(one.number));
  co_await perhaps_wait(random);
  co_return one;
}

stream<parcel> merged(state& s) {
  std::vector<stream<parcel>> all;
  for (int i = 0; i < sources; ++i) all.push_back(source_of(s, i));
  return streams::merge(std::move(all));
}

/// @param in_order  set to whether the items of each source keep their order
stream<parcel> build(state& s, dice& random, bool& in_order) {
  const auto f = [seed = s.seed](parcel one) { return handled(std::move(one), seed); };
  in_order = true;
  switch (random(4)) {
    case 0: return merged(s);
    case 1: return source_of(s, 0) | streams::buffered(1 + random(6), f);
    case 2: in_order = false; return merged(s) | streams::buffered_unordered(1 + random(6), f);
    default:
      return merged(s) | streams::chunks(1 + random(9), std::chrono::microseconds(random(50))) |
             streams::flat_map([](std::vector<parcel> chunk) { return chunk; });
  }
}

task<void> consume(state& s) {
  dice random(s.seed);
  const int leave_at = random(2) == 0 ? static_cast<int>(random(sources * items)) : -1;
  bool in_order = true;
  stream<parcel> made = build(s, random, in_order);
  std::exception_ptr stopped;
  try {
    co_await tandem::for_each(std::move(made), [&](const parcel& one) -> task<flow> {
      s.take(one, in_order);
      co_await perhaps_wait(random);
      co_return s.taken == leave_at ? flow::leave : flow::go_on;
    });
  } catch (const tandem::operation_cancelled&) {
    stopped = std::current_exception();
  }
  if (s.open != 0) ++s.broken;
  if (stopped == nullptr && leave_at <= 0 && s.taken % items != 0) ++s.broken;
  if (stopped != nullptr) std::rethrow_exception(stopped);
}

TEST(streams, items_come_once_and_in_order_and_ends_are_awaited_on_any_number_of_threads) {
  stress([](std::mt19937_64& random) {
    std::vector<std::unique_ptr<state>> states;
    std::atomic<int> suppressed{0};
    auto options = with_threads(some_threads(random));
    options.on_suppressed_exception = [&suppressed](const std::exception_ptr&) { ++suppressed; };
    test_runtime rt(std::move(options));
    handles all;
    for (int i = 0; i < 8; ++i) {
      states.push_back(std::make_unique<state>(random() >> 1));
      all.push_back(rt->spawn(consume(*states.back())));
    }
    if (random() % 2 == 0) stop_some(all, random);
    wait_for_all(all);
    for (const auto& each : states) {
      EXPECT_EQ(each->broken, 0) << "seed " << each->seed;
      EXPECT_EQ(each->open, 0);
    }
    EXPECT_EQ(suppressed, 0);
    EXPECT_TRUE(rt->drain(std::chrono::seconds(60)));
  });
}

}  // namespace
