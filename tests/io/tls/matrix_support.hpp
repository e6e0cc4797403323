// matrix_support.hpp: what the laws of the matrix of ends share.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <system_error>
#include <tandem/result.hpp>
#include <tandem/stop.hpp>

#include "io/tls/conversation.hpp"
#include "io/tls/matrix_table.hpp"

namespace tandem::test {

inline constexpr std::chrono::steady_clock::duration long_enough = std::chrono::seconds(60);
/// For time-outs that will be over, whatever happens.
inline constexpr std::chrono::milliseconds short_time{30};

/// Of a call that has failed.
template <class T>
outcome failure_of(const result<T>& got) {
  if (got.reason() == stop_reason::user) return user_stop;
  if (got.reason() == stop_reason::deadline) return deadline;
  if (got.error() == tls::errc::truncated) return truncated;
  if (got.error() == std::errc::connection_reset) return reset;
  return not_asked;
}
template <class T>
std::string text_of(const result<T>& got) {
  if (got.has_value()) return "no failure";
  return got.error().message() + " (" + got.error().category().name() + ")";
}

inline void expect_read(const result<std::size_t>& got, outcome expected) {
  const outcome seen = !got.has_value() ? failure_of(got) : got.value() == 0 ? end : works;
  EXPECT_EQ(static_cast<int>(seen), static_cast<int>(expected)) << text_of(got);
}
inline void expect_write(const result<std::size_t>& got, outcome expected) {
  const bool is_refusal =
      got.error() == std::errc::broken_pipe || got.error() == std::errc::connection_reset;
  const outcome seen = got.has_value() ? works : is_refusal ? refused : failure_of(got);
  EXPECT_EQ(static_cast<int>(seen), static_cast<int>(expected)) << text_of(got);
}
inline void expect_finish(const result<bool>& got, outcome expected) {
  const outcome seen = !got.has_value() ? failure_of(got) : got.value() ? yes : no;
  EXPECT_EQ(static_cast<int>(seen), static_cast<int>(expected)) << text_of(got);
}

inline task<result<bool>> finish_of(io::tls_stream& stream,
                                    std::chrono::steady_clock::duration most = long_enough) {
  co_return co_await as_result(stream.finish(most));
}

/// A law for each cell.
class matrix_test : public ::testing::TestWithParam<end_cell> {
 protected:
  void SetUp() override { TANDEM_NEEDS_PROGRAM(program_of(GetParam().peer)); }
};

inline std::string name_of_cell(const ::testing::TestParamInfo<end_cell>& cell) {
  return cell.param.name();
}

}  // namespace tandem::test
