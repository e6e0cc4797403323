// thread_record_test.cpp: what Windows calls at the end of a thread, and in which order.
// SPDX-License-Identifier: MIT
#include "platform/windows/thread_record.hpp"

#include <gtest/gtest.h>
#include <windows.h>

#include <atomic>

#include "platform/threads.hpp"

namespace {

namespace platform = tandem::platform;

std::atomic<int> ends{0};
std::atomic<bool> asks_late{false};

void note_end() noexcept { ++ends; }

void NTAPI at_end_of_thread(void*, DWORD why, void*) {
  if (why != DLL_THREAD_DETACH || !asks_late.exchange(false)) return;
  EXPECT_EQ(ends.load(), 1);
  EXPECT_TRUE(tandem::detail::at_thread_exit(tandem::detail::exit_step::notes, &note_end));
}

DWORD WINAPI run(void*) {
  EXPECT_TRUE(tandem::detail::at_thread_exit(tandem::detail::exit_step::notes, &note_end));
  return 0;
}

}  // namespace

// Where MSVC and MinGW destroy thread_locals of threads that the standard library has not begun.
extern "C" [[gnu::section(".CRT$XLF"), gnu::used]] const PIMAGE_TLS_CALLBACK test_end_of_thread =
    &at_end_of_thread;

namespace {

TEST(thread_record, what_is_noted_after_the_end_has_begun_is_called_too) {
  asks_late = true;
  const HANDLE thread = ::CreateThread(nullptr, 0, &run, nullptr, 0, nullptr);
  ASSERT_NE(thread, nullptr);
  EXPECT_EQ(::WaitForSingleObject(thread, INFINITE), WAIT_OBJECT_0);
  ::CloseHandle(thread);
  EXPECT_FALSE(asks_late);
  EXPECT_EQ(ends.load(), 2);
}

}  // namespace
