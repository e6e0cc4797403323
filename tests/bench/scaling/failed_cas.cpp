// failed_cas.cpp: counts the compare-and-exchange operations that failed, in all of the program.
// SPDX-License-Identifier: MIT
//
// In a build whose atomics are calls (g++ -fno-inline-atomics), the linker leads those calls here
// (--wrap). On x86-64 a weak one fails only as a strong one does: the value was another one.
#include <atomic>
#include <cstdint>

#include "failed_cas.hpp"

namespace {

std::atomic<std::uint64_t> count{0};

bool counted(bool succeeded) noexcept {
  // As a call, too, which nobody wraps.
  if (!succeeded) count.fetch_add(1, std::memory_order_relaxed);
  return succeeded;
}

}  // namespace

// NOLINTBEGIN: names that the linker makes
#define TANDEM_WRAP(bytes, word)                                                                   \
  extern "C" bool __real___atomic_compare_exchange_##bytes(volatile void*, void*, word, int, int); \
  extern "C" bool __wrap___atomic_compare_exchange_##bytes(volatile void* at, void* seen,          \
                                                           word next, int won, int lost) {         \
    return counted(__real___atomic_compare_exchange_##bytes(at, seen, next, won, lost));           \
  }
TANDEM_WRAP(1, std::uint8_t)
TANDEM_WRAP(2, std::uint16_t)
TANDEM_WRAP(4, std::uint32_t)
TANDEM_WRAP(8, std::uint64_t)
#undef TANDEM_WRAP
// NOLINTEND

std::uint64_t failed_cas() noexcept { return count.load(std::memory_order_relaxed); }
