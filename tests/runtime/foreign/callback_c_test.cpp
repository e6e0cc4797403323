// callback_c_test.cpp: the forms of a callback for libraries in C: a function, a void* and a destroy-notify.
// SPDX-License-Identifier: MIT
#include <tandem/from_callback.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include <tandem/as_result.hpp>
#include <tandem/spawn.hpp>

#include "test_runtime.hpp"

namespace {

using tandem::as_result;
using tandem::errc;
using tandem::from_callback;
using tandem::late_callbacks;
using tandem::task;
using tandem::test::test_runtime;

// A library in C: it has a function and a void*.
struct c_library {
  void (*function)(int, const char*, void*) = nullptr;
  void* data = nullptr;
  void (*destroy)(void*) = nullptr;
};

TEST(callback_in_c, a_function_in_c_gets_a_number_for_its_pointer) {
  test_runtime rt;
  c_library library;
  const std::uint64_t before = late_callbacks();
  const auto check = [&library]() -> task<std::string> {
    co_return co_await from_callback<void(int, const char*)>(
        [&library](auto done) {
          library = {done.c_function(), done.c_data(), nullptr};
          std::string gone = "borrowed";
          library.function(1, gone.c_str(), library.data);
          gone = "........";
        },
        [](int, const char* text) { return std::string(text); });
  };
  EXPECT_EQ(rt.run(check()), "borrowed");
  library.function(1, "late", library.data);  // hits nothing
  EXPECT_EQ(late_callbacks() - before, 1U);
  constexpr std::array<std::uintptr_t, 4> all_made_up = {0, 1, 0xFFFFFFFFFFFFFFFF,
                                                         0x00007F0012345678};
  for (const std::uintptr_t made_up : all_made_up) {
    library.function(1, "", reinterpret_cast<void*>(made_up));
  }
  EXPECT_EQ(late_callbacks() - before, 5U);
}

TEST(callback_in_c, the_pointer_may_come_first) {
  test_runtime rt;
  const auto check = []() -> task<int> {
    co_return co_await from_callback<void(int)>(
        [](auto done) { done.c_function_first()(done.c_data(), 6); });
  };
  EXPECT_EQ(rt.run(check()), 6);
}

TEST(callback_in_c, a_destroy_notify_of_c_ends_the_await) {
  test_runtime rt;
  c_library library;
  const auto check = [&library]() -> task<void> {
    std::thread other;
    const auto got = co_await as_result(from_callback<void(int, const char*)>(
        [&](auto done) {
          (void)done.c_data();  // asked for twice, held once
          library = {done.c_function(), done.c_data(), done.c_drop()};
          other = std::thread([&library] { library.destroy(library.data); });
        },
        [](int number, const char*) { return number; }));
    EXPECT_EQ(got.error(), errc::callback_dropped);
    other.join();
    library.destroy(library.data);  // late: nothing
  };
  rt.run(check());
}

TEST(callback_in_c, held_by_c_alone_it_waits) {
  test_runtime rt;
  c_library library;
  std::atomic<bool> there{false};
  auto waiting = rt->spawn([](c_library& of, std::atomic<bool>& begun) -> task<int> {
    co_return co_await from_callback<void(int, const char*)>(
        [&](auto done) {
          of = {done.c_function(), done.c_data(), nullptr};
          begun = true;
        },
        [](int number, const char*) { return number; });
  }(library, there));
  while (!there) std::this_thread::yield();
  library.function(8, "", library.data);
  EXPECT_EQ(waiting.wait(), 8);
}

}  // namespace
