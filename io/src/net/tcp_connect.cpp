// tcp_connect.cpp: making a connection.
// SPDX-License-Identifier: MIT
#include <netinet/in.h>

#include <string>
#include <tandem/io/tcp_stream.hpp>
#include <utility>

#include "net/socket_calls.hpp"
#include "net/socket_options.hpp"

namespace tandem::inline v0::io {

connect_awaiter::connect_awaiter(const endpoint& peer, const tcp_options& options) noexcept
    : peer_(peer), options_(options), operation_(detail::operation_kind::connect, nullptr, 0) {}
connect_awaiter::~connect_awaiter() = default;

bool connect_awaiter::start(tandem::detail::promise_base& waiting) {
  completion_thread& thread = current_completion_pool("tcp_stream::connect").next_thread();
  const int descriptor = ::socket(family_of(peer_), SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
  if (descriptor < 0) {
    open_error_ = errno;
    return false;
  }
  socket_ = detail::socket(descriptor, thread);
  refused_ = apply_options(descriptor, options_);
  if (refused_ != nullptr) {
    open_error_ = errno;
    return false;
  }
  return operation_.start_connect(thread, descriptor, peer_, waiting);
}

result<tcp_stream> connect_awaiter::await_resume_result() {
  if (open_error_ != 0) return std::error_code(open_error_, std::generic_category());
  if (operation_.failed()) return operation_.error();
  return tcp_stream(std::move(socket_));
}

tcp_stream connect_awaiter::await_resume() {
  if (open_error_ != 0) {
    throw std::system_error(open_error_, std::generic_category(),
                            refused_ != nullptr
                                ? std::string("tcp_stream::connect: tcp_options::") + refused_
                                : "tcp_stream::connect: socket");
  }
  if (operation_.failed()) {
    operation_.throw_failure(("tcp_stream::connect to " + peer_.to_string()).c_str());
  }
  return tcp_stream(std::move(socket_));
}

}  // namespace tandem::inline v0::io
