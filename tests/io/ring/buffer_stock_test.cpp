// buffer_stock_test.cpp: every receive buffer is somewhere, and whoever waits for one is told.
// SPDX-License-Identifier: MIT
#include "ring/buffer_stock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "io/support/silent_backend.hpp"
#include "ring/thread_slot.hpp"
#include "sanitized.hpp"
#include "seeded.hpp"

namespace {

using tandem::io::detail::receive_buffers;

class hungry final : public tandem::io::hungry_receiver {
 public:
  void go_on() noexcept override { ++went_on; }
  void refuse() noexcept override { ++was_refused; }
  bool is_of(const tandem::executor& thread) const noexcept override { return &thread == home; }

  const tandem::executor* home = nullptr;
  int went_on = 0;
  int was_refused = 0;
};

class buffer_stock : public ::testing::Test {
 protected:
  buffer_stock() : stock_(sleep_, this) {
    sleep_.use(ring_);
    tandem::io::set_current_thread_slot(this);  // this thread is the owner
  }
  ~buffer_stock() override {
    if (is_open_) stock_.close();
    tandem::io::set_current_thread_slot(nullptr);
  }

  void open(unsigned at_once, unsigned most) {
    tandem::io::completion_options options;
    options.receive_buffers = at_once;
    options.max_receive_buffers = most;
    options.receive_buffer_bytes = 16;
    stock_.open(ring_, options);
    is_open_ = true;
  }
  void close() {
    stock_.close();
    is_open_ = false;
  }
  std::uint32_t take() {
    const std::uint32_t index = ring_.use_one();
    stock_.taken();
    return index;
  }

  tandem::test::silent_backend ring_;
  tandem::io::ring_sleep sleep_;
  tandem::io::buffer_stock stock_;

 private:
  bool is_open_ = false;
};

TEST_F(buffer_stock, few_are_touched_as_long_as_few_are_out) {
  open(512, 512);
  EXPECT_EQ(ring_.provided.size(), 16U);
  for (int i = 0; i < 64; ++i) {
    const std::uint32_t index = take();
    EXPECT_LT(index, 16U);
    stock_.buffers().give_back(index);
  }
  EXPECT_EQ(ring_.provided.size(), 16U);
}

TEST_F(buffer_stock, before_the_last_one_is_out_there_are_as_many_again) {
  open(512, 512);
  std::vector<std::uint32_t> out;
  for (int i = 0; i < 512; ++i) {
    ASSERT_FALSE(ring_.provided.empty()) << i;
    out.push_back(take());
  }
  EXPECT_TRUE(ring_.provided.empty());
  std::sort(out.begin(), out.end());
  EXPECT_EQ(std::unique(out.begin(), out.end()), out.end());
  for (const std::uint32_t each : out) stock_.buffers().give_back(each);
  EXPECT_EQ(ring_.provided.size(), 512U);
}

TEST_F(buffer_stock, whoever_finds_none_gets_those_that_were_never_used) {
  open(512, 512);
  // The system has used them all before we heard of the first one.
  const std::vector<std::uint32_t> out = std::exchange(ring_.provided, {});
  hungry waiting;
  for (int i = 0; i < 16; ++i) stock_.taken();
  stock_.starves(waiting);
  stock_.feed();
  EXPECT_EQ(waiting.went_on, 1);
  EXPECT_GE(ring_.provided.size(), 16U);
  for (const std::uint32_t each : out) stock_.buffers().give_back(each);
}

TEST_F(buffer_stock, what_comes_back_on_its_own_thread_is_the_backends_at_once) {
  open(4, 4);
  const std::uint32_t index = take();
  EXPECT_EQ(ring_.provided.size(), 3U);
  stock_.buffers().give_back(index);
  EXPECT_EQ(ring_.provided.back(), index);
}

TEST_F(buffer_stock, what_comes_back_from_another_thread_waits_for_the_next_look) {
  open(4, 4);
  const std::uint32_t index = take();
  std::thread([&] { stock_.buffers().give_back(index); }).join();
  EXPECT_EQ(ring_.provided.size(), 3U);
  stock_.feed();
  EXPECT_EQ(ring_.provided.back(), index);
}

TEST_F(buffer_stock, there_are_as_many_again_when_all_are_taken_and_somebody_waits) {
  open(2, 4);
  const std::uint32_t one = take();
  const std::uint32_t other = take();
  hungry waits;
  stock_.starves(waits);
  stock_.feed();
  EXPECT_EQ(waits.went_on, 1);
  EXPECT_EQ(stock_.buffers().count(), 4U);
  EXPECT_EQ(ring_.provided.size(), 2U);
  stock_.buffers().give_back(one);
  stock_.buffers().give_back(other);
}

TEST_F(buffer_stock,
       beyond_the_limit_whoever_waits_is_told_when_one_comes_back_and_wakes_the_owner) {
  open(2, 2);
  const std::uint32_t one = take();
  const std::uint32_t other = take();
  hungry waits;
  stock_.starves(waits);
  stock_.feed();
  EXPECT_EQ(waits.went_on, 0);
  EXPECT_FALSE(stock_.can_feed());
  sleep_.announce(false);
  std::thread([&] { stock_.buffers().give_back(one); }).join();
  EXPECT_FALSE(sleep_.asleep());
  EXPECT_TRUE(stock_.can_feed());
  stock_.feed();
  EXPECT_EQ(waits.went_on, 1);
  stock_.buffers().give_back(other);
}

TEST_F(buffer_stock, nobody_is_woken_for_a_buffer_that_nobody_waits_for) {
  open(2, 2);
  const std::uint32_t one = take();
  sleep_.announce(false);
  std::thread([&] { stock_.buffers().give_back(one); }).join();
  EXPECT_TRUE(sleep_.asleep());
}

TEST_F(buffer_stock, whoever_stops_waiting_is_not_told) {
  open(2, 2);
  const std::uint32_t one = take();
  const std::uint32_t other = take();
  hungry first, second, third;
  for (hungry* each : {&first, &second, &third}) stock_.starves(*each);
  stock_.stops_starving(second);
  stock_.buffers().give_back(one);
  stock_.feed();
  EXPECT_EQ(first.went_on, 1);
  EXPECT_EQ(second.went_on, 0);
  EXPECT_EQ(third.went_on, 1);
  stock_.buffers().give_back(other);
}

TEST_F(buffer_stock, a_lease_outlives_the_stock) {
  open(2, 2);
  receive_buffers& buffers = stock_.buffers();
  const std::uint32_t one = take();
  const std::uint32_t other = take();
  close();
  buffers.data(one)[0] = std::byte{1};
  buffers.give_back(one);
  buffers.data(other)[0] = std::byte{1};  // AddressSanitizer: still there
  buffers.give_back(other);               // LeakSanitizer: now it is gone
}

TEST_F(buffer_stock, no_buffer_is_lost_or_doubled_whoever_gives_them_back) {
  const std::uint64_t seed = tandem::test::stress_seed();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  constexpr unsigned most = 16;
  open(8, most);
  hungry waits;
  std::vector<std::uint32_t> out;
  for (int round = 0; round < 300; ++round) {
    for (std::size_t wanted = random() % 8; wanted > 0 && !ring_.provided.empty(); --wanted) {
      out.push_back(take());
    }
    std::shuffle(out.begin(), out.end(), random);
    const auto middle = out.begin() + static_cast<std::ptrdiff_t>(random() % (out.size() + 1));
    std::vector<std::uint32_t> elsewhere(middle, out.end());
    out.erase(middle, out.end());
    std::thread other([&] {
      for (const std::uint32_t each : elsewhere) stock_.buffers().give_back(each);
    });
    if (!out.empty()) {
      stock_.buffers().give_back(out.back());
      out.pop_back();
    }
    const int before = waits.went_on;
    stock_.starves(waits);
    stock_.feed();
    other.join();
    if (waits.went_on == before) stock_.stops_starving(waits);
    stock_.feed();
    ASSERT_LE(ring_.provided.size(), 8U) << "it has room for no more";
  }
  for (const std::uint32_t each : out) stock_.buffers().give_back(each);
  std::vector<bool> seen(stock_.buffers().count());
  for (std::size_t i = stock_.buffers().count(); i > 0; --i) {
    const std::uint32_t index = take();
    ASSERT_FALSE(seen[index]);
    seen[index] = true;
  }
  for (std::uint32_t i = 0; i < seen.size(); ++i) stock_.buffers().give_back(i);
  EXPECT_EQ(waits.was_refused, 0);
}

// AddressSanitizer: whoever gives back while the stock goes has nothing of it in hand.
TEST(buffer_stock_end, a_lease_may_end_while_the_stock_goes) {
  constexpr int rounds = tandem::test::sanitized ? 3000 : 300;
  tandem::test::silent_backend ring;
  tandem::io::ring_sleep sleep;
  sleep.use(ring);
  tandem::io::completion_options options;
  options.receive_buffers = options.max_receive_buffers = 1024;
  options.receive_buffer_bytes = 1;
  for (int round = 0; round < rounds; ++round) {
    ring.provided.clear();
    auto stock = std::make_unique<tandem::io::buffer_stock>(sleep, &ring);
    stock->open(ring, options);
    receive_buffers& buffers = stock->buffers();
    for (unsigned i = 0; i < options.receive_buffers; ++i) {
      (void)ring.use_one();
      stock->taken();
    }
    std::atomic<std::uint32_t> given{0};
    std::thread other([&] {
      for (std::uint32_t i = 0; i < options.receive_buffers; ++i) {
        given.store(i, std::memory_order_relaxed);
        buffers.give_back(i);
      }
    });
    while (given.load(std::memory_order_relaxed) < 20) std::this_thread::yield();
    stock->close();
    stock.reset();
    other.join();
  }
}

}  // namespace
