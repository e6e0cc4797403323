// rate_limiter.cpp: how many tokens there are, and when there will be enough.
// SPDX-License-Identifier: MIT
#include <tandem/rate_limiter.hpp>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include <tandem/clock.hpp>
#include <tandem/detail/pass_on.hpp>
#include <tandem/sleep.hpp>

namespace tandem::inline v0 {

namespace {

constexpr std::int64_t most_units = std::int64_t{1} << 62;

std::int64_t checked_count(std::size_t count, const char* what) {
  if (count == 0 || count > static_cast<std::size_t>(most_units)) throw std::invalid_argument(what);
  return static_cast<std::int64_t>(count);
}
std::int64_t checked_period(rate_limiter::duration period) {
  const std::int64_t ns = std::chrono::duration_cast<std::chrono::nanoseconds>(period).count();
  if (ns <= 0) throw std::invalid_argument("rate_limiter: the period has to be above zero");
  return ns;
}

/// In line as long as it lives.
class place_in_line {
 public:
  explicit place_in_line(std::atomic<std::uint32_t>& line) noexcept : line_(&line) {
    // Relaxed, both: who comes at the same time has no order; the tokens are under a lock.
    line.fetch_add(1, std::memory_order_relaxed);
  }
  place_in_line(const place_in_line&) = delete;
  place_in_line& operator=(const place_in_line&) = delete;
  ~place_in_line() { line_->fetch_sub(1, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t>* line_;
};

}  // namespace

rate_limiter::rate_limiter(std::size_t count, duration period, std::size_t burst)
    : count_(checked_count(count, "rate_limiter: the number of tokens has to be above zero")),
      period_(checked_period(period)),
      burst_(checked_count(burst, "rate_limiter: the burst has to be above zero")),
      level_(0) {
  if (burst_ > most_units / period_) {
    throw std::invalid_argument("rate_limiter: such a burst takes longer than clocks can tell");
  }
  level_ = burst_ * period_;
}

rate_limiter::~rate_limiter() = default;

void rate_limiter::refill(time_point now) noexcept {
  if (!std::exchange(has_begun_, true)) as_of_ = now;
  if (now <= as_of_) return;
  const std::int64_t passed =
      std::chrono::duration_cast<std::chrono::nanoseconds>(now - as_of_).count();
  as_of_ = now;
  const std::int64_t missing = burst_ * period_ - level_;
  // Without overflow: what fills it up is as good as more.
  level_ += passed > missing / count_ ? missing : (std::min)(passed * count_, missing);
}

std::size_t rate_limiter::available() noexcept {
  const time_point now = tandem::now();
  const std::lock_guard guard(lock_);
  refill(now);
  return static_cast<std::size_t>(level_ / period_);
}

std::int64_t rate_limiter::cost_of(std::size_t tokens) const {
  if (tokens > burst()) {
    throw std::invalid_argument("rate_limiter: so many tokens are never there; the burst is " +
                                std::to_string(burst_));
  }
  return static_cast<std::int64_t>(tokens) * period_;
}

bool rate_limiter::try_take(std::int64_t cost) noexcept {
  // Relaxed: whoever is in line has begun to wait before, or at the same time.
  return waiting_.load(std::memory_order_relaxed) == 0 && !take_or_wait_until(cost);
}

bool rate_limiter::try_acquire(std::size_t tokens) { return try_take(cost_of(tokens)); }

rate_limiter_awaiter rate_limiter::acquire(std::size_t tokens) {
  return rate_limiter_awaiter(*this, cost_of(tokens));
}

std::optional<rate_limiter::time_point> rate_limiter::take_or_wait_until(
    std::int64_t cost) noexcept {
  const time_point now = tandem::now();
  const std::lock_guard guard(lock_);
  refill(now);
  if (level_ >= cost) {
    level_ -= cost;
    return std::nullopt;
  }
  const std::int64_t missing = cost - level_;
  const std::int64_t wait_ns = missing / count_ + (missing % count_ != 0 ? 1 : 0);
  // From the time that the level is of: another thread may have been here with a later one.
  return as_of_ + std::chrono::ceil<duration>(std::chrono::nanoseconds(wait_ns));
}

task<void> rate_limiter::wait_in_line(std::int64_t cost) {
  const place_in_line here(waiting_);
  auto turn = line_.scoped_lock();
  co_await detail::wait_for(turn);
  co_await detail::pass_on(turn.await_failure());
  const mutex_guard first = turn.await_resume();
  while (const std::optional<time_point> due = take_or_wait_until(cost)) {
    auto pause = sleep_until(*due).operator co_await();
    co_await detail::wait_for(pause);
    co_await detail::pass_on(pause.await_failure());
    pause.await_resume();
  }
}

}  // namespace tandem::inline v0
