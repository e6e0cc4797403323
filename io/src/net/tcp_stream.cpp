// tcp_stream.cpp: making, setting and resetting a connection.
// SPDX-License-Identifier: MIT
#include <tandem/io/tcp_stream.hpp>

#include <string>
#include <utility>

#include "net/checked.hpp"
#include "net/socket_options.hpp"
#include "platform/sockets.hpp"
#include "platform/tcp_details.hpp"

namespace tandem::inline v0::io {

connect_awaiter::connect_awaiter(const endpoint& peer, const tcp_options& options) noexcept
    : peer_(peer), options_(options), operation_(detail::operation_kind::connect, nullptr, 0) {}
connect_awaiter::~connect_awaiter() = default;

bool connect_awaiter::start(tandem::detail::promise_base& waiting) {
  completion_thread& thread = current_completion_pool(operation_.name()).thread_for(*waiting.home);
  result<native_descriptor> opened = platform::open_tcp_socket(peer_.family());
  if (!opened) {
    open_error_ = opened.error();
    return false;
  }
  const native_descriptor descriptor = opened.value();
  socket_ = detail::socket(descriptor, thread);
  if (const refused_option refused = apply_options(descriptor, options_)) {
    open_error_ = refused.error;
    refused_ = refused.name;
    return false;
  }
  return operation_.start_connect(thread, descriptor, peer_, waiting);
}

result<tcp_stream> connect_awaiter::await_resume_result() {
  if (open_error_) return open_error_;
  if (operation_.failed()) return operation_.error();
  return tcp_stream(std::move(socket_));
}

tcp_stream connect_awaiter::await_resume() {
  if (open_error_) {
    throw std::system_error(open_error_,
                            refused_ != nullptr
                                ? std::string("tcp_stream::connect: tcp_options::") + refused_
                                : "tcp_stream::connect: socket");
  }
  if (operation_.failed()) {
    operation_.throw_failure(("tcp_stream::connect to " + peer_.to_string()).c_str());
  }
  return tcp_stream(std::move(socket_));
}

tcp_stream tcp_stream::from_native(native_descriptor descriptor) {
  return from_native(default_completion_pool("tcp_stream::from_native"), descriptor);
}

tcp_stream tcp_stream::from_native(completion_pool& pool, native_descriptor descriptor) {
  adopt_or_throw(descriptor, platform::adopted_kind::stream, "tcp_stream::from_native");
  return tcp_stream(detail::socket(descriptor, pool.next_thread()));
}

void tcp_stream::abort() noexcept {
  if (!is_open()) return;
  platform::set_reset_at_close(socket_.descriptor());
  close();
}

endpoint tcp_stream::local_endpoint() const {
  return checked(platform::local_endpoint_of(socket_.descriptor()), "tcp_stream::local_endpoint");
}
endpoint tcp_stream::remote_endpoint() const {
  return checked(platform::remote_endpoint_of(socket_.descriptor()), "tcp_stream::remote_endpoint");
}

void tcp_stream::set_options(const tcp_options& options) {
  apply_options_or_throw(socket_.descriptor(), options, "tcp_stream::set_options");
}
void tcp_stream::set_no_delay(bool on) {
  check(platform::set_no_delay(socket_.descriptor(), on), "tcp_stream::set_no_delay");
}
void tcp_stream::set_keep_alive(const std::optional<keep_alive>& alive) {
  check(platform::set_keep_alive(socket_.descriptor(), alive), "tcp_stream::set_keep_alive");
}
void tcp_stream::set_linger(const std::optional<std::chrono::seconds>& span) {
  check(platform::set_linger(socket_.descriptor(), span), "tcp_stream::set_linger");
}
void tcp_stream::set_receive_buffer_bytes(std::size_t bytes) {
  check(platform::set_receive_buffer_bytes(socket_.descriptor(), bytes),
        "tcp_stream::set_receive_buffer_bytes");
}
void tcp_stream::set_send_buffer_bytes(std::size_t bytes) {
  check(platform::set_send_buffer_bytes(socket_.descriptor(), bytes),
        "tcp_stream::set_send_buffer_bytes");
}
void tcp_stream::set_user_timeout(std::chrono::milliseconds span) {
  check(platform::set_user_timeout(socket_.descriptor(), span), "tcp_stream::set_user_timeout");
}
void tcp_stream::set_quick_ack(bool on) {
  check(platform::set_quick_ack(socket_.descriptor(), on), "tcp_stream::set_quick_ack");
}

void tcp_stream::set_traffic_class(std::uint8_t value) {
  check(platform::set_traffic_class(socket_.descriptor(), value), "tcp_stream::set_traffic_class");
}
void tcp_stream::set_mark(std::uint32_t mark) {
  check(platform::set_mark(socket_.descriptor(), mark), "tcp_stream::set_mark");
}
void tcp_stream::set_congestion_control(const system_name& name) {
  check(platform::set_congestion_control(socket_.descriptor(), name),
        "tcp_stream::set_congestion_control");
}

tcp_options tcp_stream::options() const {
  tcp_options now = checked(platform::options_of(socket_.descriptor()), "tcp_stream::options");
  platform::add_details(socket_.descriptor(), now);
  return now;
}

tcp_statistics tcp_stream::statistics() const {
  return checked(platform::statistics_of(socket_.descriptor()), "tcp_stream::statistics");
}

}  // namespace tandem::inline v0::io
