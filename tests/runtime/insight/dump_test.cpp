// dump_test.cpp: a dump names every task, what it waits for, and who is to end that.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <string>
#include <vector>

#include <tandem/tandem.hpp>

#include "dump_fixture.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::test_runtime;
using tandem::test::wait_for;

class dump : public tandem::test::dump_of_driven {};

task<void> wait_deeper(tandem::event& what) { co_await wait_for(what); }
task<void> wait_deepest(tandem::event& what) { co_await wait_deeper(what); }

TEST_F(dump, of_a_runtime_without_tasks_says_so) {
  const std::string said = text();
  EXPECT_TRUE(has(said, "runtime \"dumped\"")) << said;
  EXPECT_TRUE(has(said, "0 tasks live")) << said;
  EXPECT_TRUE(has(said, "no timer is armed")) << said;
}

TEST_F(dump, names_what_a_task_waits_for_and_where_it_was_spawned) {
  tandem::event ready;
  tandem::join_handle<> waiting = (*rt).spawn(wait_for(ready));
  const int line = __LINE__ - 1;
  const std::string said = text();
  EXPECT_TRUE(has(said, "1 task lives: 1 wait")) << said;
  EXPECT_TRUE(has(said, "dump_test.cpp:" + std::to_string(line))) << said;
  EXPECT_TRUE(has(said, "waits for an event")) << said;
  ready.set();
  (*rt).run_until_idle();
  EXPECT_TRUE(has(text(), "0 tasks live"));
}

TEST_F(dump, shows_the_chain_of_awaits_from_the_wait_outwards) {
  tandem::event ready;
  auto waiting = (*rt).spawn(wait_deepest(ready));
  const std::string said = text();
  const std::size_t inner = said.find("#0 ");
  const std::size_t middle = said.find("#1 ");
  const std::size_t outer = said.find("#2 ");
  ASSERT_NE(outer, std::string::npos) << said;
  EXPECT_LT(inner, middle);
  EXPECT_LT(middle, outer);
  EXPECT_EQ(said.find("#3 "), std::string::npos) << said;
  if (TANDEM_TEST_HAS_NAMES) {  // of coroutines: by elfutils
    EXPECT_TRUE(has(said.substr(inner, middle - inner), "wait_for(")) << said;
    EXPECT_TRUE(has(said.substr(middle, outer - middle), "wait_deeper(")) << said;
    EXPECT_TRUE(has(said.substr(outer), "wait_deepest(")) << said;
  }
  ready.set();
  (*rt).run_until_idle();
}

TEST_F(dump, of_a_deep_chain_shows_as_many_frames_as_were_asked_for) {
  struct nested {
    static task<void> down(tandem::event& e, int levels) {
      if (levels == 0) {
        co_await e.wait();
      } else {
        co_await down(e, levels - 1);
      }
    }
  };
  tandem::event ready;
  auto waiting = (*rt).spawn(nested::down(ready, 100));
  tandem::dump_options options;
  options.most_frames = 5;
  const std::string said = text(options);
  EXPECT_TRUE(has(said, "#4 ")) << said;
  EXPECT_FALSE(has(said, "#5 ")) << said;
  EXPECT_TRUE(has(said, "... and further out")) << said;
  ready.set();
  (*rt).run_until_idle();
}

TEST_F(dump, shows_the_children_of_a_scope_below_their_parent_and_that_it_waits_for_them) {
  tandem::event ready;
  const auto parent = [](tandem::event& e) -> task<void> {
    const auto body = [&e](tandem::task_scope& scope) -> task<void> {
      scope.spawn(wait_for(e));
      scope.spawn(wait_for(e));
      co_return;
    };
    co_await tandem::with_scope(body);
  };
  auto waiting = (*rt).spawn(parent(ready));
  const std::string said = text();
  EXPECT_TRUE(has(said, "scope with 2 children that have not ended, which its body waits for"))
      << said;
  EXPECT_TRUE(has(said, "waits for the end of all children")) << said;
  EXPECT_EQ(count(said, "waits for an event"), 2U) << said;
  EXPECT_TRUE(has(said, "3 tasks live: 3 wait")) << said;
  ready.set();
  (*rt).run_until_idle();
}

TEST_F(dump, tells_of_many_that_are_alike_once_unless_it_is_asked_for_each) {
  tandem::event ready;
  const auto parent = [](tandem::event& e) -> task<void> {
    const auto body = [&e](tandem::task_scope& scope) -> task<void> {
      for (int i = 0; i < 1204; ++i) scope.spawn(wait_for(e));
      co_return;
    };
    co_await tandem::with_scope(body);
  };
  auto waiting = (*rt).spawn(parent(ready));
  std::string said = text();
  EXPECT_TRUE(has(said, "1,204 tasks like this")) << said;
  EXPECT_EQ(count(said, "waits for an event"), 1U) << said;
  tandem::dump_options options;
  options.group = false;
  said = text(options);
  EXPECT_EQ(count(said, "waits for an event"), 1204U);
  ready.set();
  (*rt).run_until_idle();
}

TEST_F(dump, shows_what_surrounds_a_wait) {
  tandem::event ready;
  const auto parent = [](tandem::event& e) -> task<void> {
    co_await tandem::when_all(tandem::with_timeout(1h, wait_for(e)), tandem::shielded(wait_for(e)));
  };
  auto waiting = (*rt).spawn(parent(ready));
  (*rt).run_until_idle();
  waiting.cancel();
  const std::string said = text();
  EXPECT_TRUE(has(said, "when_all with 1 child that has not ended")) << said;
  EXPECT_TRUE(has(said, "shielded:")) << said;
  EXPECT_TRUE(has(said, "was asked to stop (user) and has not ended")) << said;
  ready.set();
  (*rt).run_until_idle();
}

TEST_F(dump, says_that_a_task_has_not_begun_or_is_ready) {
  tandem::event ready;
  const auto parent = [](tandem::event& e) -> task<void> {
    const auto body = [&e](tandem::task_scope& scope) -> task<void> {
      scope.spawn(wait_for(e));
      co_await e.wait();
    };
    co_await tandem::with_scope(body);
  };
  auto waiting = (*rt).spawn(parent(ready));
  ASSERT_EQ((*rt).poll(1), 1U);  // the parent; its child is queued
  const std::string said = (*rt).dump();
  EXPECT_TRUE(has(said, "has not begun: it is queued, at home \"dumped\"")) << said;
  EXPECT_TRUE(has(said, "1 task is ready to run at home \"dumped\"")) << said;
  ready.set();
  (*rt).run_until_idle();
}

TEST_F(dump, a_second_one_says_since_when_a_wait_lasts_at_least) {
  tandem::event ready;
  auto waiting = (*rt).spawn(wait_for(ready));
  EXPECT_FALSE(has(text(), "for at least"));
  EXPECT_TRUE(has(text(), "for at least"));
  ready.set();
  ready.reset();
  (*rt).run_until_idle();
}

TEST_F(dump, another_wait_of_the_same_task_is_not_taken_for_the_old_one) {
  tandem::event go;
  const auto loop = [](tandem::event& e) -> task<void> {
    for (int i = 0; i < 2; ++i) {
      co_await e.wait();
      e.reset();
    }
  };
  auto waiting = (*rt).spawn(loop(go));
  (void)text();
  EXPECT_TRUE(has(text(), "for at least"));
  go.set();  // in the same awaiter, at the same place, it waits again
  EXPECT_FALSE(has(text(), "for at least"));
  go.set();
  (*rt).run_until_idle();
}

TEST_F(dump, a_name_goes_to_what_a_task_spawns) {
  tandem::event ready;
  const auto parent = [](tandem::event& e) -> task<void> {
    tandem::name("GET /solve");
    const auto body = [&e](tandem::task_scope& scope) -> task<void> {
      scope.spawn(wait_for(e));
      co_return;
    };
    co_await tandem::with_scope(body);
  };
  auto waiting = (*rt).spawn(parent(ready));
  const std::string said = text();
  EXPECT_EQ(count(said, "\"GET /solve\", spawned at"), 2U) << said;
  ready.set();
  (*rt).run_until_idle();
}

TEST_F(dump, goes_to_a_stream_as_json_too) {
  tandem::event ready;
  auto waiting = (*rt).spawn(wait_for(ready));
  (*rt).run_until_idle();
  std::ostringstream out;
  tandem::dump_options options;
  options.format = tandem::dump_format::json;
  (*rt).dump(out, options);
  EXPECT_EQ(out.str().front(), '{');
  EXPECT_TRUE(has(out.str(), "\"for\":\"an event\"")) << out.str();
  ready.set();
  (*rt).run_until_idle();
}

#if TANDEM_ABI_AWAIT_LINES
TEST_F(dump, a_line_is_known_for_each_await_where_the_build_keeps_them) {
  tandem::event ready;
  const auto waits = [](tandem::event& e) -> task<void> { co_await wait_for(e); };
  const int line = __LINE__ - 1;
  auto waiting = (*rt).spawn(waits(ready));
  const std::string said = text();
  EXPECT_TRUE(has(said, "dump_test.cpp:" + std::to_string(line))) << said;
  ready.set();
  (*rt).run_until_idle();
}
#endif

task<void> nest(tandem::event& until, int levels, bool scopes) {
  if (levels == 0) {
    co_await until.wait();
  } else if (scopes) {
    const auto body = [&](tandem::task_scope& scope) -> task<void> {
      scope.spawn(nest(until, levels - 1, scopes));
      co_return;
    };
    co_await tandem::with_scope(body);
  } else {
    co_await tandem::with_timeout(1h, nest(until, levels - 1, scopes));
  }
}

TEST(dump_of_nested, tasks_of_any_depth_and_number_has_room_for_all) {
  for (const bool scopes : {true, false}) {
    for (const int roots : {1, 10, 50}) {
      for (int levels = 1; levels < 120; levels += levels < 16 ? 1 : 7) {
        test_runtime rt(0U);
        tandem::event until;
        std::vector<tandem::join_handle<>> all;
        for (int i = 0; i < roots; ++i) all.push_back(rt->spawn(nest(until, levels, scopes)));
        (*rt).run_until_idle();
        tandem::dump_options options;
        options.group = false;
        const std::string text = rt->dump(options);
        std::size_t waits = 0;
        for (std::size_t at = text.find("waits for an event"); at != std::string::npos;
             at = text.find("waits for an event", at + 1)) {
          ++waits;
        }
        EXPECT_EQ(waits, static_cast<std::size_t>(roots)) << levels;
        until.set();
        (*rt).run_until_idle();
      }
    }
  }
}

TEST(dump_of_nested, tasks_leaves_out_what_lies_too_deep_and_says_so) {
  test_runtime rt(0U);
  tandem::event until;
  auto deep = rt->spawn(nest(until, 5000, true));
  (*rt).run_until_idle();
  const std::string text = rt->dump();
  EXPECT_NE(text.find("more lie over 1,000 levels deep, and are not listed"), std::string::npos);
  EXPECT_LT(text.size(), 5'000'000U);
  tandem::dump_options options;
  options.format = tandem::dump_format::json;
  EXPECT_LT(rt->dump(options).size(), 5'000'000U);
  EXPECT_EQ(rt->diagnose(0ms).size(), 0U);
  until.set();
  (*rt).run_until_idle();
}

}  // namespace
