// flow_cases.cpp: the rows of tasks, handles, scopes, time and moving.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <coroutine>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <tandem/as_result.hpp>
#include <tandem/executor.hpp>
#include <tandem/rate_limiter.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>

#include "case_of.hpp"

namespace tandem::registry {
namespace flow_rows {  // not an unnamed one: g++ warns of frames that hold such types

class task_case : public gated_case {
 public:
  static constexpr std::string_view name = "task";
  using awaiters = covers<task<int>::awaiter>;

  task<int> make() { return child(); }
};

class join_handle_case : public gated_case {
 public:
  static constexpr std::string_view name = "join_handle";
  using awaiters = covers<join_awaiter<int>>;
  static constexpr bool one_waiter = true;

  task<void> begin() {
    handle_ = spawn(child());
    co_return;
  }
  task<void> end() {
    handle_ = {};
    co_return;
  }
  join_awaiter<int> make() { return handle_.operator co_await(); }

 private:
  join_handle<int> handle_;
};

class with_scope_case : public gated_case {
 public:
  static constexpr std::string_view name = "with_scope";
  using awaiters = covers<scope_awaiter<task<int> (*)(task_scope&)>>;

  auto make() {
    return with_scope([this](task_scope& scope) -> task<int> {
      scope.spawn(plain());
      co_return co_await other();
    });
  }
  task<int> in_place() {
#if defined(__clang__)
    co_return co_await with_scope([this, here = counted()](task_scope& scope) -> task<int> {
      scope.spawn(plain(here));
      co_return co_await other();
    });
#else
    const auto body = [this, here = counted()](task_scope& scope) -> task<int> {
      scope.spawn(plain(here));
      co_return co_await other();
    };
    co_await with_scope(body);
    co_return co_await with_scope([&](task_scope& scope) -> task<int> {
      scope.spawn(other_plain());
      co_return co_await other();
    });
#endif
  }

 private:
  task<void> other_plain() { (void)co_await other(); }
};

class scope_join_case : public gated_case {
 public:
  static constexpr std::string_view name = "task_scope::join";
  using awaiters = covers<detail::scope_join_awaiter>;

  auto make() {
    return with_scope([this](task_scope& scope) -> task<int> {
      [[maybe_unused]] auto dropped = scope.join();
      scope.spawn(plain());
      co_await scope.join();
      co_return co_await other();
    });
  }
};

class as_result_case : public gated_case {
 public:
  static constexpr std::string_view name = "as_result";
  using awaiters = covers<as_result_awaiter<task<int>::awaiter>>;

  auto make() { return as_result(child()); }
  ended took(result<int> got) {
    if (got.has_value()) return gated_case::took(got.value());
    if (!got.is_cancelled()) {
      EXPECT_THROW((void)got.value(), planned_failure);
      return ended::failed;
    }
    // What the harness sees is the exception that a plain await would have thrown.
    (void)got.value();
    return ended::cancelled;
  }
};

/// Any awaitable that is not tandem's: it gets a stand-in for the handle.
class foreign_case : public case_base {
 public:
  static constexpr std::string_view name = "foreign awaitable";
  using awaiters = covers<detail::foreign_awaiter<int>>;
  static constexpr on_stop before = on_stop::goes_on;
  static constexpr on_stop during = on_stop::goes_on;

  class gate {
   public:
    explicit gate(foreign_case& of) noexcept : of_(&of) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiting) {
      const std::lock_guard guard(of_->mutex_);
      if (of_->open_) return false;
      of_->waiting_.push_back(waiting);
      return true;
    }
    int await_resume() const {
      if (of_->fails_) throw planned_failure();
      return 7;
    }

   private:
    foreign_case* of_;
  };

  gate make() { return gate(*this); }
  void complete() {
    std::deque<std::coroutine_handle<>> ready;
    {
      const std::lock_guard guard(mutex_);
      open_ = true;
      ready.swap(waiting_);
    }
    for (const auto each : ready) each.resume();
  }
  void fail() { fails_ = true; }
  ended took(int value) {
    EXPECT_EQ(value, 7);
    return ended::returned;
  }

 private:
  std::mutex mutex_;
  bool open_ = false;
  bool fails_ = false;
  std::deque<std::coroutine_handle<>> waiting_;
};

class sleep_for_case : public case_base {
 public:
  static constexpr std::string_view name = "sleep_for";
  using awaiters = covers<sleep_awaiter>;
  static constexpr row cells =
      every_column.without(column::exception, "it runs no code that could throw");
  static constexpr bool self_completing = true;

  auto make() { return sleep_for(span_); }
  void set_span(std::chrono::microseconds span) { span_ = span; }

 protected:
  std::chrono::microseconds span_{1000};
};

/// Each token takes the span; the first one is gone.
class rate_limiter_case : public sleep_for_case {
 public:
  static constexpr std::string_view name = "rate_limiter::acquire";
  using awaiters = covers<rate_limiter_awaiter>;
  task<void> begin() {
    (void)make();
    co_return;
  }
  rate_limiter_awaiter make() {
    if (!limiter_) {
      limiter_.emplace(1, std::max(span_, std::chrono::microseconds(1)), 1);
      EXPECT_TRUE(limiter_->try_acquire());
    }
    return limiter_->acquire();
  }
  void set_span(std::chrono::microseconds span) {
    sleep_for_case::set_span(span);
    limiter_.reset();
  }

 private:
  std::optional<rate_limiter> limiter_;
};

class sleep_until_case : public sleep_for_case {
 public:
  static constexpr std::string_view name = "sleep_until";
  using awaiters = covers<sleep_awaiter>;
  auto make() { return sleep_until(now() + span_); }
};

class yield_case : public case_base {
 public:
  static constexpr std::string_view name = "yield";
  using awaiters = covers<yield_awaiter>;
  static constexpr row cells =
      every_column.without(column::exception, "it runs no code that could throw")
          .without(column::timed_out, "it waits for nothing that takes time, so no limit can pass");
  static constexpr bool self_completing = true;
  static constexpr std::chrono::microseconds limit{0};  // it waits for nothing that takes time

  yield_awaiter make() {
    if (before_) before_();
    return yield();
  }
  /// "During" is while it is in the queue: only what stands in front of it there can stop it.
  static bool own(column which);

  std::function<void()> before_;
};

task<ended> yield_once(yield_case& at) {
  try {
    co_await at.make();
    co_return ended::returned;
  } catch (const operation_cancelled&) {
    co_return ended::cancelled;
  }
}
task<void> cancel(join_handle<ended>& handle) {
  handle.cancel();
  co_return;
}

bool yield_case::own(column which) {
  if (which != column::cancelled_during) return false;
  runtime_options options;
  options.min_threads = 0;  // one queue, in order
  runtime rt(options);
  yield_case at;
  join_handle<ended> handle;
  at.before_ = [&] { spawn(cancel(handle)).detach(); };
  handle = rt.spawn(yield_once(at));
  EXPECT_EQ(handle.wait(), ended::cancelled);
  return true;
}

/// An executor that keeps its jobs until it is opened; then they run on the workers.
class gate_executor final : public executor {
 public:
  void aim(runtime& owner) { owner_ = &owner; }
  void post(job* item, post_kind /*kind*/) noexcept override {
    {
      const std::lock_guard guard(mutex_);
      if (!open_) return kept_.push_back(item);
    }
    owner_->workers().post(item);
  }
  bool is_current() const noexcept override { return false; }
  runtime* owner() const noexcept override { return owner_; }
  std::string_view name() const noexcept override { return "gate"; }

  void open() {
    job_list kept;
    {
      const std::lock_guard guard(mutex_);
      open_ = true;
      std::swap(kept, kept_);
    }
    while (job* const item = kept.pop_front()) owner_->workers().post(item);
  }

 private:
  runtime* owner_ = nullptr;
  std::mutex mutex_;
  bool open_ = false;
  job_list kept_;
};

class resume_on_case : public case_base {
 public:
  static constexpr std::string_view name = "resume_on";
  using awaiters = covers<resume_on_awaiter>;
  static constexpr row cells =
      every_column.without(column::exception, "it runs no code that could throw");
  static constexpr on_stop before = on_stop::goes_on;
  static constexpr on_stop during = on_stop::goes_on;

  task<void> begin() {
    target_.aim(*current_environment()->runtime());
    co_return;
  }
  resume_on_awaiter make() { return resume_on(target_); }
  void complete() { target_.open(); }

 private:
  gate_executor target_;
};

class with_timeout_case : public gated_case {
 public:
  static constexpr std::string_view name = "with_timeout";
  using awaiters = covers<timeout_awaiter<int>>;
  auto make() { return with_timeout(std::chrono::hours(1), child()); }
};

class with_deadline_case : public gated_case {
 public:
  static constexpr std::string_view name = "with_deadline";
  using awaiters = covers<timeout_awaiter<int>>;
  auto make() { return with_deadline(now() + std::chrono::hours(1), child()); }
};

using cases =
    ::testing::Types<task_case, join_handle_case, with_scope_case, scope_join_case, as_result_case,
                     foreign_case, sleep_for_case, rate_limiter_case, sleep_until_case, yield_case,
                     resume_on_case, with_timeout_case, with_deadline_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(flow, awaitable, cases, case_names);

}  // namespace flow_rows
}  // namespace tandem::registry
