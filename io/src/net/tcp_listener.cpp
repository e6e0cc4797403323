// tcp_listener.cpp: binding, and accepting connections.
// SPDX-License-Identifier: MIT
#include <netinet/in.h>

#include <string>
#include <tandem/io/tcp_listener.hpp>
#include <utility>

#include "net/socket_calls.hpp"
#include "net/socket_options.hpp"

namespace tandem::inline v0::io {

result<tcp_stream> accept_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  completion_thread& thread = connections_on_ != nullptr ? *connections_on_ : pool_->next_thread();
  return tcp_stream(detail::socket(operation_.outcome(), thread));
}

tcp_stream accept_awaiter::await_resume() {
  if (operation_.failed()) {
    end_operation();
    operation_.throw_failure("tcp_listener::accept");
  }
  return std::move(await_resume_result()).value();
}

tcp_listener tcp_listener::bind(const endpoint& address, const listen_options& options) {
  return bind(current_completion_pool("tcp_listener::bind"), address, options);
}

tcp_listener tcp_listener::bind(completion_pool& pool, const endpoint& address,
                                const listen_options& options) {
  return bind_on(pool.next_thread(), pool, address, options);
}

std::vector<tcp_listener> tcp_listener::bind_sharded(const endpoint& address,
                                                     const listen_options& options) {
  return bind_sharded(current_completion_pool("tcp_listener::bind_sharded"), address, options);
}

std::vector<tcp_listener> tcp_listener::bind_sharded(completion_pool& pool, const endpoint& address,
                                                     const listen_options& options) {
  listen_options shared = options;
  shared.reuse_port = true;
  std::vector<tcp_listener> shards;
  endpoint where = address;
  for (unsigned i = 0; i < pool.size(); ++i) {
    shards.push_back(bind_on(pool.thread(i), pool, where, shared));
    shards.back().connections_on_ = &pool.thread(i);
    where = shards.front().local_endpoint();  // the port that the first one has got
  }
  return shards;
}

tcp_listener tcp_listener::bind_on(completion_thread& thread, completion_pool& pool,
                                   const endpoint& address, const listen_options& options) {
  const std::string what = "tcp_listener::bind to " + address.to_string();
  const int descriptor = ::socket(family_of(address), SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
  if (descriptor < 0) throw_last_error(what + ": socket");
  detail::socket socket(descriptor, thread);
  set_option(descriptor, SOL_SOCKET, SO_REUSEADDR, options.reuse_address ? 1 : 0);
  if (options.reuse_port) set_option(descriptor, SOL_SOCKET, SO_REUSEPORT, 1);
  if (address.family() == address_family::ipv6) {
    set_option(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, options.only_v6 ? 1 : 0);
  }
  // Connections inherit them; the receive buffer has to be known before the first one is offered.
  apply_options_or_throw(descriptor, options.connections, what.c_str());
  const socket_address native(address);
  if (::bind(descriptor, native.data(), native.size()) != 0) throw_last_error(what);
  if (::listen(descriptor, options.backlog) != 0) throw_last_error(what + ": listen");
  socket.set_listens();
  return {std::move(socket), pool};
}

endpoint tcp_listener::local_endpoint() const {
  return name_of(socket_.descriptor(), &::getsockname, "tcp_listener::local_endpoint");
}

}  // namespace tandem::inline v0::io
