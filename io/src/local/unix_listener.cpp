// unix_listener.cpp: listening at a path or an abstract name.
// SPDX-License-Identifier: MIT
#include <tandem/io/unix_listener.hpp>

#include <string>
#include <system_error>
#include <utility>

#include "local/binding.hpp"
#include "local/local_opening.hpp"
#include "net/checked.hpp"
#include "platform/local_sockets.hpp"

namespace tandem::inline v0::io {

using platform::local_kind;

namespace {
local_kind kind_of(bool is_stream) noexcept {
  return is_stream ? local_kind::stream : local_kind::seqpacket;
}
}  // namespace

void unix_listener_base::bind_on(completion_pool& pool, bool is_stream,
                                 const unix_endpoint& address, const unix_listen_options& options,
                                 const char* what) {
  const std::string tried = std::string(what) + " to " + address.to_string();
  detail::socket socket = open_local(pool.next_thread(), kind_of(is_stream), tried);
  detail::local_name name = bind_name(socket, kind_of(is_stream), address, options, tried);
  if (const std::error_code error = platform::listen(socket.descriptor(), options.backlog)) {
    name.remove();
    throw std::system_error(error, tried + ": listen");
  }
  socket.set_listens();
  socket_ = std::move(socket);
  name_ = std::move(name);
  pool_ = &pool;
}

void unix_listener_base::adopt(completion_pool& pool, bool is_stream, native_descriptor descriptor,
                               const char* what) {
  socket_ = adopt_local(pool, descriptor, kind_of(is_stream), true, what);
  pool_ = &pool;
}

unix_endpoint unix_listener_base::local_endpoint() const {
  return checked(platform::local_name_of(socket_.descriptor()),
                 "local_endpoint of a Unix listener");
}
void unix_listener_base::close() noexcept {
  name_.remove();
  socket_.close();
}
native_descriptor unix_listener_base::release() noexcept {
  name_.forget();
  return socket_.release();
}

unix_listener unix_listener::bind(const unix_endpoint& address,
                                  const unix_listen_options& options) {
  return bind(default_completion_pool("unix_listener::bind"), address, options);
}
unix_listener unix_listener::bind(completion_pool& pool, const unix_endpoint& address,
                                  const unix_listen_options& options) {
  unix_listener made;
  made.bind_on(pool, true, address, options, "unix_listener::bind");
  return made;
}
unix_listener unix_listener::from_native(native_descriptor descriptor) {
  return from_native(default_completion_pool("unix_listener::from_native"), descriptor);
}
unix_listener unix_listener::from_native(completion_pool& pool, native_descriptor descriptor) {
  unix_listener made;
  made.adopt(pool, true, descriptor, "unix_listener::from_native");
  return made;
}

unix_seqpacket_listener unix_seqpacket_listener::bind(const unix_endpoint& address,
                                                      const unix_listen_options& options) {
  return bind(default_completion_pool("unix_seqpacket_listener::bind"), address, options);
}
unix_seqpacket_listener unix_seqpacket_listener::bind(completion_pool& pool,
                                                      const unix_endpoint& address,
                                                      const unix_listen_options& options) {
  unix_seqpacket_listener made;
  made.bind_on(pool, false, address, options, "unix_seqpacket_listener::bind");
  return made;
}
unix_seqpacket_listener unix_seqpacket_listener::from_native(native_descriptor descriptor) {
  return from_native(default_completion_pool("unix_seqpacket_listener::from_native"), descriptor);
}
unix_seqpacket_listener unix_seqpacket_listener::from_native(completion_pool& pool,
                                                             native_descriptor descriptor) {
  unix_seqpacket_listener made;
  made.adopt(pool, false, descriptor, "unix_seqpacket_listener::from_native");
  return made;
}

}  // namespace tandem::inline v0::io
