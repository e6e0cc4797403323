// retry.cpp: when to try again, and how long to wait before.
// SPDX-License-Identifier: MIT
#include <tandem/retry.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <tandem/detail/random.hpp>
#include <tandem/environment.hpp>
#include <tandem/stop.hpp>

#include "process/suppressed.hpp"

namespace tandem::inline v0 {

namespace {

constexpr std::uint32_t token = 1000;

std::uint32_t checked_budget(unsigned most) {
  if (most == 0 || most > 1'000'000) {
    throw std::invalid_argument("retry_budget: from 1 to 1,000,000 tokens");
  }
  return most * token;
}
std::uint32_t checked_gain(unsigned most, double per_success) {
  if (!(per_success >= 0 && per_success <= most)) {
    throw std::invalid_argument("retry_budget: a success brings from 0 to all tokens");
  }
  return static_cast<std::uint32_t>(std::lround(per_success * token));
}

}  // namespace

retry_budget::retry_budget(unsigned most, double per_success)
    : most_(checked_budget(most)), per_success_(checked_gain(most, per_success)), left_(most_) {}

bool retry_budget::try_spend() noexcept {
  std::uint32_t seen = left_.load(std::memory_order_relaxed);
  do {
    if (seen < token) return false;
  } while (!left_.compare_exchange_weak(seen, seen - token, std::memory_order_relaxed));
  return true;
}

void retry_budget::note_success() noexcept {
  std::uint32_t seen = left_.load(std::memory_order_relaxed);
  std::uint32_t more = 0;
  do {
    if (seen == most_) return;  // mostly
    more = seen + (std::min)(per_success_, most_ - seen);
  } while (!left_.compare_exchange_weak(seen, more, std::memory_order_relaxed));
}

unsigned retry_budget::available() const noexcept {
  return left_.load(std::memory_order_relaxed) / token;
}

retry_options::retry_options() noexcept = default;
retry_options::retry_options(const retry_options&) = default;
retry_options::retry_options(retry_options&&) noexcept = default;
retry_options& retry_options::operator=(const retry_options&) = default;
retry_options& retry_options::operator=(retry_options&&) noexcept = default;
retry_options::~retry_options() = default;

retry_options& retry_options::attempts(unsigned count) {
  if (count == 0) throw std::invalid_argument("retry_options::attempts: at least 1 is needed");
  attempts_ = count;
  return *this;
}

retry_options& retry_options::initial_delay(duration delay) noexcept {
  initial_ = std::max(delay, duration::zero());
  return *this;
}

retry_options& retry_options::factor(double growth) {
  if (!(growth >= 1)) throw std::invalid_argument("retry_options::factor: at least 1 is needed");
  factor_ = growth;
  return *this;
}

retry_options& retry_options::max_delay(duration delay) noexcept {
  max_ = std::max(delay, duration::zero());
  return *this;
}

retry_options& retry_options::jitter(retry_jitter kind) noexcept {
  jitter_ = kind;
  return *this;
}

retry_options& retry_options::when(predicate worth_it) {
  when_ = std::move(worth_it);
  return *this;
}

retry_options& retry_options::budget(retry_budget& shared) noexcept {
  budget_ = &shared;
  return *this;
}

bool retry_options::tries_again(unsigned attempt, const std::exception_ptr& failure) const {
  if (attempt >= attempts_ || stop_requested()) return false;
  if (when_ && !when_(failure)) return false;
  return budget_ == nullptr || budget_->try_spend();
}

retry_options::duration retry_options::delay_after(unsigned attempt) const noexcept {
  const double most = static_cast<double>(max_.count());
  // Beyond the range of a double it is infinite, and the maximum counts; 0 * infinity is caught
  // first.
  if (initial_ <= duration::zero()) return duration::zero();
  double delay = static_cast<double>(initial_.count()) * std::pow(factor_, attempt - 1);
  delay = std::min(delay, most);
  if (jitter_ != retry_jitter::none) {
    const double part = static_cast<double>(detail::random_bits() >> 11) * 0x1p-53;  // [0, 1)
    delay *= jitter_ == retry_jitter::full ? part : 0.5 + part / 2;
  }
  // Rounding up to a double may have passed the maximum.
  return delay < most ? duration(static_cast<duration::rep>(delay)) : max_;
}

namespace detail {

void report_last_failure(const std::exception_ptr& failure) noexcept {
  suppressed(current_environment()->runtime()->options(), failure);
}

}  // namespace detail

}  // namespace tandem::inline v0
