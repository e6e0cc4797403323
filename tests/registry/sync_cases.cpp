// sync_cases.cpp: the rows of event, mutex, latch and wait_group.
// SPDX-License-Identifier: MIT
#include <tandem/event.hpp>
#include <tandem/latch.hpp>
#include <tandem/mutex.hpp>
#include <tandem/wait_group.hpp>

#include "case_of.hpp"

namespace tandem::registry {
namespace sync_rows {  // not an unnamed one: g++ warns of frames that hold such types

constexpr row cannot_fail = every_column.without(
    column::exception, "it runs no code that could throw; only a stop ends it");

class event_case : public case_base {
 public:
  static constexpr std::string_view name = "event::wait";
  using awaiters = covers<event_awaiter>;
  static constexpr row cells = cannot_fail;
  static constexpr bool ready_at_once = true;

  event_awaiter make() { return event_.wait(); }
  void complete() { event_.set(); }

 private:
  event event_;
};

class mutex_case : public case_base {
 public:
  static constexpr std::string_view name = "mutex::lock";
  using awaiters = covers<mutex_awaiter>;
  static constexpr row cells = cannot_fail;
  static constexpr bool ready_at_once = true;
  static constexpr int relays = 20;

  task<void> begin() { co_await mutex_.lock(); }
  task<void> end() {
    // Whoever took it last has either handed it on or still counts as its holder.
    if (holders_ > 0) release();
    EXPECT_TRUE(mutex_.try_lock());
    co_return;
  }
  mutex_awaiter make() { return mutex_.lock(); }
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
  mutex mutex_;
  std::atomic<int> holders_{0};
  std::atomic<bool> begun_{false};  // what begin() took was given back
};

class scoped_mutex_case : public mutex_case {
 public:
  static constexpr std::string_view name = "mutex::scoped_lock";
  using awaiters = covers<scoped_mutex_awaiter>;

  scoped_mutex_awaiter make() { return mutex_.scoped_lock(); }
  ended took(mutex_guard guard) {
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
    mutex_guard gone = std::move(guard_);
    --holders_;
  }
  mutex_guard guard_;
};

/// Counts down once, however often it is completed.
class latch_case : public case_base {
 public:
  static constexpr std::string_view name = "latch::wait";
  using awaiters = covers<detail::count_awaiter>;
  static constexpr row cells = cannot_fail;
  static constexpr bool ready_at_once = true;

  auto make() { return latch_.wait(); }
  void complete() {
    if (!completed_.exchange(true)) latch_.count_down();
  }

 protected:
  latch latch_{1};
  std::atomic<bool> completed_{false};
};

/// The awaits only look (they arrive with 0), since a column may await more than once.
class latch_arrival_case : public latch_case {
 public:
  static constexpr std::string_view name = "latch::arrive_and_wait";
  using awaiters = covers<latch_arrival>;

  auto make() { return latch_.arrive_and_wait(0); }
};

class wait_group_case : public case_base {
 public:
  static constexpr std::string_view name = "wait_group::wait";
  using awaiters = covers<detail::count_awaiter>;
  static constexpr row cells = cannot_fail;
  static constexpr bool ready_at_once = true;

  auto make() { return group_.wait(); }
  void complete() {
    if (!completed_.exchange(true)) group_.done();
  }

 protected:
  wait_group group_{1};
  std::atomic<bool> completed_{false};
};

class wait_for_case : public wait_group_case {
 public:
  static constexpr std::string_view name = "wait_group::wait_for";
  using awaiters = covers<timeout_awaiter<bool>>;
  static constexpr bool ready_at_once = false;

  auto make() { return group_.wait_for(std::chrono::hours(1)); }
  ended took(bool in_time) {
    EXPECT_TRUE(in_time);
    return ended::returned;
  }
};

using cases = ::testing::Types<event_case, mutex_case, scoped_mutex_case, latch_case,
                               latch_arrival_case, wait_group_case, wait_for_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(sync, awaitable, cases, case_names);

}  // namespace sync_rows
}  // namespace tandem::registry
