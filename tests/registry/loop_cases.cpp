// loop_cases.cpp: the row of with_foreign_loop().
// SPDX-License-Identifier: MIT
#include <atomic>
#include <tandem/from_callback.hpp>
#include <tandem/io/foreign_loop.hpp>

#include "io/support/foreign_pair.hpp"
#include "io_case.hpp"

namespace tandem::registry {
namespace loop_rows {  // not an unnamed one: g++ warns of frames that hold such types

using io::foreign_loop;
using io::watch_interest;

/// A library calls back when its descriptor can be read.
class with_foreign_loop_case : public case_base {
 public:
  static constexpr std::string_view name = "with_foreign_loop";
  using awaiters = covers<task<int>::awaiter>;
  static constexpr clock_kind clock = clock_kind::real_clock;

  task<int> make() {
    return io::with_foreign_loop([this](foreign_loop& loop) { return body(loop); });
  }
  task<int> in_place() {
#if defined(__clang__)
    co_return co_await io::with_foreign_loop(
        [this, here = counted()](foreign_loop& loop) { return body(loop, here); });
#else
    const auto named = [this, here = counted()](foreign_loop& loop) { return body(loop, here); };
    (void)co_await io::with_foreign_loop(named);
    co_return co_await io::with_foreign_loop([&](foreign_loop& loop) { return body(loop); });
#endif
  }
  void complete() { pair_.peer_writes("x"); }
  void fail() { fails_ = true; }
  ended took(int value) {
    EXPECT_EQ(value, 7);
    return ended::returned;
  }

 private:
  task<int> body(foreign_loop& loop, counted /*here*/ = {}) {
    co_return co_await from_callback<void(int)>(
        [&](auto done) {
          loop.watch(pair_.ours(), watch_interest::read,
                     [this, done](io::native_descriptor, io::ready_events) {
                       if (fails_) throw planned_failure();
                       done(7);
                     });
        },
        as_values, abandonable);
  }

  test::foreign_pair pair_;
  std::atomic<bool> fails_{false};
};

using cases = ::testing::Types<with_foreign_loop_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(loops, awaitable, cases, case_names);

}  // namespace loop_rows
}  // namespace tandem::registry
