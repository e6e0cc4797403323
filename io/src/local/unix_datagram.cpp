// unix_datagram.cpp: datagrams between processes of this machine.
// SPDX-License-Identifier: MIT
#include <tandem/io/unix_datagram.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <tandem/sleep.hpp>
#include <utility>

#include "local/binding.hpp"
#include "local/local_opening.hpp"
#include "local/message_failure.hpp"
#include "net/checked.hpp"
#include "platform/attempt.hpp"
#include "platform/error_number.hpp"
#include "platform/local_sockets.hpp"

namespace tandem::inline v0::io {

using platform::local_kind;

unix_datagram& unix_datagram::operator=(unix_datagram&& other) noexcept {
  if (this != &other) {
    close();
    socket_ = std::move(other.socket_);
    name_ = std::move(other.name_);
  }
  return *this;
}

unix_datagram unix_datagram::bind(const unix_endpoint& address,
                                  const unix_datagram_options& options) {
  return bind(default_completion_pool("unix_datagram::bind"), address, options);
}
unix_datagram unix_datagram::bind(completion_pool& pool, const unix_endpoint& address,
                                  const unix_datagram_options& options) {
  const std::string what = "unix_datagram::bind to " + address.to_string();
  unix_datagram made(open_local(pool.next_thread(), local_kind::datagram, what));
  if (options.tells_credentials) {
    check(platform::tell_credentials(made.socket_.descriptor()), what.c_str());
  }
  if (address.is_unnamed()) return made;
  made.name_ = bind_name(made.socket_, local_kind::datagram, address, options, what);
  return made;
}

std::pair<unix_datagram, unix_datagram> unix_datagram::pair() {
  return pair(default_completion_pool("unix_datagram::pair"));
}
std::pair<unix_datagram, unix_datagram> unix_datagram::pair(completion_pool& pool) {
  auto both = open_local_pair(pool, local_kind::datagram, "unix_datagram::pair");
  return {unix_datagram(std::move(both[0])), unix_datagram(std::move(both[1]))};
}

unix_datagram unix_datagram::from_native(native_descriptor descriptor) {
  return from_native(default_completion_pool("unix_datagram::from_native"), descriptor);
}
unix_datagram unix_datagram::from_native(completion_pool& pool, native_descriptor descriptor) {
  return unix_datagram(
      adopt_local(pool, descriptor, local_kind::datagram, false, "unix_datagram::from_native"));
}

void unix_datagram::connect_to(const unix_endpoint& peer) {
  const std::string what = "unix_datagram::connect_to " + peer.to_string();
  check(platform::connect_local(socket_.descriptor(), peer), what.c_str());
}

task<void> unix_datagram::send_message_to(detail::local_message message, unix_endpoint receiver) {
  using namespace std::chrono_literals;
  std::chrono::milliseconds pause = 1ms;
  while (true) {
    const std::int32_t outcome =
        is_open() ? platform::send_local_to(socket_.descriptor(), message, receiver) : -EBADF;
    if (outcome >= 0) co_return;
    if (outcome == platform::would_block) {
      co_await sleep_for(pause);
      pause = (std::min)(2 * pause, std::chrono::milliseconds(50));
    } else if (outcome != -EINTR) {
      const std::error_code failure = platform::error_of(-outcome);
      throw std::system_error(failure, "unix_datagram::send_to " + receiver.to_string() +
                                           why_not_sent(failure, socket_, message));
    }
  }
}

void unix_datagram::close() noexcept {
  name_.remove();
  socket_.close();
}
native_descriptor unix_datagram::release() noexcept {
  name_.forget();
  return socket_.release();
}

}  // namespace tandem::inline v0::io
