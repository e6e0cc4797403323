// meeting_cases.cpp: the rows of shared_mutex, barrier, condition_variable, once and lazy.
// SPDX-License-Identifier: MIT
#include <tandem/barrier.hpp>
#include <tandem/condition_variable.hpp>
#include <tandem/lazy.hpp>
#include <tandem/once.hpp>
#include <tandem/shared_mutex.hpp>

#include "case_of.hpp"

namespace tandem::registry {
namespace meeting_rows {  // not an unnamed one: g++ warns of frames that hold such types

constexpr row cannot_fail = every_column.without(
    column::exception, "it runs no code that could throw; only a stop ends it");

/// Held from the begin until it is completed for the first time; then whoever took it last.
class write_lock_case : public case_base {
 public:
  static constexpr std::string_view name = "shared_mutex::lock";
  using awaiters = covers<write_lock_awaiter>;
  static constexpr row cells = cannot_fail;
  static constexpr bool ready_at_once = true;
  static constexpr int relays = 20;

  task<void> begin() { co_await mutex_.lock(); }
  task<void> end() {
    if (holders_ > 0) release();
    EXPECT_TRUE(mutex_.try_lock());
    co_return;
  }
  auto make() { return mutex_.lock(); }
  ended took() {
    EXPECT_EQ(++holders_, 1);
    return ended::returned;
  }
  void complete() {
    if (!begun_.exchange(true)) {
      mutex_.unlock();
    } else if (holders_ > 0) {
      release();
    }
  }

 protected:
  void release() {
    --holders_;
    mutex_.unlock();
  }
  shared_mutex mutex_;
  std::atomic<int> holders_{0};
  std::atomic<bool> begun_{false};  // what begin() took was given back
};

class scoped_write_lock_case : public write_lock_case {
 public:
  static constexpr std::string_view name = "shared_mutex::scoped_lock";
  using awaiters = covers<scoped_write_lock_awaiter>;

  auto make() { return mutex_.scoped_lock(); }
  ended took(write_guard guard) {
    EXPECT_TRUE(guard);
    EXPECT_EQ(++holders_, 1);
    guard_ = std::move(guard);
    return ended::returned;
  }
  task<void> end() {
    if (holders_ > 0) let_go();
    EXPECT_TRUE(mutex_.try_lock());
    co_return;
  }
  void complete() {
    if (!begun_.exchange(true)) {
      mutex_.unlock();
    } else if (holders_ > 0) {
      let_go();
    }
  }

 private:
  void let_go() {
    write_guard gone = std::move(guard_);
    --holders_;
  }
  write_guard guard_;
};

/// A writer holds it until it is completed; readers leave at once.
class read_lock_case : public case_base {
 public:
  static constexpr std::string_view name = "shared_mutex::lock_shared";
  using awaiters = covers<read_lock_awaiter>;
  static constexpr row cells = cannot_fail;
  static constexpr bool ready_at_once = true;
  static constexpr int relays = 20;

  task<void> begin() { co_await mutex_.lock(); }
  task<void> end() {
    EXPECT_TRUE(mutex_.try_lock());
    co_return;
  }
  auto make() { return mutex_.lock_shared(); }
  ended took() {
    mutex_.unlock_shared();
    return ended::returned;
  }
  void complete() {
    if (!begun_.exchange(true)) mutex_.unlock();
  }

 protected:
  shared_mutex mutex_;
  std::atomic<bool> begun_{false};
};

class scoped_read_lock_case : public read_lock_case {
 public:
  static constexpr std::string_view name = "shared_mutex::scoped_lock_shared";
  using awaiters = covers<scoped_read_lock_awaiter>;

  auto make() { return mutex_.scoped_lock_shared(); }
  ended took(const read_guard& guard) {
    EXPECT_TRUE(guard);
    return ended::returned;
  }
};

/// Of two, the second of which drops out when it is completed.
class barrier_case : public case_base {
 public:
  static constexpr std::string_view name = "barrier::arrive_and_wait";
  using awaiters = covers<barrier_awaiter>;
  static constexpr row cells = cannot_fail;
  static constexpr bool ready_at_once = true;
  static constexpr bool one_waiter = true;

  auto make() { return barrier_.arrive_and_wait(); }
  ended took(bool leads) {
    EXPECT_TRUE(leads);
    return ended::returned;
  }
  void complete() {
    if (!completed_.exchange(true)) barrier_.arrive_and_drop();
  }

 private:
  barrier barrier_{2};
  std::atomic<bool> completed_{false};
};

class condition_case : public case_base {
 public:
  static constexpr std::string_view name = "condition_variable::wait";
  using awaiters = covers<condition_awaiter>;
  static constexpr bool ready_at_once = true;

  task<void> make() { return wait_holding(); }
  void complete() {
    is_set_ = true;
    // Between its look and its place in the list a wait holds the mutex. A task that has it while
    // it gives way looks once more.
    for (int turns = 0; turns < 100'000; ++turns) {
      if (!mutex_.try_lock()) continue;
      mutex_.unlock();
      break;
    }
    condition_.notify_all();
  }
  void fail() { fails_ = true; }
  task<void> end() {
    EXPECT_TRUE(mutex_.try_lock());
    mutex_.unlock();
    co_return;
  }

 private:
  task<void> wait_holding(counted /*here*/ = {}) {
    const auto guard = co_await mutex_.scoped_lock();
    const auto look = [this] {
      if (fails_ && is_set_) throw planned_failure();
      return is_set_.load();
    };
    co_await condition_.wait(mutex_, look);
  }
  mutex mutex_;
  condition_variable condition_;
  std::atomic<bool> is_set_{false};
  bool fails_ = false;
};

class once_case : public gated_case {
 public:
  static constexpr std::string_view name = "once::call";
  using awaiters = covers<detail::once_turn, once_awaiter<int>>;
  static constexpr bool ready_at_once = true;

  auto make() {
    return once_.call([this] { return plain(); });
  }
  ended took() {
    EXPECT_TRUE(once_.is_done());
    return ended::returned;
  }

 private:
  once once_;
};

class lazy_case : public gated_case {
 public:
  static constexpr std::string_view name = "lazy::get";
  using awaiters = covers<lazy_awaiter<int>>;
  static constexpr bool ready_at_once = true;

  auto make() { return lazy_.get(); }

 private:
  lazy<int> lazy_{[this] { return child(); }};
};

using cases =
    ::testing::Types<write_lock_case, scoped_write_lock_case, read_lock_case, scoped_read_lock_case,
                     barrier_case, condition_case, once_case, lazy_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(meetings, awaitable, cases, case_names);

}  // namespace meeting_rows
}  // namespace tandem::registry
