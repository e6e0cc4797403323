// sync_support.hpp: what the tests of event, mutex, semaphore, latch, wait_group and channel share.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/config.hpp>
#include <tandem/errors.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "sanitized.hpp"
#include "test_runtime.hpp"

namespace tandem::test {

/// Calls of operator new by each thread; see TANDEM_TEST_COUNT_NEW.
inline thread_local long news_of_thread = 0;

/// Those by the caller's thread: a pool may start its threads meanwhile. Never inlined, so that a
/// coroutine does not keep the address over a suspension.
TANDEM_NOINLINE inline long news() noexcept { return news_of_thread; }

/// How an await ended, as a letter: r for returned, c for cancelled.
template <class Awaitable>
task<void> note_end(Awaitable wait, std::string& log) {
  try {
    (void)co_await std::move(wait);
    log += 'r';
  } catch (const operation_cancelled&) {
    log += 'c';
  }
}

/// Lets everything that is queued on a runtime of one worker run until it waits.
inline task<void> settle() {
  for (int i = 0; i < 32; ++i) co_await yield();
}

}  // namespace tandem::test

// Once per executable: an operator new that counts. Sanitizers bring their own: there nothing
// counts.
#if TANDEM_TEST_SANITIZED
#define TANDEM_TEST_COUNT_NEW
#else
#define TANDEM_TEST_COUNT_NEW                                              \
  void* operator new(std::size_t size) {                                   \
    ++tandem::test::news_of_thread;                                        \
    if (void* const made = std::malloc(size != 0 ? size : 1)) return made; \
    throw std::bad_alloc();                                                \
  }                                                                        \
  void operator delete(void* gone) noexcept { std::free(gone); }           \
  void operator delete(void* gone, std::size_t) noexcept { std::free(gone); }
#endif
