// parallel_for_test.cpp: every item once, failures, stops, suspending bodies, nesting, any home.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <tandem/parallel_for.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "runtime/fork/parallel_support.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::parallel_for;
using tandem::task;
using tandem::test::broken_item;
using tandem::test::counted_number;
using tandem::test::test_runtime;

constexpr std::size_t huge_grain = std::numeric_limits<std::size_t>::max();

TEST(parallel_for, every_item_is_visited_once_whatever_the_size_and_the_grain) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    test_runtime rt(threads);
    rt.run([]() -> task<void> {
      for (const std::size_t size : {0U, 1U, 2U, 3U, 31U, 32U, 33U, 64U, 1000U, 100'003U}) {
        for (const std::size_t grain :
             {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{4096}, huge_grain}) {
          std::vector<std::atomic<int>> visits(size);
          co_await parallel_for(std::size_t{0}, size, [&](std::size_t i) { ++visits[i]; }, grain);
          for (const auto& each : visits) EXPECT_EQ(each.load(), 1) << size << " by " << grain;
        }
      }
    }());
  }
}

TEST(parallel_for, takes_integers_of_any_type_up_to_their_limits) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::atomic<int> visits{0};
    std::atomic<long> sum{0};
    co_await parallel_for(std::int8_t{-128}, std::int8_t{127}, [&](std::int8_t i) {
      ++visits;
      sum += i;
    });
    EXPECT_EQ(visits.load(), 255);
    EXPECT_EQ(sum.load(), -128 - 127);
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    std::atomic<std::uint64_t> bits{0};
    co_await parallel_for(most - 40, most,
                          [&](std::uint64_t i) { bits |= std::uint64_t{1} << (most - i); });
    EXPECT_EQ(bits.load(), (std::uint64_t{1} << 41U) - 2);
    visits = 0;
    co_await parallel_for(5, -5, [&](int) { ++visits; });
    EXPECT_EQ(visits.load(), 0);
    const std::vector<int> three(3);
    co_await parallel_for(0, three.size(), [&](std::size_t) { ++visits; });
    EXPECT_EQ(visits.load(), 3);
  }());
}

TEST(parallel_for, takes_ranges_views_and_iterators_that_are_no_pointers) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::vector<int> numbers(10'000, 1);
    co_await parallel_for(numbers, [](int& x) { x += 1; });
    co_await parallel_for(std::span<int>(numbers).first(5000), [](int& x) { x += 1; });
    co_await parallel_for(numbers.begin(), numbers.begin() + 100, [](int& x) { x += 1; }, 9);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_EQ(numbers[i], 2 + (i < 5000 ? 1 : 0) + (i < 100 ? 1 : 0));
    }
    std::deque<std::unique_ptr<int>> boxes(3000);
    co_await parallel_for(boxes, [](std::unique_ptr<int>& box) { box = std::make_unique<int>(4); });
    for (const auto& box : boxes) EXPECT_EQ(*box, 4);
  }());
}

TEST(parallel_for, a_body_of_two_bounds_gets_adjoining_pieces_of_the_grain) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::vector<std::atomic<int>> visits(1000);
    std::atomic<int> pieces{0};
    co_await parallel_for(
        0, 1000,
        [&](int first, int last) {
          EXPECT_TRUE(last - first == 64 || last == 1000) << first << ' ' << last;
          ++pieces;
          for (int i = first; i != last; ++i) ++visits[static_cast<std::size_t>(i)];
        },
        64);
    EXPECT_EQ(pieces.load(), 16);
    for (const auto& each : visits) EXPECT_EQ(each.load(), 1);
    std::vector<int> numbers(50'000, 1);
    co_await parallel_for(numbers, [](auto first, auto last) {
      for (; first != last; ++first) *first += 1;
    });
    EXPECT_EQ(numbers, std::vector<int>(50'000, 2));
  }());
}

TEST(parallel_for, one_item_or_a_grain_over_the_size_makes_no_task) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto self = std::this_thread::get_id();
    const auto here = [&](int) { EXPECT_EQ(std::this_thread::get_id(), self); };
    co_await parallel_for(0, 1, here);
    co_await parallel_for(0, 100, here, 100);
  }());
}

// Both items wait for each other: this hangs if one of them runs before the other is shared out.
TEST(parallel_for, a_few_items_are_shared_out_at_once) {
  test_runtime rt(2);
  rt.run([]() -> task<void> {
    std::atomic<int> there{0};
    co_await parallel_for(0, 2, [&](int) {
      ++there;
      while (there.load() != 2) std::this_thread::yield();
    });
  }());
}

// Cheap items first, then a lump of costly ones that all fit into one leaf as measured. As long as
// one thread alone has run items of the lump each gives the other one time to come. (One item must
// not wait forever: what its thread forked before is shared out at its next fork, after the item.)
TEST(parallel_for, a_lump_of_costly_items_is_shared_out_wherever_it_lies) {
  test_runtime rt(2);
  for (const int lump : {0, 5000, 9000}) {
    rt.run([](int costly) -> task<void> {
      std::mutex mutex;
      std::set<std::thread::id> threads;
      const auto seen = [&] {
        const std::lock_guard lock(mutex);
        threads.insert(std::this_thread::get_id());
        return threads.size();
      };
      co_await parallel_for(0, 10'000, [&](int i) {
        if (i < costly || i >= costly + 1000) return;
        const auto began = std::chrono::steady_clock::now();
        const auto waited = [&] { return std::chrono::steady_clock::now() - began; };
        while (waited() < 10us) {}
        while (seen() < 2 && waited() < 20ms) std::this_thread::yield();
      });
      // More than two if the pool has replaced a worker that it took for blocked.
      EXPECT_GE(threads.size(), 2U) << "the lump at " << costly << " was run by one thread";
    }(lump));
  }
}

TEST(parallel_for, the_first_failure_is_rethrown_after_all_pieces_and_the_rest_is_left_out) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    for (const std::size_t grain : {0U, 1U, 100U}) {
      tandem::runtime_options options = tandem::test::with_threads(threads);
      options.on_suppressed_exception = [](const std::exception_ptr&) {};
      test_runtime rt(options);
      rt.run([](std::size_t pieces) -> task<void> {
        std::atomic<int> inside{0};
        std::atomic<int> begun{0};
        try {
          co_await parallel_for(
              0, 1'000'000,
              [&](int i) {
                ++begun;
                ++inside;
                const bool fails = i % 1000 == 777;
                --inside;
                if (fails) throw broken_item(i);
              },
              pieces);
          ADD_FAILURE() << "nothing was thrown";
        } catch (const broken_item& e) {
          EXPECT_EQ(e.item % 1000, 777);
        }
        EXPECT_EQ(inside.load(), 0);
        EXPECT_LT(begun.load(), 1'000'000);
      }(grain));
    }
  }
}

TEST(parallel_for, failures_deep_in_nested_loops_leave_nothing_behind) {
  tandem::runtime_options options = tandem::test::with_threads(2);
  std::atomic<int> suppressed{0};
  options.on_suppressed_exception = [&](const std::exception_ptr&) { ++suppressed; };
  test_runtime rt(options);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> thrown{0};
    const int before = suppressed.load();
    rt.run([](std::atomic<int>& count) -> task<void> {
      const auto inner = [&count](int row) -> task<void> {
        counted_number number(row);
        co_await parallel_for(0, 50, [&, row](int column) -> task<void> {
          counted_number other(column);
          if (column % 7 == 3) co_await tandem::yield();
          if (row % 10 == 7 && column == 41) {
            ++count;
            throw broken_item(row);
          }
        });
      };
      try {
        co_await parallel_for(0, 50, inner);
        ADD_FAILURE() << "nothing was thrown";
      } catch (const broken_item& e) {
        EXPECT_EQ(e.item % 10, 7);
      }
      EXPECT_EQ(counted_number::alive.load(), 0);
    }(thrown));
    // Each exception reached somebody: one was rethrown, the others were reported.
    EXPECT_EQ(thrown.load(), 1 + suppressed.load() - before);
  }
}

TEST(parallel_for, a_stop_leaves_out_the_pieces_that_have_not_begun) {
  test_runtime rt;
  for (const std::size_t grain : {std::size_t{0}, std::size_t{1}, std::size_t{100}}) {
    rt.run([](std::size_t pieces) -> task<void> {
      std::atomic<int> begun{0};
      bool thrown = false;
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        try {
          co_await parallel_for(
              0, 10'000'000,
              [&](int) {
                if (++begun == 1000) scope.request_stop();
              },
              pieces);
        } catch (const tandem::operation_cancelled& e) {
          EXPECT_EQ(e.reason(), tandem::stop_reason::user);
          thrown = true;
        }
      });
      EXPECT_TRUE(thrown);
      EXPECT_LT(begun.load(), 10'000'000);
    }(grain));
  }
}

TEST(parallel_for, in_a_stopped_task_nothing_begins) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    int begun = 0;
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.request_stop();
      EXPECT_THROW(co_await parallel_for(0, 1, [&](int) { ++begun; }), tandem::operation_cancelled);
      EXPECT_THROW(
          co_await parallel_for(0, 1000, [&](int) { ++begun; }, 1), tandem::operation_cancelled);
    });
    EXPECT_EQ(begun, 0);
  }());
}

TEST(parallel_for, bodies_that_suspend_all_wait_at_once) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::atomic<int> waiting{0};
    constexpr int items = 2000;
    // Nobody goes on before all have arrived.
    co_await parallel_for(0, items, [&](int) -> task<void> {
      ++waiting;
      while (waiting.load() != items) co_await tandem::sleep_for(100us);
    });
    EXPECT_EQ(waiting.load(), items);
  }());
}

TEST(parallel_for, a_grain_bounds_how_many_bodies_wait_at_once) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    std::vector<std::atomic<int>> visits(100);
    co_await parallel_for(
        0, 100,
        [&](int i) -> task<void> {
          const int now = ++inside;
          for (int seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {}
          ++visits[static_cast<std::size_t>(i)];
          co_await tandem::yield();
          --inside;
        },
        25);
    EXPECT_LE(most.load(), 4);
    for (const auto& each : visits) EXPECT_EQ(each.load(), 1);
  }());
}

TEST(parallel_for, a_stop_reaches_what_bodies_wait_for) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    try {
      co_await tandem::with_timeout(5ms, []() -> task<void> {
        co_await parallel_for(0, 300, [](int i) -> task<void> {
          const counted_number number(i);
          co_await tandem::sleep_for(1h);
        });
      }());
      ADD_FAILURE() << "the timeout did not stop the loop";
    } catch (const tandem::operation_cancelled& e) {
      EXPECT_EQ(e.reason(), tandem::stop_reason::deadline);
    }
    EXPECT_EQ(counted_number::alive.load(), 0);
  }());
}

TEST(parallel_for, loops_nest) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    test_runtime rt(threads);
    rt.run([]() -> task<void> {
      std::vector<std::atomic<int>> cells(60 * 600);
      const auto row = [&cells](int y) -> task<void> {
        co_await parallel_for(
            0, 600, [&cells, y](int x) { ++cells[static_cast<std::size_t>(y * 600 + x)]; });
      };
      co_await parallel_for(0, 60, row);
      for (const auto& each : cells) EXPECT_EQ(each.load(), 1);
    }());
  }
}

// The loop would take years. It ends when everything posted meanwhile has run.
TEST(parallel_for, a_long_loop_on_all_workers_serves_what_is_posted_meanwhile) {
  for (const unsigned threads : {1U, 2U}) {
    tandem::runtime_options options = tandem::test::with_threads(threads);
    options.on_suppressed_exception = [](const std::exception_ptr&) {};
    test_runtime rt(options);
    std::atomic<bool> over{false};
    std::atomic<bool> runs{false};
    auto running = rt->spawn([](std::atomic<bool>& end, std::atomic<bool>& begun) -> task<void> {
      co_await parallel_for(std::int64_t{0}, std::int64_t{1} << 60, [&](std::int64_t i) {
        begun.store(true, std::memory_order_relaxed);
        if (end.load(std::memory_order_relaxed)) throw broken_item(i);
      });
    }(over, runs));
    while (!runs.load()) std::this_thread::yield();
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(rt->spawn([](int x) -> task<int> {
                    co_await tandem::yield();
                    co_return x;
                  }(i))
                    .wait(),
                i);
    }
    over.store(true);
    EXPECT_THROW(running.wait(), broken_item);
  }
}

TEST(parallel_for, runs_at_any_home_and_comes_back_to_it) {
  test_runtime rt;
  tandem::test::lone_executor lone(*rt);
  const long sum = tandem::sync_wait(lone, [](tandem::executor& home) -> task<long> {
    std::vector<long> numbers(200'000, 1);
    co_await parallel_for(
        numbers,
        [&](long& x) {
          EXPECT_TRUE(home.is_current());
          ++x;
        },
        1000);
    EXPECT_TRUE(home.is_current());
    co_await parallel_for(0, 100, [&](int i) -> task<void> {
      co_await tandem::resume_on(tandem::current_environment()->runtime()->workers());
      ++numbers[static_cast<std::size_t>(i)];
    });
    EXPECT_TRUE(home.is_current());
    co_await parallel_for(numbers, [](long& x) { ++x; });
    EXPECT_TRUE(home.is_current());
    long total = 0;
    for (const long each : numbers) total += each;
    co_return total;
  }(lone));
  EXPECT_EQ(sum, 200'000 * 3 + 100);
}

TEST(parallel_for, keeps_its_body_alive_and_destroys_it_once) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto token = std::make_shared<int>(7);
    std::atomic<int> sum{0};
    const auto body = [token, &sum](int) { sum += *token; };
    co_await parallel_for(0, 1000, body, 10);
    const std::function<void(int)> erased = body;
    co_await parallel_for(0, 1000, erased, 10);
    EXPECT_EQ(sum.load(), 14'000);
    EXPECT_EQ(token.use_count(), 3);
  }());
}

}  // namespace
