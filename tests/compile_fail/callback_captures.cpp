// callback_captures.cpp: g++ 12 gets no temporary lambda whose captures it would destroy twice.
// SPDX-License-Identifier: MIT
#include <string>
#include <utility>

#include <tandem/from_callback.hpp>
#include <tandem/invoke.hpp>
#include <tandem/task.hpp>

tandem::task<int> ask(std::string name) {
  auto start = [name](auto done) { done(static_cast<int>(name.size())); };
  auto convert = [name](int number) { return number + static_cast<int>(name.size()); };
  auto on_stop = [name]() noexcept {};
#ifdef TANDEM_CONTROL
  co_return co_await tandem::from_callback<void(int)>(start, tandem::moved(convert), on_stop);
#elif defined(TANDEM_CASE_start)
  co_return co_await tandem::from_callback<void(int)>(std::move(start), convert, on_stop);
#elif defined(TANDEM_CASE_convert)
  co_return co_await tandem::from_callback<void(int)>(start, std::move(convert), on_stop);
#else
  co_return co_await tandem::from_callback<void(int)>(start, convert, [name]() noexcept {});
#endif
}
