// callback_cases.cpp: the row of from_callback().
// SPDX-License-Identifier: MIT
#include <mutex>
#include <tandem/from_callback.hpp>
#include <utility>
#include <vector>

#include "case_of.hpp"

namespace tandem::registry {
namespace callback_rows {  // not an unnamed one: g++ warns of frames that hold such types

/// A library that calls back when the case is completed.
class from_callback_case : public case_base {
 public:
  struct start {
    from_callback_case* library;
    void operator()(callback<void(int)> done) const { library->begin_call(std::move(done)); }
  };
  struct convert {
    from_callback_case* library;
    int operator()(int value) const {
      if (library->fails_) throw planned_failure();
      return value;
    }
  };

  static constexpr std::string_view name = "from_callback";
  using awaiters = covers<callback_awaiter<void(int), start, convert, abandonable_t>>;
  static constexpr clock_kind clock = clock_kind::real_clock;
  static constexpr bool ready_at_once = true;

  auto make() { return from_callback<void(int)>(start{this}, convert{this}, abandonable); }
  task<int> in_place() {
    // g++ 12 destroys captures of lambdas that are written inside a co_await twice.
#if defined(__clang__)
    co_return co_await from_callback<void(int)>(
        [this, here = counted()](auto done) { begin_call(std::move(done)); }, convert{this},
        abandonable);
#else
    const auto begin = [this, here = counted()](auto done) { begin_call(std::move(done)); };
    co_return co_await from_callback<void(int)>(begin, convert{this}, abandonable);
#endif
  }
  void complete() {
    std::vector<callback<void(int)>> all;
    {
      const std::lock_guard guard(lock_);
      completed_ = true;
      all.swap(held_);
    }
    for (const auto& each : all) each(7);
  }
  void fail() { fails_ = true; }
  ended took(int value) {
    EXPECT_EQ(value, 7);
    return ended::returned;
  }

 private:
  void begin_call(callback<void(int)> done) {
    {
      const std::lock_guard guard(lock_);
      if (!completed_) return held_.push_back(std::move(done));
    }
    done(7);
  }

  std::mutex lock_;
  std::vector<callback<void(int)>> held_;
  bool completed_ = false;
  std::atomic<bool> fails_{false};
};

using cases = ::testing::Types<from_callback_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(callbacks, awaitable, cases, case_names);

}  // namespace callback_rows
}  // namespace tandem::registry
