// stream_borrows.cpp: a view that a call brings must not outlive it: callback_stream() wants a conversion.
// SPDX-License-Identifier: MIT
#include <string>
#include <string_view>

#include <tandem/callback_stream.hpp>
#include <tandem/task.hpp>

tandem::task<void> listen(void (*start)(tandem::callback<void(std::string_view)>)) {
  const auto use = [](auto& lines) -> tandem::task<void> {
    while (co_await lines.next()) {}
  };
#ifdef TANDEM_CONTROL
  co_await tandem::with_callbacks(
      tandem::callback_stream<std::string_view>(
          8, tandem::overflow_policy::fail, start,
          [](std::string_view borrowed) { return std::string(borrowed); }),
      use);
#else
  co_await tandem::with_callbacks(
      tandem::callback_stream<std::string_view>(8, tandem::overflow_policy::fail, start), use);
#endif
}
