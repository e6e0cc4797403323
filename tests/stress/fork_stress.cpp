// fork_stress.cpp: random trees of forks whose children fail, suspend, move, block or are stopped.
// SPDX-License-Identifier: MIT
//
// The laws: when a parent goes on, all its children have begun, and their frames and arguments are
// gone; results are those of the serial recursion; every run ends; afterwards no object is alive.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <random>
#include <tandem/as_result.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/parallel_invoke.hpp>
#include <tandem/sleep.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "planned_failure.hpp"
#include "seeded.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::mix;
using tandem::test::planned_failure;
using tandem::test::stress;
using tandem::test::test_runtime;

/// A run's counts, and how rough it is.
struct forest {
  std::atomic<long> objects{0};  // alive
  std::atomic<long> broken{0};   // joins that let their parent go on too early
  unsigned failure_per_mille = 0;
  bool timeouts = false;
};

/// A result: counts itself, cannot be copied.
class fruit {
 public:
  fruit(forest& all, long value) : all_(&all), value_(value) { ++all_->objects; }
  fruit(fruit&& other) noexcept : all_(other.all_), value_(other.value_) { ++all_->objects; }
  fruit& operator=(fruit&&) = delete;
  ~fruit() { --all_->objects; }
  long value() const { return value_; }

 private:
  forest* all_;
  long value_;
};

/// What a parent knows of the children of one fork.
struct brood {
  std::atomic<int> alive{0};  // frames or their arguments
  std::atomic<int> begun{0};
};

/// An argument of a child: alive as long as its frame.
class token {
 public:
  token(forest& all, brood& of) : all_(&all), brood_(&of) {
    ++all_->objects;
    ++brood_->alive;
  }
  token(token&& other) noexcept : token(*other.all_, *other.brood_) {}
  token& operator=(token&&) = delete;
  ~token() {
    --all_->objects;
    --brood_->alive;
  }
  void begin() const { ++brood_->begun; }

 private:
  forest* all_;
  brood* brood_;
};

/// Its scope is left after the join, by a value or by an exception: then `children` have begun and
/// none is left.
class joined {
 public:
  joined(forest& all, brood& of, int children) : all_(all), brood_(of), children_(children) {}
  ~joined() {
    if (brood_.alive != 0 || brood_.begun != children_) ++all_.broken;
  }
  joined(const joined&) = delete;
  joined& operator=(const joined&) = delete;

 private:
  forest& all_;
  brood& brood_;
  int children_;
};

// A tree is a function of its seed: what each node does is read from the bits of its own.
enum class shape : std::uint8_t { leaf, pair, triple, range, array, call, plain };

struct plan {
  explicit plan(std::uint64_t s, int depth) : seed(mix(s)) {
    static constexpr std::array<shape, 8> shapes = {shape::pair,   shape::pair,  shape::pair,
                                                    shape::triple, shape::range, shape::array,
                                                    shape::call,   shape::plain};
    form = depth == 0 ? shape::leaf : shapes[seed % shapes.size()];
  }
  std::uint64_t child(int i) const { return seed + static_cast<std::uint64_t>(i) + 1; }
  int children() const {
    switch (form) {
      case shape::leaf:
      case shape::plain: return 0;
      case shape::call: return 1;
      case shape::pair: return 2;
      case shape::range: return static_cast<int>((seed >> 8) % 5);
      default: return 3;
    }
  }
  std::uint64_t seed;
  shape form;
};

/// What a tree yields if nothing fails.
long serially(std::uint64_t seed, int depth) {
  const plan here(seed, depth);
  if (here.form == shape::plain) return 1 + (1L << depth);
  long sum = 1;
  for (int i = 0; i < here.children(); ++i) sum += serially(here.child(i), depth - 1);
  return sum;
}

/// Plain recursion, with a frame of its own on the stack for each call.
long plain(forest& all, std::uint64_t seed, int depth) {
  const std::uint64_t dice = mix(seed);
  if (dice % 1000 < all.failure_per_mille) throw planned_failure();
  if (depth == 0) return 1;
  brood calls;
  const auto call = [&](std::uint64_t i) {
    const token here(all, calls);
    return plain(all, dice + i, depth - 1);
  };
  const joined check(all, calls, 0);
  const auto [a, b] = tandem::parallel_invoke([&] { return call(1); }, [&] { return call(2); });
  return a + b;
}

task<fruit> branch(forest& all, token self, std::uint64_t seed, int depth) {
  self.begin();
  const plan here(seed, depth);
  const std::uint64_t dice = mix(here.seed);
  if (dice % 1000 < all.failure_per_mille) throw planned_failure();
  switch ((dice >> 16) % 16) {
    case 0: co_await tandem::yield(); break;
    case 1: co_await tandem::sleep_for(std::chrono::microseconds((dice >> 24) % 100)); break;
    default: break;
  }
  long sum = 1;
  brood children;
  const joined check(all, children, here.children());
  const auto child = [&](int i) {
    return branch(all, token(all, children), here.child(i), depth - 1);
  };
  switch (here.form) {
    case shape::leaf: break;
    case shape::pair: {
      auto [a, b] = co_await tandem::fork_join(child(0), child(1));
      sum += a.value() + b.value();
      break;
    }
    case shape::triple: {
      auto [a, b, c] = co_await tandem::fork_join(child(0), child(1), child(2));
      sum += a.value() + b.value() + c.value();
      break;
    }
    case shape::range: {
      std::vector<task<fruit>> tasks;
      for (int i = 0; i < here.children(); ++i) tasks.push_back(child(i));
      for (const fruit& each : co_await tandem::fork_join(std::move(tasks))) sum += each.value();
      break;
    }
    case shape::array: {
      std::array<task<fruit>, 3> tasks{child(0), child(1), child(2)};
      for (const fruit& each : co_await tandem::fork_join(std::move(tasks))) sum += each.value();
      break;
    }
    case shape::call:
      if (all.timeouts) {
        const auto limit = std::chrono::microseconds((dice >> 32) % 300);
        auto got = co_await tandem::as_result(tandem::with_timeout(limit, child(0)));
        if (got.has_value()) sum += got.value().value();
      } else {
        const fruit got = co_await child(0);
        sum += got.value();
      }
      break;
    case shape::plain: sum += plain(all, dice, depth); break;
  }
  co_return fruit(all, sum);
}

/// Ten trees at a time, on 1 to 4 workers.
void grow_trees(unsigned failure_per_mille, bool stops) {
  stress([&](std::mt19937_64& random) {
    const auto threads = static_cast<unsigned>(1 + random() % 4);
    SCOPED_TRACE(testing::Message() << threads << " workers");
    tandem::runtime_options options = tandem::test::with_threads(threads);
    options.on_suppressed_exception = [](const std::exception_ptr&) {};
    options.on_unhandled_exception = [](const std::exception_ptr&) {};
    test_runtime rt(options);
    forest all;
    all.failure_per_mille = failure_per_mille;
    all.timeouts = stops;
    brood roots;
    for (int i = 0; i < 10; ++i) {
      const std::uint64_t seed = random();
      const int depth = static_cast<int>(3 + random() % 5);
      auto handle = rt->spawn(branch(all, token(all, roots), seed, depth));
      if (stops && random() % 4 == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
        (void)handle.cancel();
      }
      try {
        const fruit got = handle.wait();
        if (failure_per_mille == 0 && !stops) {
          ASSERT_EQ(got.value(), serially(seed, depth));
        }
      } catch (const planned_failure&) {
        ASSERT_NE(failure_per_mille, 0U);
      } catch (const tandem::operation_cancelled&) {
        ASSERT_TRUE(stops);
      }
    }
    ASSERT_TRUE(rt->drain(60s));
    EXPECT_EQ(rt->live_tasks(), 0U);
    EXPECT_EQ(all.broken.load(), 0);
    EXPECT_EQ(all.objects.load(), 0);
    EXPECT_EQ(roots.alive.load(), 0);  // one that was stopped first may never have begun
  });
}

TEST(fork_join, trees_yield_what_serial_recursion_yields) { grow_trees(0, false); }
TEST(fork_join, trees_that_fail_end_all_their_children_first) { grow_trees(10, false); }
TEST(fork_join, trees_that_are_stopped_end_all_their_children_first) { grow_trees(0, true); }
TEST(fork_join, trees_that_fail_and_are_stopped_leave_nothing_behind) { grow_trees(10, true); }

}  // namespace
