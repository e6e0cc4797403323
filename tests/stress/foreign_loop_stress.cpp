// foreign_loop_stress.cpp: numbers closed and used again at once, in every order of telling: no event goes astray.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <tandem/clock.hpp>
#include <tandem/io/foreign_loop.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "io/support/loop_support.hpp"
#include "seeded.hpp"

namespace {

using tandem::task;
using tandem::io::foreign_loop;
using tandem::io::native_descriptor;
using tandem::io::ready_events;
using tandem::io::watch_interest;
using tandem::io::with_foreign_loop;
using tandem::test::mix;
using tandem::test::open_descriptors;
using tandem::test::plain_socket;

constexpr std::size_t most_at_once = 12;  // so that numbers come again at once
constexpr int steps_a_round = 1000;

/// The other ends, on threads of their own: each writes its token some times, and leaves.
class peers {
 public:
  explicit peers(std::uint64_t seed) {
    for (lane& each : lanes_) {
      each.thread = std::thread([&each, seed = seed++] { work(each, seed); });
    }
  }
  peers(const peers&) = delete;
  peers& operator=(const peers&) = delete;
  ~peers() {
    for (lane& each : lanes_) each.over = true;
    for (lane& each : lanes_) each.thread.join();
  }
  void give(plain_socket descriptor, std::uint32_t token) {
    lane& mine = lanes_[token % lanes_.size()];
    const std::lock_guard guard(mine.lock);
    mine.given.emplace_back(descriptor, token);
  }

 private:
  struct lane {
    std::mutex lock;
    std::vector<std::pair<plain_socket, std::uint32_t>> given;
    std::atomic<bool> over{false};
    std::thread thread;
  };
  static void work(lane& mine, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::pair<plain_socket, std::uint32_t>> held;
    while (true) {
      const bool over = mine.over;
      {
        const std::lock_guard guard(mine.lock);
        held.insert(held.end(), mine.given.begin(), mine.given.end());
        mine.given.clear();
      }
      for (auto each = held.begin(); each != held.end();) {
        const auto [descriptor, token] = *each;
        if (!over && random() % 8 != 0) {
          (void)tandem::test::send_plain(descriptor, &token, sizeof token);
          ++each;
        } else {
          tandem::test::close_plain(descriptor);
          each = held.erase(each);
        }
      }
      if (over) return;
      std::this_thread::yield();
    }
  }
  std::array<lane, 2> lanes_;
};

/// The library: what it has open, and the token of each.
class reusing_library {
 public:
  reusing_library(foreign_loop& loop, peers& others, std::uint64_t seed)
      : loop_(loop), peers_(others), random_(seed) {}
  reusing_library(const reusing_library&) = delete;
  reusing_library& operator=(const reusing_library&) = delete;
  ~reusing_library() {
    while (!open_.empty()) end(open_.begin()->first);
  }

  /// All peers leave, some time: so each that is open hears of it, and is closed.
  task<void> drain() {
    is_draining_ = true;
    for (const auto& [number, token] : open_) loop_.watch(number, watch_interest::read);
    if (open_.empty()) drained_.set();
    co_await drained_.wait();
  }

  void step() {
    switch (random_() % 8) {
      case 0:
      case 1:
      case 2:
        if (open_.size() < most_at_once) return begin();
        return end(any());
      case 3: return open_.empty() ? begin() : end(any());
      case 4:
        // It was closed, and is another one's at once; nobody has told.
        if (open_.empty()) return begin();
        return replace(any());
      case 5: return open_.empty() ? begin() : change(any());
      case 6: return loop_.deadline(soon(), [this] { ++times_; });
      default: return loop_.no_deadline();
    }
  }
  std::uint64_t events() const noexcept { return events_; }
  std::uint64_t times() const noexcept { return times_; }

 private:
  std::chrono::steady_clock::time_point soon() {
    return tandem::now() + std::chrono::microseconds(random_() % 50);
  }
  plain_socket any() {
    auto found = open_.begin();
    std::advance(found, static_cast<std::ptrdiff_t>(random_() % open_.size()));
    return found->first;
  }
  watch_interest any_interest() {
    constexpr std::array all{watch_interest::read, watch_interest::read_write, watch_interest::none,
                             watch_interest::write};
    return all[random_() % all.size()];
  }

  /// @returns  an open number, and who has its other end
  std::pair<plain_socket, std::uint32_t> open_one() {
    const auto ends = tandem::test::connected_plain();
    const std::uint32_t token = next_token_++;
    peers_.give(ends[1], token);
    return {ends[0], token};
  }
  void begin() {
    const auto [number, token] = open_one();
    watch(number, token);
  }
  void watch(plain_socket number, std::uint32_t token) {
    open_[number] = token;
    loop_.watch(number, any_interest(), [this, token](native_descriptor fd, ready_events events) {
      told(fd, token, events);
    });
  }
  void end(plain_socket number) {
    const bool tells_first = random_() % 2 == 0;
    open_.erase(number);
    if (tells_first) loop_.forget(number);
    tandem::test::close_plain(number);
    if (!tells_first) loop_.forget(number);
    if (is_draining_ && open_.empty()) drained_.set();
  }
  void replace(plain_socket number) {
    tandem::test::close_plain(number);
    open_.erase(number);
    const auto [next, token] = open_one();
    if (next != number) loop_.forget(number);  // the peers took the number meanwhile
    watch(next, token);
  }
  void change(plain_socket number) { loop_.watch(number, any_interest()); }

  void told(plain_socket number, std::uint32_t token, ready_events events) {
    ++events_;
    const auto found = open_.find(number);
    ASSERT_NE(found, open_.end()) << "of one that was forgotten";
    ASSERT_EQ(found->second, token) << "of an old one of that number";
    ASSERT_FALSE(events.error() && !events.readable() && !events.writable())
        << "it is open and was watched";
    if (events.readable()) take(number, token);
    if (is_draining_) {
      if (events.hung_up() && open_.contains(number)) end(number);
      return;
    }
    // A library ends what has ended, changes its mind, or begins something, inside of its callback.
    if (open_.contains(number) && open_[number] == token) {
      if (events.hung_up() || random_() % 16 == 0) end(number);
    }
    if (random_() % 4 == 0) step();
  }
  void take(plain_socket number, std::uint32_t token) {
    std::uint32_t got = 0;
    const std::ptrdiff_t size = tandem::test::receive_plain(number, &got, sizeof got);
    // Nobody else reads: so what was told is there, unless it was another one's.
    ASSERT_TRUE(size == std::ptrdiff_t{sizeof got} || size == 0)
        << size << ": another one was readable";
    if (size != 0) {
      ASSERT_EQ(got, token);
    }
  }

  foreign_loop& loop_;
  peers& peers_;
  std::mt19937_64 random_;
  std::map<plain_socket, std::uint32_t> open_;
  std::uint32_t next_token_ = 1;
  std::uint64_t events_ = 0;
  std::uint64_t times_ = 0;
  bool is_draining_ = false;
  tandem::event drained_;
};

task<std::uint64_t> run_one(std::uint64_t seed, peers& others) {
  std::uint64_t events = 0;
  const auto body = [&](foreign_loop& loop) -> task<void> {
    reusing_library library(loop, others, seed);
    std::mt19937_64 random(mix(seed));
    for (int i = 0; i < steps_a_round && !::testing::Test::HasFailure(); ++i) {
      library.step();
      if (random() % 4 == 0) co_await tandem::yield();
    }
    co_await library.drain();  // a watch that waits for an old descriptor would wait for ever
    events = library.events();
  };
  co_await with_foreign_loop(body);
  co_return events;
}

TEST(foreign_loop_stress, no_event_reaches_another_descriptor_of_the_same_number) {
  const std::size_t before = open_descriptors();
  std::uint64_t events = 0;
  tandem::test::stress([&](std::mt19937_64& random) {
    tandem::test::test_runtime rt;
    tandem::io::completion_pool& pool =
        tandem::io::install(*rt, tandem::test::threads_between(1, 2));
    pool.resize(2);
    peers others(random());
    // Two libraries, on a thread each: they take numbers from each other.
    auto one = rt->spawn(pool.thread(0).executor(), run_one(random(), others));
    auto other = rt->spawn(pool.thread(1).executor(), run_one(random(), others));
    if (random() % 2 == 0) pool.resize(1);
    events += one.wait();
    events += other.wait();
  });
  EXPECT_GT(events, 0U);
  std::printf("%llu events\n", static_cast<unsigned long long>(events));
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
