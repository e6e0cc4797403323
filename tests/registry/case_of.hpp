// case_of.hpp: turns a case, a small class about one awaitable, into a row of the registry.
// SPDX-License-Identifier: MIT
//
// A case derives from case_base (or gated_case), hides what differs, and has
//   name                the call as it is documented; the meta-test looks for it
//   awaiters            covers<...>: the awaiter types that it stands for
//   make()              the awaitable; waits for complete(), from any thread
//   took(value)         an ended, after checking and giving back what the await yielded
// and may have in_place(): a task that makes and awaits it in one expression, as users write it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tandem/detail/await_transform.hpp>
#include <tandem/event.hpp>
#include <tandem/timeout.hpp>
#include <type_traits>
#include <utility>

#include "awaitable_case.hpp"

namespace tandem::registry {

template <class... Awaiters>
struct covers {};

/// What is the same for most cases.
class case_base {
 public:
  static constexpr row cells = every_column;
  static constexpr clock_kind clock = clock_kind::virtual_clock;
  static constexpr on_stop before = on_stop::ends;
  static constexpr on_stop during = on_stop::ends;
  /// Does not suspend when it is ready.
  static constexpr bool ready_at_once = false;
  /// May be awaited by one task at a time only.
  static constexpr bool one_waiter = false;
  /// Nobody can complete it; it takes its time.
  static constexpr bool self_completing = false;
  /// How often each task of the contended column takes it and hands it on.
  static constexpr int relays = 1;
  static constexpr std::chrono::microseconds limit{1000};

  task<void> begin() { co_return; }
  task<void> end() { co_return; }
  void complete() noexcept {}
  void fail() { ADD_FAILURE() << "this case cannot fail"; }
  ended took() { return ended::returned; }
  /// True if the case has tested that column itself.
  static bool own(column /*which*/) { return false; }
};

/// A case of something that runs children: they wait at a gate.
class gated_case : public case_base {
 public:
  void complete() noexcept { gate_.set(); }
  void fail() { fails_ = true; }
  ended took(int value) {
    EXPECT_EQ(value, 7);
    return ended::returned;
  }
  using case_base::took;

 protected:
  /// What is run. Only this one fails, so that nothing is suppressed.
  task<int> child(counted /*here*/ = {}) {
    co_await gate_.wait();
    if (fails_) throw planned_failure();
    co_return 7;
  }
  task<int> other(counted /*here*/ = {}) {
    co_await gate_.wait();
    co_return 7;
  }
  task<void> plain(counted /*here*/ = {}) { (void)co_await child(); }

 private:
  event gate_;
  bool fails_ = false;
};

template <class Case>
class adapter final : public awaitable_case {
 public:
  task<void> begin() override { return case_.begin(); }
  task<void> end() override { return case_.end(); }
  void complete() override { case_.complete(); }
  void fail() override { case_.fail(); }
  void set_span([[maybe_unused]] std::chrono::microseconds span) override {
    if constexpr (requires { case_.set_span(span); }) case_.set_span(span);
  }
  bool is_waiting() override {
    if constexpr (requires { case_.is_waiting(); }) {
      return case_.is_waiting();
    } else {
      return begun_.load();
    }
  }

  task<ended> await_once() override {
    try {
      begun_ = true;
      if constexpr (requires { case_.in_place(); }) {
        co_return case_.took(co_await case_.in_place());
      } else if constexpr (yields_nothing) {
        co_await case_.make();
        co_return case_.took();
      } else {
        co_return case_.took(co_await case_.make());
      }
    } catch (const operation_cancelled& stopped) {
      note(stopped.reason());
      co_return ended::cancelled;
    } catch (const std::exception&) {
      co_return ended::failed;
    }
  }

  task<ended> await_limited(std::chrono::microseconds limit) override {
    try {
      begun_ = true;
      if constexpr (yields_nothing) {
        co_await with_timeout(limit, case_.make());
        co_return case_.took();
      } else {
        co_return case_.took(co_await with_timeout(limit, case_.make()));
      }
    } catch (const operation_cancelled& stopped) {
      note(stopped.reason());
      co_return ended::cancelled;
    }
  }

  task<void> drop() override {
    {
      auto first = detail::get_awaiter(case_.make());
      [[maybe_unused]] auto moved = std::move(first);
    }
    if constexpr (requires { case_.drop(); }) co_await case_.drop();
    co_return;
  }

 private:
  using awaitable = decltype(std::declval<Case&>().make());
  static constexpr bool yields_nothing = std::is_void_v<detail::await_result_t<awaitable>>;

  Case case_;
};

template <class Case>
entry entry_of() {
  entry made;
  made.name = Case::name;
  made.cells = Case::cells;
  made.clock = Case::clock;
  made.before = Case::before;
  made.during = Case::during;
  made.ready_at_once = Case::ready_at_once;
  made.one_waiter = Case::one_waiter;
  made.self_completing = Case::self_completing;
  made.relays = Case::relays;
  made.limit = Case::limit;
  made.make = []() -> std::unique_ptr<awaitable_case> { return std::make_unique<adapter<Case>>(); };
  made.own = &Case::own;
  return made;
}

/// The table's typed tests: one for each column. The meta-test (check_registry.py) counts them.
template <class Case>
class awaitable : public ::testing::Test {
 protected:
  static void cell(column which) { run_cell(entry_of<Case>(), which); }
};

TYPED_TEST_SUITE_P(awaitable);
TYPED_TEST_P(awaitable, ready) { this->cell(column::ready); }
TYPED_TEST_P(awaitable, suspended) { this->cell(column::suspended); }
TYPED_TEST_P(awaitable, contended) { this->cell(column::contended); }
TYPED_TEST_P(awaitable, cancelled_before) { this->cell(column::cancelled_before); }
TYPED_TEST_P(awaitable, cancelled_during) { this->cell(column::cancelled_during); }
TYPED_TEST_P(awaitable, cancelled_racing) { this->cell(column::cancelled_racing); }
TYPED_TEST_P(awaitable, timed_out) { this->cell(column::timed_out); }
TYPED_TEST_P(awaitable, dropped) { this->cell(column::dropped); }
TYPED_TEST_P(awaitable, exception) { this->cell(column::exception); }
REGISTER_TYPED_TEST_SUITE_P(awaitable, ready, suspended, contended, cancelled_before,
                            cancelled_during, cancelled_racing, timed_out, dropped, exception);

struct case_names {
  template <class Case>
  static std::string GetName(int /*index*/) {
    return spelled(Case::name);
  }
};

}  // namespace tandem::registry
