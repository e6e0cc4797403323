// random.cpp: random numbers, by the seed of the runtime where it has one.
// SPDX-License-Identifier: MIT
#include <tandem/detail/random.hpp>

#include <atomic>
#include <chrono>

#include <tandem/detail/split_mix.hpp>
#include <tandem/environment.hpp>
#include <tandem/runtime.hpp>

#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0::detail {

namespace {

std::uint64_t fresh_seed() noexcept {
  static std::atomic<std::uint64_t> threads{0};
  std::uint64_t seed =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  // Relaxed: two threads must not get the same number, nothing else.
  seed += threads.fetch_add(0x632BE59BD9B4E019U, std::memory_order_relaxed);
  return split_mix(seed);
}

}  // namespace

std::uint64_t random_bits() noexcept {
  const environment* const env = current_environment();
  if (env != nullptr && env->runtime() != nullptr) {
    driven_loop* const loop = env->runtime()->implementation().loop.get();
    if (loop != nullptr && loop->is_virtual()) return loop->random_bits();
  }
  static thread_local std::uint64_t state = fresh_seed();
  return split_mix(state);
}

}  // namespace tandem::inline v0::detail
