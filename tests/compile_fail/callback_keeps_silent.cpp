// callback_keeps_silent.cpp: a callback that has to return something needs a conversion to say what.
// SPDX-License-Identifier: MIT
#include <tandem/from_callback.hpp>
#include <tandem/task.hpp>

tandem::task<int> ask(void (*start)(tandem::callback<int(int)>)) {
#ifdef TANDEM_CONTROL
  co_return co_await tandem::from_callback<int(int)>(
      start, [](int heard) { return tandem::returning(0, heard); });
#else
  co_return co_await tandem::from_callback<int(int)>(start);
#endif
}
