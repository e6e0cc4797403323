// curl_cases.cpp: the row of curl::with_session().
// SPDX-License-Identifier: MIT
#include <atomic>
#include <tandem/io/curl.hpp>
#include <tandem/io/readiness.hpp>

#include "io/support/foreign_pair.hpp"
#include "io_case.hpp"

namespace tandem::registry {
namespace curl_rows {  // not an unnamed one: g++ warns of frames that hold such types

using io::curl::session;

/// Its body waits for a descriptor. What requests do tests/io/curl says, beside servers.
class with_session_case : public case_base {
 public:
  static constexpr std::string_view name = "with_session";
  using awaiters = covers<task<int>::awaiter>;
  static constexpr clock_kind clock = clock_kind::real_clock;

  task<int> make() {
    return io::curl::with_session([this](session& inside) { return body(inside); });
  }
  task<int> in_place() {
#if defined(__clang__)
    co_return co_await io::curl::with_session(
        [this, here = counted()](session& inside) { return body(inside, here); });
#else
    const auto named = [this, here = counted()](session& inside) { return body(inside, here); };
    (void)co_await io::curl::with_session(named);
    co_return co_await io::curl::with_session([&](session& inside) { return body(inside); });
#endif
  }
  void complete() { pair_.peer_writes("x"); }
  void fail() { fails_ = true; }
  ended took(int value) {
    EXPECT_EQ(value, 7);
    return ended::returned;
  }

 private:
  task<int> body(session& /*inside*/, counted /*here*/ = {}) {
    co_await io::readable(pair_.ours());
    if (fails_) throw planned_failure();
    co_return 7;
  }

  test::foreign_pair pair_;
  std::atomic<bool> fails_{false};
};

using cases = ::testing::Types<with_session_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(curl, awaitable, cases, case_names);

}  // namespace curl_rows
}  // namespace tandem::registry
