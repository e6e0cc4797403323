// selects.cpp: cases select_*, selector_wait and receive_wait: a turn of a select of four channels.
// SPDX-License-Identifier: MIT
#include <array>
#include <optional>
#include <tandem/channel.hpp>
#include <tandem/select.hpp>
#include <tandem/selector.hpp>
#include <tandem/task_scope.hpp>

#include "suite.hpp"

namespace tandem::bench {

namespace {

/// Which of the four has the next value: the same ones in each program.
class next_of_four {
 public:
  std::size_t operator()() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ >> 62;
  }

 private:
  unsigned long state_ = 88'172'645'463'325'252;
};

class four_channels {
 public:
  channel<long>& operator[](std::size_t i) { return *all_[i]; }

 private:
  channel<long> a_{1}, b_{1}, c_{1}, d_{1};
  std::array<channel<long>*, 4> all_{&a_, &b_, &c_, &d_};
};

auto select_of(four_channels& from) {
  return select(from[0].receive(), from[1].receive(), from[2].receive(), from[3].receive());
}

template <class Hit>
long value_of(Hit hit) {
  const auto value = [](std::optional<long> got) { return *got; };
  return hit.visit(value, value, value, value);
}

task<void> take_ready(long n) {
  four_channels from;
  next_of_four which;
  long sum = 0;
  for (long i = 0; i < n; ++i) {
    from[which()].try_send(i);
    sum += value_of(co_await select_of(from));
  }
  expect_equal(sum, n * (n - 1) / 2, "the sum");
}

// Two tasks that send to each other, and wait for the answer: n turns that wait, half of them each one's.

task<void> answer_receives(channel<long>& from, channel<long>& to, long turns) {
  for (long i = 0; i < turns; ++i) to.try_send(*co_await from.receive() + 1);
}
task<void> wait_to_receive(long n) {
  channel<long> mine(1), theirs(1);
  long last = 0;
  co_await with_scope([&](task_scope& scope) -> task<void> {
    scope.spawn(answer_receives(theirs, mine, n / 2));
    for (long i = 0; i < n / 2; ++i) {
      theirs.try_send(last);
      last = *co_await mine.receive() + 1;
    }
  });
  expect_equal(last, n / 2 * 2, "the last value");
}

task<void> answer_selects(four_channels& from, four_channels& to, long turns) {
  next_of_four which;
  for (long i = 0; i < turns; ++i) to[which()].try_send(value_of(co_await select_of(from)) + 1);
}
task<void> wait_in_select(long n) {
  four_channels mine, theirs;
  next_of_four which;
  long last = 0;
  co_await with_scope([&](task_scope& scope) -> task<void> {
    scope.spawn(answer_selects(theirs, mine, n / 2));
    for (long i = 0; i < n / 2; ++i) {
      theirs[which()].try_send(last);
      last = value_of(co_await select_of(mine)) + 1;
    }
  });
  expect_equal(last, n / 2 * 2, "the last value");
}

task<void> answer_selector(four_channels& from, four_channels& to, long turns) {
  selector next(from[0].receive(), from[1].receive(), from[2].receive(), from[3].receive());
  next_of_four which;
  for (long i = 0; i < turns; ++i) to[which()].try_send(value_of(co_await next.next()) + 1);
}
task<void> wait_in_selector(long n) {
  four_channels mine, theirs;
  next_of_four which;
  long last = 0;
  co_await with_scope([&](task_scope& scope) -> task<void> {
    scope.spawn(answer_selector(theirs, mine, n / 2));
    selector next(mine[0].receive(), mine[1].receive(), mine[2].receive(), mine[3].receive());
    for (long i = 0; i < n / 2; ++i) {
      theirs[which()].try_send(last);
      last = value_of(co_await next.next()) + 1;
    }
  });
  expect_equal(last, n / 2 * 2, "the last value");
}

}  // namespace

void add_selects(case_list& cases) {
  cases.push_back(looped(problems::select_ready, take_ready));
  cases.push_back(looped(problems::receive_wait, wait_to_receive));
  cases.push_back(looped(problems::select_wait, wait_in_select));
  cases.push_back(looped(problems::selector_wait, wait_in_selector));
  cases.push_back(looped(problems::allocs_select, wait_in_select));
}

}  // namespace tandem::bench
