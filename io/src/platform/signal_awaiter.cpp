// signal_awaiter.cpp: a signal's number comes as a byte of the set's pipe, on every system.
// SPDX-License-Identifier: MIT
#include <tandem/io/signal_set.hpp>

namespace tandem::inline v0::io {

signal_awaiter::signal_awaiter(detail::socket& pipe) noexcept
    : socket_awaiter(detail::operation_kind::read_own, pipe, &number_, 1) {}
signal_awaiter::signal_awaiter(signal_awaiter&& other) noexcept : signal_awaiter(*other.socket_) {}

int signal_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) operation_.throw_failure(operation_.name());
  return number_;
}

result<int> signal_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return static_cast<int>(number_);
}

}  // namespace tandem::inline v0::io
