// tcp_listener.cpp: binding, and accepting connections.
// SPDX-License-Identifier: MIT
#include <string>
#include <system_error>
#include <tandem/io/tcp_listener.hpp>
#include <utility>

#include "net/checked.hpp"
#include "net/socket_options.hpp"
#include "platform/sockets.hpp"
#include "platform/tcp_details.hpp"

namespace tandem::inline v0::io {

result<tcp_stream> accept_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  completion_thread& thread = connections_on_ != nullptr ? *connections_on_ : pool_->next_thread();
  return tcp_stream(detail::socket(detail::descriptor_of(operation_.outcome()), thread));
}

tcp_stream accept_awaiter::await_resume() {
  if (operation_.failed()) {
    end_operation();
    operation_.throw_failure(operation_.name());
  }
  return std::move(await_resume_result()).value();
}

tcp_listener tcp_listener::from_native(native_descriptor descriptor,
                                       const tcp_options& connections) {
  return from_native(default_completion_pool("tcp_listener::from_native"), descriptor, connections);
}

tcp_listener tcp_listener::from_native(completion_pool& pool, native_descriptor descriptor,
                                       const tcp_options& connections) {
  adopt_or_throw(descriptor, platform::adopted_kind::listener, "tcp_listener::from_native");
  apply_options_or_throw(descriptor, connections, "tcp_listener::from_native");
  return {detail::socket(descriptor, pool.next_thread()), pool};
}

tcp_listener tcp_listener::bind(const endpoint& address, const listen_options& options) {
  return bind(default_completion_pool("tcp_listener::bind"), address, options);
}

tcp_listener tcp_listener::bind(completion_pool& pool, const endpoint& address,
                                const listen_options& options) {
  return bind_on(pool.next_thread(), pool, address, options);
}

std::vector<tcp_listener> tcp_listener::bind_sharded(const endpoint& address,
                                                     const listen_options& options) {
  return bind_sharded(default_completion_pool("tcp_listener::bind_sharded"), address, options);
}

std::vector<tcp_listener> tcp_listener::bind_sharded(completion_pool& pool, const endpoint& address,
                                                     const listen_options& options) {
  listen_options shared = options;
  shared.reuse_port = true;
  std::vector<tcp_listener> shards;
  endpoint where = address;
  for (unsigned i = 0; i < pool.most_places(); ++i) {
    const native_descriptor again =
        shards.empty() ? no_descriptor
                       : checked(platform::share_listener(shards.front().socket_.descriptor()),
                                 "tcp_listener::bind_sharded");
    if (again != no_descriptor) {
      detail::socket socket(again, pool.thread(i));
      socket.set_listens();
      shards.push_back(tcp_listener(std::move(socket), pool));
    } else {
      shards.push_back(bind_on(pool.thread(i), pool, where, shared));
    }
    shards.back().connections_on_ = &pool.thread(i);
    where = shards.front().local_endpoint();  // the port that the first one has got
  }
  return shards;
}

tcp_listener tcp_listener::bind_on(completion_thread& thread, completion_pool& pool,
                                   const endpoint& address, const listen_options& options) {
  const std::string what = "tcp_listener::bind to " + address.to_string();
  result<native_descriptor> opened = platform::open_tcp_socket(address.family());
  if (!opened) throw std::system_error(opened.error(), what + ": socket");
  const native_descriptor descriptor = opened.value();
  detail::socket socket(descriptor, thread);
  platform::set_reuse_address(descriptor, options.reuse_address);
  if (options.reuse_port) platform::set_reuse_port(descriptor);
  if (address.family() == address_family::ipv6) platform::set_only_v6(descriptor, options.only_v6);
  // Connections inherit them; the receive buffer has to be known before the first one is offered.
  apply_options_or_throw(descriptor, options.connections, what.c_str());
  if (options.fast_open_queue) {
    check(platform::set_fast_open_queue(descriptor, *options.fast_open_queue),
          (what + ": fast_open_queue").c_str());
  }
  if (options.defer_accept) {
    check(platform::set_defer_accept(descriptor, *options.defer_accept),
          (what + ": defer_accept").c_str());
  }
  check(platform::bind(descriptor, address), what.c_str());
  if (const std::error_code error = platform::listen(descriptor, options.backlog)) {
    throw std::system_error(error, what + ": listen");
  }
  socket.set_listens();
  return {std::move(socket), pool};
}

endpoint tcp_listener::local_endpoint() const {
  return checked(platform::local_endpoint_of(socket_.descriptor()), "tcp_listener::local_endpoint");
}

}  // namespace tandem::inline v0::io
