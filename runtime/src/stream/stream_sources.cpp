// stream_sources.cpp: the sources that depend on no type of the user's.
// SPDX-License-Identifier: MIT
#include <tandem/stream_sources.hpp>

namespace tandem::inline v0::detail {

stream<std::chrono::steady_clock::time_point> run_ticks(interval::duration period,
                                                        missed_ticks policy) {
  interval every(period, policy);
  while (true) {
    const auto tick = co_await every.tick();
    const bool goes_on = co_yield pass_item(std::addressof(tick));
    if (!goes_on) break;
  }
}

}  // namespace tandem::inline v0::detail
