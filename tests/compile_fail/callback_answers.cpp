// callback_answers.cpp: a callback that has to return something gets it from the conversion.
// SPDX-License-Identifier: MIT
#include <tandem/from_callback.hpp>
#include <tandem/task.hpp>

tandem::task<int> ask(void (*start)(int (*)(int, void*), void*)) {
  const auto begin = [start](auto done) { start(done.c_function(), done.c_data()); };
#ifdef TANDEM_CONTROL
  co_return co_await tandem::from_callback<int(int)>(
      begin, [](int heard) { return tandem::returning(0, heard); });
#else
  co_return co_await tandem::from_callback<int(int)>(begin, [](int heard) { return heard; });
#endif
}
