// worker_port_test.cpp: workers wait in a port, and take what comes there. Protocol ports.
// SPDX-License-Identifier: MIT
#include <tandem/detail/worker_port.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <tandem/cpu_count.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::executor;
using tandem::job;
using tandem::job_list;
using tandem::task;
using tandem::test::test_runtime;
using tandem::test::with_threads;

/// Waits for it, for so long that whoever waits in vain has failed.
template <class Holds>
bool reached(Holds holds) {
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(100us);
  }
  return true;
}

/// A job that says by whom it was run.
class noted_job : public job {
 public:
  noted_job() noexcept : job(&noted_job::note) {}
  std::atomic<int> runs{0};
  std::thread::id by;

 private:
  static void note(job* self) noexcept {
    auto& me = *static_cast<noted_job*>(self);
    me.by = std::this_thread::get_id();
    me.runs.fetch_add(1);
  }
};

/// What comes is what the test says. Counts who is inside.
class made_port final : public tandem::detail::worker_port {
 public:
  bool is_used() const noexcept override { return used; }
  bool try_enter() noexcept override {
    if (inside.exchange(true)) return false;
    entered_by = std::this_thread::get_id();
    ++entries;
    return true;
  }
  bool wait(std::int64_t until_ns) noexcept override {
    EXPECT_EQ(entered_by.load(), std::this_thread::get_id());
    std::unique_lock guard(lock);
    const auto has_end = [this] { return !came.empty() || std::exchange(woken, false); };
    if (until_ns == INT64_MIN) {
      was_looked_into = true;
      woken = false;
      if (brought_at_looks != 0) {
        --brought_at_looks;
        came.push_back(at_looks);
      }
      return !came.empty();
    }
    ++sleeps;
    if (was_looked_into.exchange(false)) ++sleeps_after_looks;
    waits = true;
    if (until_ns == INT64_MAX) {
      changed.wait(guard, has_end);
    } else {
      const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(until_ns)};
      changed.wait_until(guard, until, has_end);
    }
    waits = false;
    return !came.empty();
  }
  void leave(const executor& home, job_list& for_home) noexcept override {
    EXPECT_EQ(entered_by.load(), std::this_thread::get_id());
    (void)home;
    job_list taken;
    {
      const std::lock_guard guard(lock);
      taken.append(came);
    }
    inside = false;
    if (posts_to == nullptr) return for_home.append(taken);
    while (job* const each = taken.pop_front()) posts_to->post(each, tandem::post_kind::resume);
  }
  void wake() noexcept override {
    {
      const std::lock_guard guard(lock);
      woken = true;
      ++wakes;
    }
    changed.notify_all();
  }

  void bring(job& one) {
    job_list list;
    list.push_back(&one);
    bring(list);
  }
  void bring(job_list& all) {
    {
      const std::lock_guard guard(lock);
      came.append(all);
    }
    changed.notify_all();
  }
  bool somebody_waits() {
    return reached([this] { return waits.load(); });
  }
  /// As its maker at the end.
  void close() {
    while (!try_enter()) {
      wake();
      std::this_thread::yield();
    }
  }

  executor* posts_to = nullptr;  // null: the pool
  std::atomic<bool> used{true};
  std::atomic<bool> inside{false};
  std::atomic<bool> waits{false};
  std::atomic<std::thread::id> entered_by{};
  std::atomic<int> entries{0};
  std::atomic<int> wakes{0};
  std::atomic<int> sleeps{0};
  std::atomic<int> sleeps_after_looks{0};  // since the sleep before
  std::atomic<bool> was_looked_into{false};
  job* at_looks = nullptr;  // comes at each of the next so many looks; may be queued again
  std::atomic<int> brought_at_looks{0};

 private:
  std::mutex lock;
  std::condition_variable changed;
  job_list came;
  bool woken = false;
};

/// A runtime whose workers have a port; at its end it is taken away, as its maker does it.
class with_port {
 public:
  explicit with_port(unsigned threads) : with_port(with_threads(threads)) {}
  explicit with_port(const tandem::runtime_options& options) : rt(options) {
    tandem::detail::use_port(rt.workers(), port);
  }
  with_port(const with_port&) = delete;
  with_port& operator=(const with_port&) = delete;
  ~with_port() {
    tandem::detail::use_port(rt.workers(), nullptr);
    port->close();
  }
  /// Until each worker has had something to do, so that its thread is there.
  void start_all(unsigned threads) {
    rt.run([](unsigned count) -> task<void> {
      std::atomic<unsigned> there{0};
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        for (unsigned i = 0; i < count; ++i) {
          scope.spawn([](std::atomic<unsigned>& all, unsigned wanted) -> task<void> {
            ++all;
            while (all < wanted) std::this_thread::yield();
            co_return;
          }(there, count));
        }
        co_await scope.join();
      });
    }(threads));
  }
  bool has_run(const noted_job& one) {
    return reached([&one] { return one.runs == 1; });
  }

  test_runtime rt;
  std::shared_ptr<made_port> port = std::make_shared<made_port>();
};

TEST(worker_port, whoever_waits_there_runs_what_comes) {
  with_port of(1);
  of.start_all(1);
  ASSERT_TRUE(of.port->somebody_waits());
  const std::thread::id waiting = of.port->entered_by;
  noted_job one;
  of.port->bring(one);
  ASSERT_TRUE(of.has_run(one));
  EXPECT_EQ(one.by, waiting);
  EXPECT_TRUE(of.port->somebody_waits());  // again
}

TEST(worker_port, one_that_waits_there_is_woken_for_what_is_posted) {
  with_port of(1);
  of.start_all(1);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(of.port->somebody_waits());
    noted_job posted;
    of.rt.workers().post(&posted, tandem::post_kind::spawn);
    ASSERT_TRUE(of.has_run(posted)) << i;
  }
}

TEST(worker_port, one_that_looks_before_it_sleeps_runs_what_is_posted) {
  with_port of(1);
  of.start_all(1);
  for (int i = 0; i < 500; ++i) {
    noted_job brought;
    noted_job posted;
    of.port->bring(brought);
    while (brought.runs == 0) std::this_thread::yield();
    of.rt.workers().post(&posted,
                         tandem::post_kind::spawn);  // it has just lain down, or is about to
    ASSERT_TRUE(of.has_run(posted)) << i;
  }
}

TEST(worker_port, where_things_come_soon_a_worker_looks_before_it_sleeps) {
  if (tandem::usable_cpus() == 1) GTEST_SKIP() << "with one CPU nobody looks again and again";
  with_port of(1);
  of.start_all(1);
  noted_job first;
  noted_job next;
  of.port->at_looks = &next;
  ASSERT_TRUE(of.port->somebody_waits());
  const int sleeps = of.port->sleeps;
  of.port->brought_at_looks = 1000;
  of.port->bring(first);
  EXPECT_TRUE(reached([&] { return next.runs == 1000; })) << next.runs;
  ASSERT_TRUE(of.port->somebody_waits());
  EXPECT_EQ(of.port->sleeps, sleeps + 1);  // after the last one
}

TEST(worker_port, where_nothing_comes_soon_a_worker_sleeps_at_once) {
  with_port of(1);
  of.start_all(1);
  constexpr int times = 300;
  for (int i = 0; i < times; ++i) {
    ASSERT_TRUE(of.port->somebody_waits());
    noted_job one;
    of.port->bring(one);
    ASSERT_TRUE(of.has_run(one)) << i;
  }
  // Four in a row, then one in 64; and ports/look every 61 items.
  EXPECT_LE(of.port->sleeps_after_looks, 25);
}

TEST(worker_port, of_several_that_sleep_the_one_in_the_port_is_woken_last) {
  with_port of(2);
  of.start_all(2);
  ASSERT_TRUE(of.port->somebody_waits());
  ASSERT_TRUE(reached([&] { return of.rt.workers().stats().idle == 2; }));
  const int wakes = of.port->wakes;
  noted_job posted;
  of.rt.workers().post(&posted, tandem::post_kind::spawn);
  ASSERT_TRUE(of.has_run(posted));
  EXPECT_EQ(of.port->wakes, wakes);
}

TEST(worker_port, nobody_enters_one_that_is_not_used) {
  with_port of(1);
  of.port->used = false;
  of.start_all(1);
  ASSERT_TRUE(reached([&] { return of.rt.workers().stats().idle == 1; }));
  EXPECT_EQ(of.port->entries, 0);
}

TEST(worker_port, a_busy_worker_looks_into_it_between_its_items) {
  with_port of(1);
  noted_job one;
  of.rt.run([](with_port& all, noted_job& brought) -> task<void> {
    all.port->bring(brought);
    for (int i = 0; i < 200 && brought.runs == 0; ++i) co_await tandem::yield();
    EXPECT_EQ(brought.runs, 1);
  }(of, one));
}

TEST(worker_port, many_that_come_at_once_are_shared) {
  constexpr unsigned workers = 4;
  // Each waits for all others: whoever takes them has to call the next one.
  std::atomic<unsigned> together{0};
  class meeting : public job {
   public:
    explicit meeting(std::atomic<unsigned>& all) noexcept : job(&meeting::meet), together_(all) {}

   private:
    static void meet(job* self) noexcept {
      auto& all = static_cast<meeting*>(self)->together_;
      ++all;
      while (all < workers) std::this_thread::yield();
    }
    std::atomic<unsigned>& together_;
  };
  std::vector<std::unique_ptr<meeting>> all;
  for (unsigned i = 0; i < workers; ++i) all.push_back(std::make_unique<meeting>(together));
  with_port of(workers);  // whose workers end first
  of.start_all(workers);
  ASSERT_TRUE(of.port->somebody_waits());
  job_list list;
  for (const auto& each : all) list.push_back(each.get());
  of.port->bring(list);
  EXPECT_TRUE(reached([&] { return together == workers; }));
}

/// An executor over the workers, as a strand is: what is posted to it is posted to them.
class layer final : public executor {
 public:
  explicit layer(tandem::worker_pool& below) : below_(below) {}
  void post(job* item, tandem::post_kind kind) noexcept override { below_.post(item, kind); }
  void post_batch(job_list items, tandem::post_kind kind) noexcept override {
    below_.post_batch(items, kind);
  }
  bool is_current() const noexcept override { return false; }
  tandem::runtime* owner() const noexcept override { return below_.owner(); }
  std::string_view name() const noexcept override { return "layer"; }

 private:
  tandem::worker_pool& below_;
};

TEST(worker_port, what_belongs_to_an_executor_over_the_workers_is_run_whoever_takes_it) {
  tandem::runtime_options options = with_threads(2);
  options.keep_alive = 1ms;
  options.allow_core_timeout = true;
  with_port of(options);
  layer over(of.rt.workers());
  of.port->posts_to = &over;
  for (int i = 0; i < 300; ++i) {
    if (i % 3 == 0) of.start_all(2);
    ASSERT_TRUE(of.port->somebody_waits());
    noted_job one;
    // Now and then it has to lie elsewhere, with that in its hands; or is woken for something else.
    if (i % 5 == 0) of.port->used = false;
    of.port->bring(one);
    noted_job posted;
    if (i % 2 == 0) of.rt.workers().post(&posted, tandem::post_kind::spawn);
    ASSERT_TRUE(of.has_run(one)) << i;
    ASSERT_TRUE(i % 2 != 0 || of.has_run(posted)) << i;
    if (!of.port->used.exchange(true)) of.start_all(2);
  }
}

TEST(worker_port, an_idle_worker_is_sent_to_one_that_nobody_looks_into) {
  // The one in the port gets something long, and the other one has parked elsewhere.
  std::atomic<bool> over{false};
  class long_job : public job {
   public:
    explicit long_job(std::atomic<bool>& end) noexcept : job(&long_job::run_long), end_(end) {}
    std::atomic<bool> began{false};

   private:
    static void run_long(job* self) noexcept {
      auto& me = *static_cast<long_job*>(self);
      me.began = true;
      while (!me.end_) std::this_thread::yield();
    }
    std::atomic<bool>& end_;
  } busy(over);
  with_port of(2);  // whose workers end first
  of.start_all(2);
  ASSERT_TRUE(of.port->somebody_waits());
  of.port->bring(busy);
  EXPECT_TRUE(reached([&] { return busy.began.load(); }));
  // As soon as it is through with what start_all() gave it.
  EXPECT_TRUE(reached([&] { return tandem::detail::send_to_port(of.rt.workers()); }));
  EXPECT_TRUE(of.port->somebody_waits());
  noted_job one;
  of.port->bring(one);
  EXPECT_TRUE(of.has_run(one));
  over = true;
}

TEST(worker_port, where_all_are_busy_nobody_is_sent) {
  with_port of(1);
  of.rt.run([](with_port& all) -> task<void> {
    EXPECT_FALSE(tandem::detail::send_to_port(all.rt.workers()));
    co_return;
  }(of));
}

TEST(worker_port, idle_workers_end_but_for_the_one_that_waits_there_as_long_as_it_is_used) {
  tandem::runtime_options options = with_threads(2);
  options.keep_alive = 1ms;
  options.allow_core_timeout = true;
  with_port of(options);
  for (int i = 0; i < 20; ++i) {
    of.start_all(2);
    ASSERT_TRUE(reached([&] { return of.rt.workers().stats().threads == 1; }));
    ASSERT_TRUE(of.port->somebody_waits());
    noted_job one;
    of.port->bring(one);
    ASSERT_TRUE(of.has_run(one));
    ASSERT_TRUE(of.port->somebody_waits());
    of.port->used = false;
    of.port->wake();  // as the last socket does
    // It is counted out before it leaves.
    ASSERT_TRUE(reached([&] { return of.rt.workers().stats().threads == 0 && !of.port->inside; }));
    of.port->used = true;
  }
}

TEST(worker_port, when_it_is_taken_away_its_sleeper_lies_elsewhere) {
  with_port of(1);
  of.start_all(1);
  ASSERT_TRUE(of.port->somebody_waits());
  tandem::detail::use_port(of.rt.workers(), nullptr);
  of.port->close();
  noted_job posted;
  of.rt.workers().post(&posted, tandem::post_kind::spawn);
  EXPECT_TRUE(of.has_run(posted));
  of.port->inside = false;  // for the end of this test, which takes it away once more
}

TEST(worker_port, a_pool_ends_while_somebody_waits_there) {
  auto port = std::make_shared<made_port>();
  {
    test_runtime rt(2);
    tandem::detail::use_port(rt.workers(), port);
    rt.run([]() -> task<void> { co_return; }());
    ASSERT_TRUE(port->somebody_waits());
  }
  EXPECT_FALSE(port->inside);
  EXPECT_EQ(port.use_count(), 1);
}

}  // namespace
