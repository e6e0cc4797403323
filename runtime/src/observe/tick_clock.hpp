// tick_clock.hpp: the steady clock, told by a counter that is cheaper to read.
// SPDX-License-Identifier: MIT
//
// Between two looks at the steady clock, some 10 ms apart, time is what the counter says at the
// pace that it had between the last two. So it is off by the jitter of a look, some 50 ns, may go
// back by so much at a look, and follows a steady clock that is being slewed. A counter that is
// found a thousandth wrong (slewing is half of that at most), that goes back, or that went on while
// the clock stood still (a suspended machine), is not believed any more: from then on all is the
// steady clock.
//
// An anchor is three numbers under a version (a seqlock): odd while they change, else whoever has
// read all three between two equal versions has read one anchor. All loads are acquire, all stores
// release: whoever reads a number of the next anchor sees a version that is not the old one.
// Readers never wait, they take the steady clock instead.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tandem::inline v0::detail {

/// @tparam Source  static functions ticks() and steady_ns()
///
/// @thread_safety  any thread
/// @cost           the counter's, some 5 ns more
template <class Source>
class tick_clock {
 public:
  static constexpr std::int64_t between_looks_ns = 10'000'000;

  /// @param use_ticks  false: it is the steady clock
  explicit tick_clock(bool use_ticks) noexcept : uses_ticks_(use_ticks) {}
  tick_clock(const tick_clock&) = delete;
  tick_clock& operator=(const tick_clock&) = delete;

  std::int64_t now_ns() noexcept {
    const std::uint64_t version = version_.load(std::memory_order_acquire);
    const std::uint64_t since = ticks_.load(std::memory_order_acquire);
    const std::int64_t then = ns_.load(std::memory_order_acquire);
    const std::uint64_t pace = pace_.load(std::memory_order_acquire);
    // Relaxed: ordered by the loads above. A pace of 0: never looked, or not believed.
    if (pace == 0 || version_.load(std::memory_order_relaxed) != version || version % 2 != 0)
        [[unlikely]]
      return look();
    // Below zero, so very large, for a counter that went back, or an anchor that is newer than our
    // reading.
    const std::uint64_t passed = Source::ticks() - since;
    if (passed > most_ticks_.load(std::memory_order_relaxed)) [[unlikely]]
      return look();
    return then + static_cast<std::int64_t>((passed * pace) >> pace_bits);
  }

  bool believes_ticks() const noexcept { return uses_ticks_.load(std::memory_order_relaxed); }

 private:
  static constexpr int pace_bits = 32;  // pace_ is nanoseconds for a tick, so often
  static constexpr int tries = 3;
  static constexpr double most_jitter = 10'000;  // of what has passed, such a part
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  struct reading {
    std::uint64_t ticks = 0;
    std::int64_t ns = 0;
    std::uint64_t width = never;  // in ticks; between the two it was preempted, or worse
  };

  /// Of some the one that took the least time.
  static reading read_both() noexcept {
    reading best;
    for (int i = 0; i < tries; ++i) {
      const std::uint64_t before = Source::ticks();
      const std::int64_t ns = Source::steady_ns();
      const std::uint64_t width = Source::ticks() - before;
      if (width < best.width) best = {before + width / 2, ns, width};
    }
    return best;
  }

  /// @returns  the steady clock
  std::int64_t look() noexcept {
    const std::int64_t now = Source::steady_ns();
    // Relaxed: a hint. Acquire: pairs with the release below; another thread looks already.
    if (!believes_ticks() || now < next_look_ns_.load(std::memory_order_relaxed) ||
        is_looking_.exchange(true, std::memory_order_acquire))
      return now;
    look_again();
    is_looking_.store(false, std::memory_order_release);
    return now;
  }

  /// By one thread at a time.
  void look_again() noexcept {
    const reading now = read_both();
    const std::int64_t passed_ns = now.ns - last_.ns;
    const auto passed = static_cast<double>(static_cast<std::int64_t>(now.ticks - last_.ticks));
    const bool is_first = last_.width == never;
    if (!is_first) {
      if (passed_ns < between_looks_ns) return;
      const double measured = static_cast<double>(passed_ns) / passed;
      const double jitter = static_cast<double>(now.width + last_.width) * std::abs(measured);
      // A look that took long says nothing of the pace.
      if (measured > 0 && jitter > static_cast<double>(passed_ns) / most_jitter) {
        wait_for_next(now.ns);
        return;
      }
      if (!is_possible(measured, passed, static_cast<double>(passed_ns), jitter)) {
        uses_ticks_.store(false, std::memory_order_relaxed);
        publish(now, 0, 0);
        return;
      }
      publish(now, measured, static_cast<double>(between_looks_ns) / measured);
      last_pace_ = measured;
    }
    last_ = now;
    wait_for_next(now.ns);
  }

  bool is_possible(double measured, double passed, double passed_ns, double jitter) const noexcept {
    constexpr double slowest = 1000;  // nanoseconds for a tick: a megahertz
    if (!(measured > 0) || measured > slowest) return false;
    if (last_pace_ == 0) return true;
    return std::abs(passed * last_pace_ - passed_ns) <= passed_ns / 1000 + jitter;
  }

  void publish(const reading& at, double pace, double ticks) noexcept {
    const std::uint64_t version = version_.load(std::memory_order_relaxed);  // only we write it
    version_.store(version + 1, std::memory_order_relaxed);
    ticks_.store(at.ticks, std::memory_order_release);
    ns_.store(at.ns, std::memory_order_release);
    pace_.store(static_cast<std::uint64_t>(std::ldexp(pace, pace_bits)), std::memory_order_release);
    most_ticks_.store(static_cast<std::uint64_t>(ticks), std::memory_order_relaxed);
    version_.store(version + 2, std::memory_order_release);
  }

  void wait_for_next(std::int64_t now_ns) noexcept {
    next_look_ns_.store(now_ns + between_looks_ns, std::memory_order_relaxed);
  }

  // Written once in 10 ms, read by all.
  alignas(64) std::atomic<std::uint64_t> version_{0};
  std::atomic<std::uint64_t> ticks_{0};
  std::atomic<std::int64_t> ns_{0};
  std::atomic<std::uint64_t> pace_{0};
  std::atomic<std::uint64_t> most_ticks_{0};  // of any anchor: they differ by a thousandth
  std::atomic<bool> uses_ticks_;
  alignas(64) std::atomic<std::int64_t> next_look_ns_{std::numeric_limits<std::int64_t>::min()};
  std::atomic<bool> is_looking_{false};
  // Whoever looks.
  reading last_;
  double last_pace_ = 0;  // 0: none yet
};

}  // namespace tandem::inline v0::detail
