// incoming_awaiter.cpp: waiting for what an acceptor brings.
// SPDX-License-Identifier: MIT
#include <tandem/io/incoming_awaiter.hpp>
#include <utility>

#include "platform/descriptor.hpp"
#include "receive/acceptor.hpp"

namespace tandem::inline v0::io {

incoming_awaiter::incoming_awaiter(incoming_awaiter&& other) noexcept
    : multishot_awaiter(std::move(other)),
      pool_(other.pool_),
      connections_on_(other.connections_on_),
      got_(std::exchange(other.got_, no_descriptor)) {}

incoming_awaiter::~incoming_awaiter() {
  if (detail::is_descriptor(got_)) platform::close(got_);
}

detail::multishot* incoming_awaiter::make_source() {
  return new detail::acceptor(socket_->thread()->implementation(), socket_->descriptor());
}

bool incoming_awaiter::take() noexcept {
  return static_cast<detail::acceptor*>(socket_->source())->take(got_, end_);
}

tcp_stream incoming_awaiter::made() noexcept {
  completion_thread& thread = connections_on_ != nullptr ? *connections_on_ : pool_->next_thread();
  return tcp_stream(detail::socket(std::exchange(got_, no_descriptor), thread));
}

tcp_stream incoming_awaiter::await_resume() {
  finish("tcp_listener::incoming");
  return made();
}

result<tcp_stream> incoming_awaiter::await_resume_result() {
  if (const std::error_code error = finish_result()) return error;
  return made();
}

}  // namespace tandem::inline v0::io
