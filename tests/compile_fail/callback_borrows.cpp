// callback_borrows.cpp: a callback's pointer must not outlive it: from_callback() wants a conversion.
// SPDX-License-Identifier: MIT
#include <string>

#include <tandem/from_callback.hpp>
#include <tandem/task.hpp>

tandem::task<void> ask(void (*start)(void (*)(const char*, void*), void*)) {
  const auto begin = [start](auto done) { start(done.c_function(), done.c_data()); };
#ifdef TANDEM_CONTROL
  const std::string text = co_await tandem::from_callback<void(const char*)>(
      begin, [](const char* borrowed) { return std::string(borrowed); });
  (void)text;
#else
  (void)co_await tandem::from_callback<void(const char*)>(begin);
#endif
}
