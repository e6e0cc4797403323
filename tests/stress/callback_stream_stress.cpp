// callback_stream_stress.cpp: streams that come and go while four threads call: no value is lost or comes late.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <tandem/as_result.hpp>
#include <tandem/callback_stream.hpp>
#include <tandem/from_callback.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>

#include "seeded.hpp"
#include "spin.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::callback;
using tandem::overflow_policy;
using tandem::task;

constexpr int tasks = 6;
constexpr int streams_a_task = 20;
constexpr std::size_t lanes = 4;

/// Which call of which thread; those that live are counted.
class sample {
 public:
  sample(std::size_t from, std::uint64_t at) noexcept : lane(from), number(at) { ++alive; }
  sample(const sample& other) noexcept : lane(other.lane), number(other.number) { ++alive; }
  sample& operator=(const sample&) = delete;
  ~sample() { --alive; }

  std::size_t lane;
  std::uint64_t number;
  static inline std::atomic<int> alive{0};
};
using on_sample = callback<void(sample)>;

std::atomic<std::uint64_t> calls_made{0};
std::atomic<std::uint64_t> calls_converted{0};

/// A library with four threads, each of which calls everybody who listens, again and again; also
/// whoever has just ceased to.
class foreign_bus {
 public:
  /// In C: a function and a number, which is freed while other threads may use it.
  struct c_handle {
    on_sample::function function = nullptr;
    void* data = nullptr;
    on_sample::drop_function drop = nullptr;
  };

  foreign_bus() {
    for (std::size_t i = 0; i < lanes; ++i) {
      lanes_[i].thread = std::thread([this, i] { work(lanes_[i], i); });
    }
  }
  foreign_bus(const foreign_bus&) = delete;
  foreign_bus& operator=(const foreign_bus&) = delete;
  ~foreign_bus() {
    for (lane& each : lanes_) each.over = true;
    for (lane& each : lanes_) each.thread.join();
  }

  void listen(const void* id, const on_sample& one) { add({id, one, {}, 0}); }
  void listen(const void* id, const c_handle& one) { add({id, {}, one, 0}); }
  void ignore(const void* id, const c_handle& also) {
    if (also.drop != nullptr) also.drop(also.data);
    for (lane& each : lanes_) each.remove(id);
  }
  /// The threads themselves do it, and say so.
  task<void> ignore_and_wait(const void* id, const c_handle& also) {
    for (lane& each : lanes_) {
      co_await tandem::from_callback<void()>([&](callback<void()> done) {
        const std::lock_guard guard(each.lock);
        each.leaving.push_back({id, std::move(done)});
      });
    }
    if (also.drop != nullptr) also.drop(also.data);
  }

 private:
  struct listener {
    const void* id;
    std::optional<on_sample> one;
    c_handle or_in_c;
    std::uint64_t calls;

    void call(std::size_t lane) const {
      ++calls_made;
      if (one) {
        (*one)(sample(lane, calls));
      } else {
        or_in_c.function(sample(lane, calls), or_in_c.data);
      }
    }
  };
  struct leaver {
    const void* id;
    callback<void()> done;
  };
  struct lane {
    std::mutex lock;
    std::vector<listener> listeners;
    std::vector<leaver> leaving;
    std::atomic<bool> over{false};
    std::thread thread;

    void remove(const void* id) {
      std::vector<listener> gone;  // a callback that dies ends a stream: not under the lock
      const std::lock_guard guard(lock);
      const auto kept = std::partition(listeners.begin(), listeners.end(),
                                       [id](const listener& each) { return each.id != id; });
      gone.assign(kept, listeners.end());
      listeners.erase(kept, listeners.end());
    }
  };

  void add(const listener& one) {
    for (lane& each : lanes_) {
      const std::lock_guard guard(each.lock);
      each.listeners.push_back(one);
    }
  }
  static void work(lane& mine, std::size_t number) {
    while (!mine.over) {
      std::vector<listener> now;
      std::vector<leaver> leaving;
      {
        const std::lock_guard guard(mine.lock);
        for (listener& each : mine.listeners) ++each.calls;
        now = mine.listeners;
        leaving.swap(mine.leaving);
      }
      for (const leaver& each : leaving) {
        mine.remove(each.id);
        each.done();
      }
      for (const listener& each : now) each.call(number);
      std::this_thread::yield();  // not only calls
    }
  }

  std::array<lane, lanes> lanes_;
};

/// How a use ends.
enum class ending : std::uint8_t { leaves, throws, drains };

struct plan {
  explicit plan(std::mt19937_64& random)
      : capacity(random() % 8),
        policy(static_cast<overflow_policy>(random() % 3)),
        end(static_cast<ending>(random() % 3)),
        takes(random() % 20),
        unsubscribes(random() % 2 == 0),
        waits(random() % 2 == 0),
        in_c(random() % 2 == 0) {}
  std::size_t capacity;
  overflow_policy policy;
  ending end;
  std::uint64_t takes;
  bool unsubscribes;  // itself; else the library's copies stay until the stream has ended
  bool waits;         // for the library's threads, to unsubscribe
  bool in_c;
};

struct counts {
  std::atomic<std::uint64_t> streams{0};
  std::atomic<std::uint64_t> taken{0};
  std::atomic<std::uint64_t> dropped{0};
  std::atomic<std::uint64_t> overflows{0};
  std::atomic<std::uint64_t> drained{0};
  std::atomic<std::uint64_t> stopped{0};
};

/// One stream: what its conversion counts lies in this frame, so a call after the end is one of
/// memory that is gone.
class listening {
 public:
  listening(foreign_bus& bus, plan chosen, counts& all) : bus_(bus), plan_(chosen), all_(all) {}

  task<void> run() {
    ++all_.streams;
    const auto subscribe = [this](const on_sample& one) {
      if (plan_.in_c) {
        in_c_ = {one.c_function(), one.c_data(), one.c_drop()};
        bus_.listen(this, in_c_);
      } else {
        bus_.listen(this, one);
      }
      return [this] { return unsubscribe(); };
    };
    const auto convert = [this](const sample& given) {
      ++converted_;
      ++calls_converted;
      return given;
    };
    const auto use = [this](auto& values) { return take(values); };
    const auto end = co_await tandem::as_result(tandem::with_callbacks(
        tandem::callback_stream<sample>(plan_.capacity, plan_.policy, subscribe, convert), use));
    bus_.ignore(this, in_c_);  // calls that come until here were late
    if (end.is_cancelled()) ++all_.stopped;
  }

 private:
  task<void> unsubscribe() {
    if (!plan_.unsubscribes) co_return;
    if (plan_.waits) {
      co_await bus_.ignore_and_wait(this, in_c_);
    } else {
      bus_.ignore(this, in_c_);
    }
  }
  task<void> take(tandem::callback_values<sample>& values) {
    std::uint64_t taken = 0;
    std::array<std::uint64_t, lanes> last{};
    while (true) {
      if (taken == plan_.takes && plan_.end != ending::drains) break;
      if (taken == plan_.takes) bus_.ignore(this, in_c_);
      auto next = co_await tandem::as_result(values.next());
      if (!next && next.is_cancelled()) (void)std::move(next).value();
      if (!next) {
        EXPECT_EQ(next.error(), tandem::errc::callback_overflow);
        EXPECT_EQ(plan_.policy, overflow_policy::fail);
        ++all_.overflows;
        break;
      }
      const std::optional<sample>& one = next.value();
      if (!one) {
        // It ends when the last call is over: each has brought a value, or was dropped.
        EXPECT_EQ(taken + values.dropped(), converted_);
        ++all_.drained;
        break;
      }
      EXPECT_GT(one->number, last[one->lane]);  // a thread's calls stay in their order
      last[one->lane] = one->number;
      ++taken;
      ++all_.taken;
    }
    all_.dropped += values.dropped();
    if (plan_.end == ending::throws) throw std::runtime_error("enough");
  }

  foreign_bus& bus_;
  plan plan_;
  counts& all_;
  foreign_bus::c_handle in_c_;
  std::atomic<std::uint64_t> converted_{0};
};

task<void> listen_once(foreign_bus& bus, plan chosen, counts& all) {
  listening one(bus, chosen, all);
  co_await one.run();
}

task<void> listen_many(foreign_bus& bus, std::uint64_t seed, counts& all) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < streams_a_task; ++i) {
    const plan chosen(random);
    if (random() % 3 != 0) {
      co_await listen_once(bus, chosen, all);
      continue;
    }
    auto stopped = tandem::spawn(listen_once(bus, chosen, all));
    tandem::test::spin(random() % 20'000);
    stopped.cancel();
    (void)co_await tandem::as_result(std::move(stopped));
  }
}

TEST(callback_stream_stress, each_call_is_a_value_or_dropped_or_late_whatever_ends_the_stream) {
  counts all;
  const std::uint64_t late_before = tandem::late_callbacks();
  tandem::test::stress([&](std::mt19937_64& random) {
    tandem::test::test_runtime rt(tandem::test::with_threads(4));
    {
      foreign_bus bus;
      rt.run([](foreign_bus& of, std::uint64_t seed, counts& sums) -> task<void> {
        co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
          for (int i = 0; i < tasks; ++i) {
            scope.spawn(listen_many(of, seed + static_cast<std::uint64_t>(i), sums));
          }
          co_await scope.join();
        });
      }(bus, random(), all));
    }
    EXPECT_EQ(calls_made, calls_converted + tandem::late_callbacks() - late_before);
    EXPECT_EQ(sample::alive, 0);
    EXPECT_EQ(tandem::detail::callback_slots_in_use(), 0U);
  });
  EXPECT_GT(all.drained, 0U);
  EXPECT_GT(all.overflows, 0U);
  std::printf(
      "%llu streams (%llu drained, %llu overflowed, %llu stopped), %llu calls: %llu taken, "
      "%llu dropped, %llu late\n",
      static_cast<unsigned long long>(all.streams), static_cast<unsigned long long>(all.drained),
      static_cast<unsigned long long>(all.overflows), static_cast<unsigned long long>(all.stopped),
      static_cast<unsigned long long>(calls_made), static_cast<unsigned long long>(all.taken),
      static_cast<unsigned long long>(all.dropped),
      static_cast<unsigned long long>(tandem::late_callbacks() - late_before));
}

}  // namespace
