// asio_cases.cpp: the row of use_await, of an operation of several steps that a thread of Asio's completes.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "case_of.hpp"
#include "io/interop/asio_flavour.hpp"

namespace tandem::registry {
namespace asio_rows {  // not an unnamed one: g++ warns of frames that hold such types

/// A byte of a socket of Asio's.
class use_await_case : public case_base {
 public:
  using socket = test::local_socket;
  using asio_awaiter =
      decltype(asio::async_read(std::declval<socket&>(), asio::mutable_buffer(), use_await));

  static constexpr std::string_view name = "use_await";
  using awaiters = covers<asio_awaiter>;
  static constexpr clock_kind clock = clock_kind::real_clock;
  static constexpr bool ready_at_once = true;
  static constexpr row cells = every_column.without(
      column::exception, "a read fails with a code of Asio's: use_await_test looks at those");

  use_await_case() { test::connect_pair(near_, far_); }
  ~use_await_case() {
    work_.reset();
    context_.stop();
    loop_.join();
  }

  auto make() { return asio::async_read(near_, asio::mutable_buffer(&byte_, 1), use_await); }
  void complete() { asio::write(far_, asio::buffer(std::vector<char>(64))); }
  ended took(std::size_t count) {
    EXPECT_EQ(count, 1u);
    return ended::returned;
  }

 private:
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  socket near_{context_};
  socket far_{context_};
  char byte_ = 0;  // the loop's
  std::thread loop_{[this] { context_.run(); }};
};

using cases = ::testing::Types<use_await_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(asio, awaitable, cases, case_names);

}  // namespace asio_rows
}  // namespace tandem::registry
