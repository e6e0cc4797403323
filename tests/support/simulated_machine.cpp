// simulated_machine.cpp: processor sharing.
// SPDX-License-Identifier: MIT
#include "simulated_machine.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tandem::test {

namespace {

/// The earliest end on top.
constexpr auto later = [](const auto& left, const auto& right) { return left.first > right.first; };

}  // namespace

void simulated_machine::compute(unsigned worker, double seconds) {
  computing_.emplace_back(service_ + seconds, worker);
  std::push_heap(computing_.begin(), computing_.end(), later);
}

void simulated_machine::wait(unsigned worker, double seconds) {
  waiting_.emplace_back(now_ + seconds, worker);
  std::push_heap(waiting_.begin(), waiting_.end(), later);
}

simulated_machine::event simulated_machine::next(double limit, unsigned& worker) {
  event found = event::nothing;
  double when = limit;
  if (!computing_.empty()) {
    const double ends = now_ + std::max(0.0, computing_.front().first - service_) / share();
    if (ends <= when) {
      when = ends;
      found = event::computed;
    }
  }
  if (!waiting_.empty() && waiting_.front().first <= when) {
    when = std::max(now_, waiting_.front().first);
    found = event::waited;
  }
  pass(when - now_);
  now_ = when;
  if (found == event::nothing) return found;
  auto& heap = found == event::computed ? computing_ : waiting_;
  if (found == event::computed) service_ = std::max(service_, heap.front().first);
  worker = heap.front().second;
  std::pop_heap(heap.begin(), heap.end(), later);
  heap.pop_back();
  return found;
}

double simulated_machine::share() const noexcept {
  return std::min(1.0, static_cast<double>(cpus_) / static_cast<double>(computing_.size()));
}

void simulated_machine::pass(double seconds) noexcept {
  if (computing_.empty()) return;
  service_ += seconds * share();
  busy_ += seconds * static_cast<double>(std::min<std::size_t>(cpus_, computing_.size()));
}

double simulated_machine::uniform() noexcept {
  // xorshift64*; its low bits are weak, the upper 53 are used.
  random_ ^= random_ >> 12;
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  return static_cast<double>((random_ * 0x2545F4914F6CDD1DU) >> 11) * 0x1p-53;
}

double simulated_machine::noisy(double mean, double deviation) noexcept {
  return mean * (1 + deviation * std::numbers::sqrt3 * (2 * uniform() - 1));
}

double simulated_machine::exponential(double mean) noexcept {
  return -mean * std::log1p(-uniform());
}

}  // namespace tandem::test
