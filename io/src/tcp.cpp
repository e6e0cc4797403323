// tcp.cpp: sockets, streams and listeners.
// SPDX-License-Identifier: MIT
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <utility>

#include "socket_address.hpp"

namespace tandem::inline v0::io {

namespace {

[[noreturn]] void throw_last_error(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

void set_option(int descriptor, int level, int name, int value) noexcept {
  // The ones we set are hints, or cannot fail on a socket of ours.
  (void)::setsockopt(descriptor, level, name, &value, sizeof value);
}

int family_of(const endpoint& address) noexcept {
  return address.family() == address_family::ipv4 ? AF_INET : AF_INET6;
}

template <class T>
result<T> failure_of(const detail::operation& operation) {
  return operation.error();
}

endpoint name_of(int descriptor, int (*ask)(int, sockaddr*, socklen_t*), const char* what) {
  socket_address address;
  if (ask(descriptor, address.data(), address.capacity()) != 0) throw_last_error(what);
  return address.to_endpoint();
}

}  // namespace

detail::socket::socket(socket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), thread_(other.thread_) {
  TANDEM_ASSERT(other.in_flight_.load(std::memory_order_relaxed) == 0,
                "a socket was moved while an operation was in flight on it");
}

detail::socket& detail::socket::operator=(socket&& other) noexcept {
  if (this != &other) {
    TANDEM_ASSERT(other.in_flight_.load(std::memory_order_relaxed) == 0,
                  "a socket was moved while an operation was in flight on it");
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
    thread_ = other.thread_;
  }
  return *this;
}

void detail::socket::close() noexcept {
  if (descriptor_ < 0) return;
  TANDEM_ASSERT(
      in_flight_.load(std::memory_order_relaxed) == 0,
      "a socket was closed while an operation was in flight on it: stop and await it first");
  ::close(std::exchange(descriptor_, -1));
}

std::size_t transfer_awaiter::await_resume() {
  socket_->end_operation();
  if (operation_.failed()) {
    operation_.throw_failure(operation_.kind() == detail::operation_kind::receive
                                 ? "tcp_stream::read"
                                 : "tcp_stream::write");
  }
  return static_cast<std::size_t>(operation_.outcome());
}

result<std::size_t> transfer_awaiter::await_resume_result() {
  socket_->end_operation();
  if (operation_.failed()) return failure_of<std::size_t>(operation_);
  return static_cast<std::size_t>(operation_.outcome());
}

void write_all_awaiter::await_resume() {
  socket_->end_operation();
  if (operation_.failed()) operation_.throw_failure("tcp_stream::write_all");
}

result<void> write_all_awaiter::await_resume_result() {
  socket_->end_operation();
  if (operation_.failed()) return failure_of<void>(operation_);
  return {};
}

connect_awaiter::connect_awaiter(const endpoint& peer) noexcept
    : peer_(peer), operation_(detail::operation_kind::connect, nullptr, -1, nullptr, 0) {}
connect_awaiter::~connect_awaiter() = default;

bool connect_awaiter::start(tandem::detail::promise_base& waiting) {
  completion_thread& thread = current_completion_pool("tcp_stream::connect").next_thread();
  const int descriptor = ::socket(family_of(peer_), SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
  if (descriptor < 0) {
    open_error_ = errno;
    return false;
  }
  set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  socket_ = detail::socket(descriptor, thread);
  return operation_.start_connect(thread, descriptor, peer_, waiting);
}

result<tcp_stream> connect_awaiter::await_resume_result() {
  if (open_error_ != 0) return std::error_code(open_error_, std::generic_category());
  if (operation_.failed()) return failure_of<tcp_stream>(operation_);
  return tcp_stream(std::move(socket_));
}

tcp_stream connect_awaiter::await_resume() {
  if (open_error_ != 0) {
    throw std::system_error(open_error_, std::generic_category(), "tcp_stream::connect: socket");
  }
  if (operation_.failed()) {
    operation_.throw_failure(("tcp_stream::connect to " + peer_.to_string()).c_str());
  }
  return tcp_stream(std::move(socket_));
}

void tcp_stream::shutdown(shutdown_kind kind) {
  const int how = kind == shutdown_kind::read    ? SHUT_RD
                  : kind == shutdown_kind::write ? SHUT_WR
                                                 : SHUT_RDWR;
  if (::shutdown(socket_.descriptor(), how) != 0) throw_last_error("tcp_stream::shutdown");
}

endpoint tcp_stream::local_endpoint() const {
  return name_of(socket_.descriptor(), &::getsockname, "tcp_stream::local_endpoint");
}
endpoint tcp_stream::remote_endpoint() const {
  return name_of(socket_.descriptor(), &::getpeername, "tcp_stream::remote_endpoint");
}

result<tcp_stream> accept_awaiter::await_resume_result() {
  socket_->end_operation();
  if (operation_.failed()) return failure_of<tcp_stream>(operation_);
  set_option(operation_.outcome(), IPPROTO_TCP, TCP_NODELAY, 1);
  return tcp_stream(detail::socket(operation_.outcome(), pool_->next_thread()));
}

tcp_stream accept_awaiter::await_resume() {
  if (operation_.failed()) {
    socket_->end_operation();
    operation_.throw_failure("tcp_listener::accept");
  }
  return std::move(await_resume_result()).value();
}

tcp_listener tcp_listener::bind(const endpoint& address, const listen_options& options) {
  return bind(current_completion_pool("tcp_listener::bind"), address, options);
}

tcp_listener tcp_listener::bind(completion_pool& pool, const endpoint& address,
                                const listen_options& options) {
  const std::string what = "tcp_listener::bind to " + address.to_string();
  const int descriptor = ::socket(family_of(address), SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
  if (descriptor < 0) throw_last_error(what + ": socket");
  detail::socket socket(descriptor, pool.next_thread());
  set_option(descriptor, SOL_SOCKET, SO_REUSEADDR, options.reuse_address ? 1 : 0);
  if (options.reuse_port) set_option(descriptor, SOL_SOCKET, SO_REUSEPORT, 1);
  if (address.family() == address_family::ipv6) {
    set_option(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, options.only_v6 ? 1 : 0);
  }
  const socket_address native(address);
  if (::bind(descriptor, native.data(), native.size()) != 0) throw_last_error(what);
  if (::listen(descriptor, options.backlog) != 0) throw_last_error(what + ": listen");
  return {std::move(socket), pool};
}

endpoint tcp_listener::local_endpoint() const {
  return name_of(socket_.descriptor(), &::getsockname, "tcp_listener::local_endpoint");
}

}  // namespace tandem::inline v0::io
