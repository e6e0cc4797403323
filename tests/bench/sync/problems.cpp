// problems.cpp: how suite sync measures: time, CPU time, and a global operator new that counts when asked to.
// SPDX-License-Identifier: MIT
#include "problems.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

// Counters and a flag that nothing else depends on: relaxed throughout. The loop that is counted
// has been joined by the thread that reads.
std::atomic<bool> counted{false};
std::atomic<long> count{0};

void* allocate(std::size_t size, std::size_t alignment) {
  if (counted.load(std::memory_order_relaxed)) count.fetch_add(1, std::memory_order_relaxed);
  void* const memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(size)
          : std::aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

long share_of_all = 1;

}  // namespace

void* operator new(std::size_t size) { return allocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace tandem::bench {

double nanoseconds(long n, const loop& work) {
  work(std::max(n / 10, 1L));
  return nanoseconds_per(static_cast<double>(n), [&] { work(n); });
}

double allocations(long n, const loop& work) {
  n = std::max(n / 10, 1L);
  work(n);
  counted.store(true, std::memory_order_relaxed);
  work(n);
  counted.store(false, std::memory_order_relaxed);
  return static_cast<double>(count.exchange(0, std::memory_order_relaxed)) / static_cast<double>(n);
}

double cpu_nanoseconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto nanoseconds_of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3;
  };
  return nanoseconds_of(used.ru_utime) + nanoseconds_of(used.ru_stime);
}

void set_share(long share) { share_of_all = share; }
long scaled(long n) { return std::max(n / share_of_all, std::min(n, 2 * problems::scope_size)); }

}  // namespace tandem::bench
