// submit_saturation_test.cpp: every policy x every queue that can be full x every state of the pool.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <tuple>
#include <vector>

#include "runtime/support/submit_support.hpp"

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

TEST_P(saturation, nothing_is_lost_and_nobody_waits_for_ever_and_no_place_leaks) {
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

TEST_P(saturation, whoever_waits_for_a_place_gets_one_or_hears_that_there_will_be_none) {
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

}  // namespace
