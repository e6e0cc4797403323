// resource_cases.cpp: the rows of clean-ups, attempts, streams of items, places and ticks.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <tandem/finally.hpp>
#include <tandem/for_each_concurrent.hpp>
#include <tandem/interval.hpp>
#include <tandem/retry.hpp>
#include <tandem/runtime.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/with_resource.hpp>

#include "case_of.hpp"
#include "waits.hpp"

namespace tandem::registry {
namespace resource_rows {  // not an unnamed one: g++ warns of frames that hold such types

/// Whatever has begun is cleaned up exactly once.
class clean_up_case : public gated_case {
 public:
  task<void> end() {
    EXPECT_EQ(begun_, cleaned_);
    co_return;
  }

 protected:
  task<int> body() {
    ++begun_;
    co_return co_await child();
  }
  task<void> clean() {
    ++cleaned_;
    co_return;
  }
  std::atomic<int> begun_{0};
  std::atomic<int> cleaned_{0};
};

class finally_case : public clean_up_case {
 public:
  static constexpr std::string_view name = "finally";
  using awaiters = covers<task<int>::awaiter>;
  task<int> make() {
    return finally(body(), [this] { return clean(); });
  }
  task<int> in_place() {
#if defined(__clang__)
    co_return co_await finally(body(), [this, here = counted()] { return clean(); });
#else
    const auto after = [this, here = counted()] { return clean(); };
    (void)co_await finally(body(), after);
    co_return co_await finally(body(), [&] { return clean(); });
#endif
  }
};

class with_resource_case : public clean_up_case {
 public:
  static constexpr std::string_view name = "with_resource";
  using awaiters = covers<task<int>::awaiter>;
  task<int> make() {
    return with_resource(
        5,
        [this](int& resource) -> task<int> {
          EXPECT_EQ(resource, 5);
          return body();
        },
        [this](int& /*resource*/) { return clean(); });
  }
  task<int> in_place() {
#if defined(__clang__)
    co_return co_await with_resource(
        5, [this, here = counted()](int&) { return body(); },
        [this, here = counted()](int&) { return clean(); });
#else
    co_return co_await with_resource(
        5, [&](int&) { return body(); }, [&](int&) { return clean(); });
#endif
  }
};

class retry_case : public gated_case {
 public:
  static constexpr std::string_view name = "retry";
  using awaiters = covers<task<int>::awaiter>;
  task<int> make() {
    return retry([this] { return child(); }, retry_options().attempts(2).initial_delay({}));
  }
  task<int> in_place() {
#if defined(__clang__)
    co_return co_await retry([this, here = counted()] { return child(here); },
                             retry_options().attempts(2).initial_delay({}));
#else
    const auto attempt = [this, here = counted()] { return child(here); };
    (void)co_await retry(attempt, retry_options().attempts(2).initial_delay({}));
    co_return co_await retry([&] { return child(); }, retry_options().attempts(1));
#endif
  }
};

class for_each_case : public gated_case {
 public:
  static constexpr std::string_view name = "for_each_concurrent";
  using awaiters = covers<task<void>::awaiter>;
  task<void> make() {
    return for_each_concurrent(items_, 2, [this](int i) { return i == 0 ? child() : other(); });
  }
  task<int> in_place() {
#if defined(__clang__)
    co_await for_each_concurrent(
        items_, 2, [this, here = counted()](int i) { return i == 0 ? child() : other(); });
#else
    co_await for_each_concurrent(items_, 2, [&](int i) { return i == 0 ? child() : other(); });
#endif
    co_return 7;
  }

 private:
  std::array<int, 3> items_{0, 1, 2};
};

/// A scope of one place, which a child keeps until the gate opens.
class spawn_when_free_case : public gated_case {
 public:
  static constexpr std::string_view name = "task_scope::spawn_when_free";
  using awaiters = covers<detail::scope_spawn_awaiter>;
  auto make() {
    return with_scope([this](task_scope& scope) -> task<int> {
      scope.set_max_in_flight(1);
      scope.spawn(plain());
      { [[maybe_unused]] auto dropped = scope.spawn_when_free(plain()); }
      co_await scope.spawn_when_free(waits());
      co_return 7;
    });
  }

 private:
  task<void> waits(counted /*here*/ = {}) { (void)co_await other(); }
};

/// A pool of another runtime, whose worker blocks and whose one place is taken, until complete().
class submit_when_free_case : public case_base {
 public:
  static constexpr std::string_view name = "worker_pool::submit_when_free";
  using awaiters = covers<submit_awaiter<int>>;
  static constexpr clock_kind clock = clock_kind::real_clock;

  submit_when_free_case() : pool_runtime_(one_place()) {
    for (int i = 0; i < 2; ++i) pool().submit(block()).detach();
  }
  ~submit_when_free_case() { complete(); }

  task<void> end() {
    complete();
    co_return;
  }
  void complete() noexcept {
    open_ = true;
  }
  /// Whoever waits hears that there will be no place.
  void fail() { pool().shutdown(); }
  auto make() { return pool().submit_when_free(seven()); }
  task<join_handle<int>> in_place() { co_return co_await pool().submit_when_free(seven()); }
  ended took(join_handle<int> handle) {
    EXPECT_TRUE(handle);
    return ended::returned;
  }

 private:
  static runtime_options one_place() {
    runtime_options options;
    options.min_threads = 1;
    options.adaptive.enabled = false;
    options.submissions.queue = queue_kind::bounded;
    options.submissions.capacity = 1;
    return options;
  }
  static task<int> seven(counted /*here*/ = {}) { co_return 7; }
  task<void> block() {
    open_.wait(false);
    co_return;
  }
  worker_pool& pool() { return pool_runtime_.workers(); }

  tandem::test::flag open_;
  runtime pool_runtime_;
};

class interval_case : public case_base {
 public:
  static constexpr std::string_view name = "interval::tick";
  using awaiters = covers<tick_awaiter>;
  static constexpr row cells =
      every_column.without(column::exception, "it runs no code that could throw");
  static constexpr bool self_completing = true;
  static constexpr bool one_waiter = true;

  void set_span(std::chrono::microseconds span) {
    every_.reset();
    span_ = std::max(span, std::chrono::microseconds(1));
  }
  // Made by the task: its first tick is on the runtime's clock, not on the one of the test's
  // thread.
  auto make() {
    if (!every_) every_.emplace(span_);
    return every_->tick();
  }
  ended took(std::chrono::steady_clock::time_point /*due*/) { return ended::returned; }

 private:
  std::chrono::microseconds span_{1000};
  std::optional<interval> every_;
};

using cases = ::testing::Types<finally_case, with_resource_case, retry_case, for_each_case,
                               spawn_when_free_case, submit_when_free_case, interval_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(resources, awaitable, cases, case_names);

}  // namespace resource_rows
}  // namespace tandem::registry
