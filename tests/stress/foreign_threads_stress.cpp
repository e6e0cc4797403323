// foreign_threads_stress.cpp: other threads beside a runtime on a virtual clock: nobody calls it stalled.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <tandem/clock.hpp>
#include <tandem/detail/clock_hold.hpp>
#include <tandem/errors.hpp>
#include <tandem/executor.hpp>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <tandem/single_thread_executor.hpp>
#include <tandem/strand.hpp>
#include <tandem/virtual_time.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "seeded.hpp"
#include "spin.hpp"

namespace {

using tandem::runtime;
using tandem::task;
using tandem::test::spin;

tandem::runtime_options simulated(std::uint64_t seed) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(seed, 2);
  return options;
}

task<void> nothing() { co_return; }

/// A thread that is always awake, and holds the clock as whoever posts to a runtime has to.
class wakeful_thread final : public tandem::executor {
 public:
  explicit wakeful_thread(runtime& owner) : owner_(owner), thread_([this] { work(); }) {}
  ~wakeful_thread() override {
    over_ = true;
    thread_.join();
  }

  void post(tandem::job* item, tandem::post_kind /*kind*/) noexcept override {
    tandem::detail::hold_clock(owner_);
    tandem::job* none = nullptr;
    while (!item_.compare_exchange_weak(none, item)) none = nullptr;
  }
  void post_batch(tandem::job_list items, tandem::post_kind kind) noexcept override {
    while (tandem::job* const item = items.pop_front()) post(item, kind);
  }
  bool is_current() const noexcept override {
    return thread_.get_id() == std::this_thread::get_id();
  }
  runtime* owner() const noexcept override { return &owner_; }
  std::string_view name() const noexcept override { return "wakeful"; }

 private:
  void work() {
    while (!over_) {
      tandem::job* const item = item_.exchange(nullptr);
      if (item == nullptr) continue;
      tandem::detail::this_thread().current_executor = this;
      tandem::detail::this_thread().env = item->env;
      item->run(item);
      tandem::detail::this_thread().env = nullptr;
      tandem::detail::this_thread().current_executor = nullptr;
      tandem::detail::release_clock(owner_);
    }
  }

  runtime& owner_;
  std::atomic<tandem::job*> item_{nullptr};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

TEST(foreign_threads, a_wait_that_another_thread_ends_is_never_called_stalled) {
  std::uint64_t waits = 0;
  tandem::test::stress([&](std::mt19937_64& random) {
    runtime rt(simulated(random()));
    wakeful_thread elsewhere(rt);
    for (int i = 0; i < 2000; ++i, ++waits) {
      auto handle = rt.spawn(elsewhere, nothing());
      spin(random() % 64);
      try {
        handle.wait();
      } catch (const tandem::stalled& wrong) {
        FAIL() << "wait " << waits << ": " << wrong.what();
      }
    }
  });
  std::printf("%llu waits\n", static_cast<unsigned long long>(waits));
}

/// Threads that start tasks as long as they may, while the runtime ends.
template <class Start>
void end_while_others(std::mt19937_64& random, Start start) {
  runtime rt(simulated(random()));
  std::atomic<unsigned> begun{0};
  std::vector<std::thread> others;
  for (int i = 0; i < 2; ++i) {
    others.emplace_back([&] {
      try {
        for (bool first = true;; first = false) {
          start(rt);
          if (first) ++begun;
        }
      } catch (const tandem::runtime_stopped&) {
      } catch (const tandem::rejected&) {}
    });
  }
  while (begun < others.size()) std::this_thread::yield();
  spin(random() % 1024);
  rt.shutdown();
  EXPECT_EQ(rt.live_tasks(), 0U);
  for (std::thread& each : others) each.join();
}

// Terminated: a task that has been counted, and not been posted yet, was one that nothing could wake.
TEST(foreign_threads, a_runtime_ends_while_other_threads_spawn) {
  tandem::test::stress_for(std::chrono::milliseconds(500), [](std::mt19937_64& random) {
    end_while_others(random, [](runtime& rt) { rt.spawn(nothing()).detach(); });
  });
}

TEST(foreign_threads, a_runtime_ends_while_other_threads_submit) {
  tandem::test::stress_for(std::chrono::milliseconds(500), [](std::mt19937_64& random) {
    end_while_others(random, [](runtime& rt) { rt.workers().submit(nothing()).detach(); });
  });
}

TEST(foreign_threads, a_runtime_ends_while_other_threads_spawn_onto_a_strand) {
  tandem::test::stress_for(std::chrono::milliseconds(500), [](std::mt19937_64& random) {
    end_while_others(random, [](runtime& rt) {
      tandem::strand one(rt.workers());
      rt.spawn(one.executor(), nothing()).detach();
    });
  });
}

// The count of an executor's tasks goes up before the task is posted, too.
TEST(foreign_threads, an_executor_ends_while_another_thread_spawns_onto_it) {
  tandem::test::stress_for(std::chrono::milliseconds(500), [](std::mt19937_64& random) {
    runtime rt(simulated(random()));
    tandem::single_thread_executor elsewhere(rt, "elsewhere");
    std::atomic<bool> begun{false};
    std::thread other([&] {
      try {
        for (;; begun = true) rt.spawn(elsewhere, nothing()).detach();
      } catch (const tandem::executor_closed&) {}
    });
    while (!begun) std::this_thread::yield();
    spin(random() % 1024);
    elsewhere.join();
    other.join();
  });
}

}  // namespace
