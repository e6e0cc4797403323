// receive_awaiter.cpp: waiting for what a receiver brings.
// SPDX-License-Identifier: MIT
#include <tandem/io/receive_awaiter.hpp>
#include <utility>

#include "receive/receiver.hpp"

namespace tandem::inline v0::io {

detail::multishot* receive_awaiter::make_source() {
  return new detail::receiver(socket_->thread()->implementation(), socket_->descriptor());
}

bool receive_awaiter::take() noexcept {
  return static_cast<detail::receiver*>(socket_->source())->take(got_, end_);
}

leased_buffer receive_awaiter::await_resume() {
  finish("tcp_stream::receive");
  return std::move(got_);
}

result<leased_buffer> receive_awaiter::await_resume_result() {
  if (const std::error_code error = finish_result()) return error;
  return std::move(got_);
}

}  // namespace tandem::inline v0::io
