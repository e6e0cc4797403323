// callback_conversion.cpp: functions that do not fit the callback's signature are refused in words.
// SPDX-License-Identifier: MIT
#include <string>

#include <tandem/callback_stream.hpp>
#include <tandem/from_callback.hpp>
#include <tandem/task.hpp>

tandem::task<void> ask(void (*begin)(void (*)(int, const char*, void*), void*)) {
  const auto start = [begin](auto done) { begin(done.c_function(), done.c_data()); };
  const auto text = [](int, const char* borrowed) { return std::string(borrowed); };
#ifdef TANDEM_CONTROL
  (void)co_await tandem::from_callback<void(int, const char*)>(start, text);
#elif defined(TANDEM_CASE_one)
  const auto one = [](const char* borrowed) { return std::string(borrowed); };
  (void)co_await tandem::from_callback<void(int, const char*)>(start, one);
#elif defined(TANDEM_CASE_answer)
  const auto answers = [](int, const char*) { return tandem::returning(0, 1); };
  (void)co_await tandem::from_callback<void(int, const char*)>(start, answers);
#elif defined(TANDEM_CASE_returned)
  const auto answers = [](int number) { return tandem::returning("text", number); };
  (void)co_await tandem::from_callback<int(int)>([](auto done) { done(1); }, answers);
#elif defined(TANDEM_CASE_begin)
  (void)co_await tandem::from_callback<void(int, const char*)>([] {}, text);
#elif defined(TANDEM_CASE_subscribe)
  const auto use = [](auto& values) -> tandem::task<void> { (void)co_await values.next(); };
  const auto subscribe = [](tandem::callback<void(int)>) {};
  (void)co_await tandem::with_callbacks(
      tandem::callback_stream<void(int, long)>(8, tandem::overflow_policy::fail, subscribe), use);
#else
  const auto use = [](auto& values) -> tandem::task<void> { (void)co_await values.next(); };
  const auto subscribe = [](auto) {};
  const auto one = [](int) { return 1; };
  (void)co_await tandem::with_callbacks(
      tandem::callback_stream<void(int, long)>(8, tandem::overflow_policy::fail, subscribe, one),
      use);
#endif
}
