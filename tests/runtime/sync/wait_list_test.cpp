// wait_list_test.cpp: the steps of waiting one by one, with a stop between any two of them.
// SPDX-License-Identifier: MIT
#include <tandem/detail/wait_list.hpp>

#include <coroutine>
#include <thread>

#include "runtime/support/sync_support.hpp"

namespace {

using tandem::stop_reason;
using tandem::task;
using tandem::detail::lock_word;
using tandem::detail::taken_list;
using tandem::detail::wait_list;
using tandem::detail::waiter;
using tandem::test::test_runtime;

enum class moment : unsigned char { before_begin, before_the_lock, while_queued, after_the_grant };

constexpr tandem::detail::wait_kind waits_for_grant(&waiter::on_stop, "a grant");

/// Waits in a list that it grants itself, and is stopped at the given moment.
class interrupted_await {
 public:
  using tandem_awaiter = void;

  interrupted_await(moment when, lock_word& word, wait_list& list) noexcept
      : when_(when), word_(&word), list_(&list), self_(waits_for_grant, word, list) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> handle) {
    tandem::detail::promise_base& waiting = handle.promise();
    const auto stop_if = [&](moment now) {
      if (when_ == now) waiting.env->stop().request_stop(stop_reason::user);
    };
    stop_if(moment::before_begin);
    if (!self_.begin(waiting)) return false;
    stop_if(moment::before_the_lock);
    const lock_word::word state = word_->lock();
    if (!self_.may_queue()) {
      word_->unlock(state);
      return self_.give_up();
    }
    list_->push_back(self_);
    word_->unlock(state | lock_word::waiters);
    // A worker that is alone resumes nothing before this returns.
    stop_if(moment::while_queued);
    (void)word_->lock();
    waiter* const taken = list_->pop_front();
    word_->unlock(0);
    EXPECT_EQ(taken == nullptr, when_ == moment::while_queued);
    stop_if(moment::after_the_grant);
    if (taken != nullptr) taken_list::wake(taken);
    return true;
  }
  void await_resume() const { self_.throw_if_cancelled(); }

 private:
  moment when_;
  lock_word* word_;
  wait_list* list_;
  waiter self_;
};

bool is_stopped_at(moment when) {
  test_runtime rt(1);
  lock_word word(0);
  wait_list list;
  const auto got = rt.run([](moment at, lock_word& w, wait_list& l) -> task<tandem::result<void>> {
    co_return co_await tandem::as_result(interrupted_await(at, w, l));
  }(when, word, list));
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(word.load(), 0U);
  return got.is_cancelled();
}

TEST(wait_list, a_stop_before_the_begin_ends_the_wait) {
  EXPECT_TRUE(is_stopped_at(moment::before_begin));
}
TEST(wait_list, a_stop_between_begin_and_lock_ends_the_wait) {
  EXPECT_TRUE(is_stopped_at(moment::before_the_lock));
}
TEST(wait_list, a_stop_takes_a_queued_waiter_out) {
  EXPECT_TRUE(is_stopped_at(moment::while_queued));
}
TEST(wait_list, a_stop_after_the_grant_comes_too_late) {
  EXPECT_FALSE(is_stopped_at(moment::after_the_grant));
}

TEST(lock_word, excludes_threads_and_keeps_the_value) {
  lock_word word(5);
  long plain = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        const lock_word::word state = word.lock();
        ++plain;
        word.unlock(state + (i % 2 == 0 ? lock_word::one : 0U - lock_word::one));
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(plain, 80000);
  EXPECT_EQ(word.load(), 5 * lock_word::one);
}

}  // namespace
