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

bool retry_options::tries_again(unsigned attempt, const std::exception_ptr& failure) const {
  if (attempt >= attempts_ || stop_requested()) return false;
  return !when_ || when_(failure);
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
