// submit_saturation_test.cpp: every policy x every queue that can be full x every state of the pool (line 9).
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <tandem/event.hpp>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <tandem/spawn.hpp>
#include <thread>
#include <tuple>
#include <vector>

#include "submit_support.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::join_handle;
using tandem::pool_state;
using tandem::queue_kind;
using tandem::rejection;
using tandem::rejection_cause;
using tandem::runtime_options;
using tandem::saturation_policy;
using tandem::task;
using tandem::worker_pool;

enum class moment : std::uint8_t { full, shutting_down, shut_down };
/// What became of a submission, as whoever waits for it sees it.
enum class fate : std::uint8_t { ran, cancelled, refused };

const char* to_string(moment when) {
  switch (when) {
    case moment::full: return "full";
    case moment::shutting_down: return "shutting_down";
    default: return "shut_down";
  }
}

using cell = std::tuple<saturation_policy, queue_kind, moment>;

class saturation : public ::testing::TestWithParam<cell> {
 protected:
  static saturation_policy policy() { return std::get<0>(GetParam()); }
  static queue_kind kind() { return std::get<1>(GetParam()); }
  static moment when() { return std::get<2>(GetParam()); }
  static bool has_place() { return kind() != queue_kind::rendezvous; }
  static bool may_be_set_up() {
    return policy() != saturation_policy::discard_oldest || kind() == queue_kind::bounded;
  }

  /// What has to become of the submission that comes at that moment.
  static fate of_the_new() {
    switch (policy()) {
      case saturation_policy::caller_runs:
      case saturation_policy::discard_oldest:
        return when() == moment::full ? fate::ran : fate::cancelled;
      case saturation_policy::discard: return fate::cancelled;
      default: return fate::refused;
    }
  }
  /// What of the one that waits in the queue.
  static fate of_the_queued() {
    return policy() == saturation_policy::discard_oldest && when() == moment::full ? fate::cancelled
                                                                                   : fate::ran;
  }

  static runtime_options options() {
    runtime_options made = one_place(kind(), policy());
    if (policy() == saturation_policy::handler) {
      made.submissions.on_rejected = [](const rejection& what) {
        EXPECT_EQ(what.cause,
                  when() == moment::full ? rejection_cause::full : rejection_cause::shut_down);
        EXPECT_EQ(what.state, when() == moment::full            ? pool_state::running
                              : when() == moment::shutting_down ? pool_state::shutdown
                                                                : pool_state::terminated);
        EXPECT_EQ(what.priority, 3);
        return saturation_policy::abort;
      };
    }
    return made;
  }
};

fate wait_for(join_handle<void>& handle) {
  try {
    handle.wait();
    return fate::ran;
  } catch (const tandem::operation_cancelled&) {
    return fate::cancelled;
  }
}

TEST_P(saturation, line_9_nothing_is_lost_and_nobody_waits_for_ever_and_no_place_leaks) {
  if (!may_be_set_up()) {
    EXPECT_NE(refused_options([](runtime_options& o) {
                o = options();
              }).find("submissions.when_saturated"),
              std::string::npos);
    return;
  }
  gate closed;
  std::atomic<int> ran{0};
  int expected = 0;
  test_runtime rt(options());
  worker_pool& pool = rt.workers();
  // More than once, so that a place that leaked would be missed.
  for (int round = 0; round < (when() == moment::full ? 3 : 1); ++round) {
    gate now_closed;
    auto running = pool.submit(now_closed.block());
    wait_until([&] { return now_closed.inside() == 1; });
    join_handle<void> queued;
    if (has_place()) queued = pool.submit(count_up(ran));
    if (when() != moment::full) pool.shutdown();
    if (when() == moment::shut_down) {
      now_closed.open();
      EXPECT_TRUE(pool.await_termination(1h));
    }
    fate got = fate::refused;
    join_handle<void> added;
    try {
      added = pool.submit(count_up(ran), 3);
      if (of_the_new() == fate::cancelled) {
        EXPECT_TRUE(added.is_done());
      }
    } catch (const tandem::rejected& failure) {
      EXPECT_EQ(failure.state(), pool.state());
      EXPECT_NE(std::string(failure.what()).find("submit_saturation_test"), std::string::npos);
      EXPECT_NE(std::string(failure.what()).find(to_string(pool.state())), std::string::npos);
    }
    now_closed.open();
    if (added) got = wait_for(added);
    EXPECT_EQ(got, of_the_new());
    running.wait();
    if (queued) {
      EXPECT_EQ(wait_for(queued), of_the_queued());
      if (of_the_queued() == fate::ran) ++expected;
    }
    if (of_the_new() == fate::ran) ++expected;
    EXPECT_EQ(ran.load(), expected);
    EXPECT_EQ(pool.stats().submissions, 0U);
    EXPECT_EQ(pool.stats().rejections, static_cast<unsigned>(round + 1));
    if (when() == moment::full) wait_until([&] { return pool.stats().idle == 1; });
  }
  EXPECT_TRUE(rt->drain(1h));
}

TEST_P(saturation, line_9_whoever_waits_for_a_place_gets_one_or_hears_that_there_will_be_none) {
  if (!may_be_set_up()) return;  // its set-up is refused, see above
  gate closed;
  std::atomic<int> ran{0};
  runtime_options made = one_place(kind(), policy());
  if (policy() == saturation_policy::handler) {
    made.submissions.on_rejected = [](const rejection&) { return saturation_policy::abort; };
  }
  test_runtime rt(made);
  test_runtime elsewhere;
  worker_pool& pool = rt.workers();
  auto running = pool.submit(closed.block());
  wait_until([&] { return closed.inside() == 1; });
  join_handle<void> queued;
  if (has_place()) queued = pool.submit(count_up(ran));
  const auto submits = [](worker_pool& to, std::atomic<int>& count) -> task<fate> {
    join_handle<void> handle;
    try {
      handle = co_await to.submit_when_free(count_up(count));
    } catch (const tandem::rejected& refusal) {
      EXPECT_EQ(refusal.cause(), rejection_cause::shut_down);
      co_return fate::refused;
    }
    co_await handle;
    co_return fate::ran;
  };
  if (when() == moment::shut_down) {
    pool.shutdown();
    closed.open();
    EXPECT_TRUE(pool.await_termination(1h));
  }
  std::vector<join_handle<fate>> waiting;
  for (int i = 0; i < 4; ++i) waiting.push_back(elsewhere->spawn(submits(pool, ran)));
  if (when() != moment::shut_down) {
    wait_until([&] { return pool.stats().waiting_submitters == 4; });
  }
  if (when() == moment::shutting_down) pool.shutdown();
  if (when() != moment::full) {
    for (auto& each : waiting) EXPECT_EQ(each.wait(), fate::refused);
  }
  closed.open();
  if (when() == moment::full) {
    for (auto& each : waiting) EXPECT_EQ(each.wait(), fate::ran);
  }
  running.wait();
  if (queued) queued.wait();
  EXPECT_EQ(ran.load(), (has_place() ? 1 : 0) + (when() == moment::full ? 4 : 0));
  EXPECT_EQ(pool.stats().waiting_submitters, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    submit, saturation,
    ::testing::Combine(
        ::testing::Values(saturation_policy::abort, saturation_policy::caller_runs,
                          saturation_policy::discard, saturation_policy::discard_oldest,
                          saturation_policy::handler, saturation_policy::suspend),
        ::testing::Values(queue_kind::bounded, queue_kind::priority, queue_kind::rendezvous),
        ::testing::Values(moment::full, moment::shutting_down, moment::shut_down)),
    [](const ::testing::TestParamInfo<cell>& cell_of) {
      return std::string(tandem::to_string(std::get<0>(cell_of.param))) + "_" +
             tandem::to_string(std::get<1>(cell_of.param)) + "_" +
             to_string(std::get<2>(cell_of.param));
    });

/// A pool whose worker blocks, and whose one place is taken.
class full_pool {
 public:
  explicit full_pool(runtime_options options)
      : rt(std::move(options)), running_(rt.workers().submit(closed.block())) {
    wait_until([&] { return closed.inside() == 1; });
    queued = rt.workers().submit(count_up(ran));
  }
  full_pool(const full_pool&) = delete;
  full_pool& operator=(const full_pool&) = delete;
  ~full_pool() {
    closed.open();
    running_.wait();
  }

  gate closed;
  std::atomic<int> ran{0};
  test_runtime rt;
  join_handle<void> queued;

 private:
  join_handle<void> running_;
};

TEST(submit, line_9_discarded_handles_say_so) {
  full_pool pool(one_place(queue_kind::bounded, saturation_policy::discard_oldest));
  auto newest = pool.rt.workers().submit(count_up(pool.ran));
  try {
    pool.queued.wait();
    ADD_FAILURE() << "it ran";
  } catch (const tandem::operation_cancelled& failure) {
    EXPECT_EQ(failure.reason(), tandem::stop_reason::discarded);
  }
  pool.closed.open();
  newest.wait();
  EXPECT_EQ(pool.ran.load(), 1);
}

TEST(submit, line_9_the_caller_runs_the_task_up_to_its_first_wait_and_the_pool_the_rest) {
  full_pool pool(one_place(queue_kind::bounded, saturation_policy::caller_runs));
  tandem::event go_on;
  std::thread::id first;
  std::thread::id second;
  bool refused_to_block = false;
  auto handle = pool.rt.workers().submit([](tandem::event& until, std::thread::id& before,
                                            std::thread::id& after, bool& refused) -> task<void> {
    before = std::this_thread::get_id();
    auto inner = tandem::spawn([]() -> task<void> { co_return; }());
    try {
      inner.wait();
    } catch (const tandem::would_deadlock&) {
      refused = true;
    }
    co_await until.wait();
    after = std::this_thread::get_id();
    co_await inner;
  }(go_on, first, second, refused_to_block));
  EXPECT_EQ(first, std::this_thread::get_id());
  EXPECT_TRUE(refused_to_block);
  EXPECT_EQ(tandem::current_environment(), nullptr);
  go_on.set();
  pool.closed.open();
  handle.wait();
  pool.queued.wait();
  EXPECT_NE(second, std::this_thread::get_id());
}

TEST(submit, line_9_a_task_that_is_the_caller_goes_on_in_its_own_surroundings) {
  test_runtime rt(one_place(queue_kind::bounded, saturation_policy::caller_runs));
  std::atomic<int> ran{0};
  rt.run([](worker_pool& pool, std::atomic<int>& count) -> task<void> {
    const auto* const mine = tandem::current_environment();
    auto queued = pool.submit(count_up(count));
    auto inlined = pool.submit([](const void* outer) -> task<int> {
      EXPECT_NE(tandem::current_environment(), outer);
      const auto leaf = [](int value) -> task<int> { co_return value; };
      const int sum = co_await leaf(1) + co_await leaf(2);
      co_return sum;
    }(mine));
    EXPECT_TRUE(inlined.is_done());
    EXPECT_EQ(tandem::current_environment(), mine);
    EXPECT_EQ(count.load(), 0);
    EXPECT_EQ(co_await inlined, 3);
    co_await queued;
  }(rt.workers(), ran));
  EXPECT_EQ(ran.load(), 1);
}

task<int> digs(worker_pool& pool, int depth, std::atomic<int>& deepest) {
  deepest = std::max(deepest.load(), depth);
  if (depth == 100) co_return 0;  // it fails rather than overflows
  try {
    auto next = pool.submit(digs(pool, depth + 1, deepest));
    co_return co_await next + 1;
  } catch (const tandem::rejected&) {
    co_return 0;
  }
}

TEST(submit, line_9_callers_that_run_what_submits_again_end_before_the_stack_does) {
  full_pool pool(one_place(queue_kind::bounded, saturation_policy::caller_runs));
  std::atomic<int> deepest{0};
  auto handle = pool.rt.workers().submit(digs(pool.rt.workers(), 1, deepest));
  EXPECT_EQ(deepest.load(), 8);
  pool.closed.open();
  EXPECT_EQ(handle.wait(), 7);
  pool.queued.wait();
}

TEST(submit, line_9_a_handler_chooses_what_becomes_of_a_submission) {
  runtime_options options = one_place(queue_kind::bounded, saturation_policy::handler);
  std::vector<saturation_policy> answers = {
      saturation_policy::handler,     saturation_policy::suspend,
      saturation_policy::abort,       saturation_policy::discard,
      saturation_policy::caller_runs, saturation_policy::discard_oldest};
  std::size_t asked = 0;
  options.submissions.on_rejected = [&](const rejection& what) {
    EXPECT_EQ(what.queued, 1U);
    EXPECT_EQ(what.threads, 1U);
    return answers.at(asked++);
  };
  full_pool pool(options);
  worker_pool& workers = pool.rt.workers();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(workers.submit(count_up(pool.ran)).detach(), tandem::rejected);
  }
  auto discarded = workers.submit(count_up(pool.ran));
  EXPECT_THROW(discarded.wait(), tandem::operation_cancelled);
  workers.submit(count_up(pool.ran)).wait();
  EXPECT_EQ(pool.ran.load(), 1);
  auto newest = workers.submit(count_up(pool.ran));
  EXPECT_THROW(pool.queued.wait(), tandem::operation_cancelled);
  pool.closed.open();
  newest.wait();
  EXPECT_EQ(pool.ran.load(), 2);
  EXPECT_EQ(asked, answers.size());
}

TEST(submit, line_9_what_a_handler_throws_comes_out_of_submit_and_the_task_is_gone) {
  runtime_options options = one_place(queue_kind::bounded, saturation_policy::handler);
  options.submissions.on_rejected = [](const rejection&) -> saturation_policy {
    throw std::runtime_error("planned");
  };
  full_pool pool(options);
  EXPECT_THROW(pool.rt.workers().submit(count_up(pool.ran)).detach(), std::runtime_error);
  pool.closed.open();
  pool.queued.wait();
  EXPECT_TRUE(pool.rt->drain(1h));
  EXPECT_EQ(pool.ran.load(), 1);
}

TEST(submit, line_9_a_handler_that_cannot_be_asked_is_refused_by_name) {
  EXPECT_NE(refused_options([](runtime_options& o) {
              o.submissions.when_saturated = saturation_policy::handler;
            }).find("submissions.on_rejected"),
            std::string::npos);
  EXPECT_NE(refused_options([](runtime_options& o) {
              o.submissions.on_rejected = [](const rejection&) { return saturation_policy::abort; };
            }).find("submissions.on_rejected"),
            std::string::npos);
}

}  // namespace
