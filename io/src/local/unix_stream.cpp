// unix_stream.cpp: making connections to processes of this machine.
// SPDX-License-Identifier: MIT
#include <tandem/io/unix_stream.hpp>

#include <utility>

#include "local/local_opening.hpp"
#include "net/checked.hpp"
#include "platform/local_sockets.hpp"

namespace tandem::inline v0::io {

using platform::local_kind;

task<unix_stream> unix_stream::connect(unix_endpoint peer) {
  detail::socket socket =
      co_await connect_local_socket(local_kind::stream, peer, "unix_stream::connect");
  co_return unix_stream(std::move(socket));
}

std::pair<unix_stream, unix_stream> unix_stream::pair() {
  return pair(default_completion_pool("unix_stream::pair"));
}
std::pair<unix_stream, unix_stream> unix_stream::pair(completion_pool& pool) {
  auto both = open_local_pair(pool, local_kind::stream, "unix_stream::pair");
  return {unix_stream(std::move(both[0])), unix_stream(std::move(both[1]))};
}

unix_stream unix_stream::from_native(native_descriptor descriptor) {
  return from_native(default_completion_pool("unix_stream::from_native"), descriptor);
}
unix_stream unix_stream::from_native(completion_pool& pool, native_descriptor descriptor) {
  return unix_stream(
      adopt_local(pool, descriptor, local_kind::stream, false, "unix_stream::from_native"));
}

task<void> unix_stream::write_all_after(send_message_awaiter first,
                                        std::span<const std::byte> bytes) {
  const std::size_t sent = co_await std::move(first);
  if (sent < bytes.size()) co_await write_all(bytes.subspan(sent));
}

peer_credentials unix_stream::credentials() const {
  return checked(platform::credentials_of(socket_.descriptor()), "unix_stream::credentials");
}
unix_endpoint unix_stream::local_endpoint() const {
  return checked(platform::local_name_of(socket_.descriptor()), "unix_stream::local_endpoint");
}
unix_endpoint unix_stream::remote_endpoint() const {
  return checked(platform::local_peer_of(socket_.descriptor()), "unix_stream::remote_endpoint");
}

}  // namespace tandem::inline v0::io
