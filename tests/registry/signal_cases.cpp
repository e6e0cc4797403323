// signal_cases.cpp: the row of signals.
// SPDX-License-Identifier: MIT
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <tandem/io/signal_set.hpp>

#include "io_case.hpp"
#include "signal_taker.hpp"

namespace tandem::registry {
namespace signal_rows {  // not an unnamed one: g++ warns of frames that hold such types

using io_rows::io_case;

/// A set of its own signal each: a signal belongs to one set at a time.
class signal_case : public io_case {
 public:
  static constexpr std::string_view name = "signal_set::wait";
  using awaiters = covers<io::signal_awaiter>;
  static constexpr row cells = every_column.without(
      column::exception, "it reads a pipe of the process's own, of which nobody closes an end");

  signal_case() {
    static const test::signal_taker taker(all_signals());
    // What is still on its way when its set has gone is dropped.
    EXPECT_NE(::signal(number_, SIG_IGN), SIG_ERR);
  }
  task<void> begin() {
    set_.emplace(std::initializer_list<int>{number_});
    co_return;
  }
  task<void> end() {
    set_.reset();
    co_return;
  }
  auto make() { return set_->wait(); }
  void complete() { EXPECT_EQ(::kill(::getpid(), number_), 0); }
  ended took(int which) {
    EXPECT_EQ(which, number_);
    return ended::returned;
  }

 private:
  static const std::array<int, 16>& all_signals() {
    static const auto all = [] {
      std::array<int, 16> numbers;
      std::iota(numbers.begin(), numbers.end(), SIGRTMIN + 2);
      return numbers;
    }();
    return all;
  }
  static int next_signal() {
    static std::atomic<std::size_t> made{0};
    return all_signals()[made++ % all_signals().size()];
  }
  int number_ = next_signal();
  std::optional<io::signal_set> set_;
};

using cases = ::testing::Types<signal_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(signals, awaitable, cases, case_names);

}  // namespace signal_rows
}  // namespace tandem::registry
