// local_opening.cpp: making, naming, connecting and taking over Unix sockets.
// SPDX-License-Identifier: MIT
#include "local/local_opening.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <tandem/sleep.hpp>
#include <utility>

#include "net/checked.hpp"
#include "operation/own_home.hpp"
#include "platform/descriptor.hpp"

namespace tandem::inline v0::io {

using platform::local_kind;

detail::socket open_local(completion_thread& thread, local_kind kind, const std::string& what) {
  result<native_descriptor> opened = platform::open_local_socket(kind);
  if (!opened) throw std::system_error(opened.error(), what + ": socket");
  return {opened.value(), thread, detail::socket_family::local};
}

task<detail::socket> connect_local_socket(local_kind kind, unix_endpoint peer, const char* what) {
  using namespace std::chrono_literals;
  const std::string tried = std::string(what) + " to " + peer.to_string();
  executor& home = co_await detail::own_home();
  detail::socket socket = open_local(current_completion_pool(what).thread_for(home), kind, tried);
  for (auto pause = 1ms;; pause = (std::min)(2 * pause, std::chrono::milliseconds(50ms))) {
    const std::error_code error = platform::connect_local(socket.descriptor(), peer);
    if (!error) break;
    if (error != std::errc::resource_unavailable_try_again) {
      throw std::system_error(error, tried);
    }
    co_await sleep_for(pause);
  }
  co_return std::move(socket);
}

std::array<detail::socket, 2> open_local_pair(completion_pool& pool, local_kind kind,
                                              const char* what) {
  const auto made = checked(platform::make_local_pair(kind), what);
  return {detail::socket(made[0], pool.next_thread(), detail::socket_family::local),
          detail::socket(made[1], pool.next_thread(), detail::socket_family::local)};
}

detail::socket adopt_local(completion_pool& pool, native_descriptor descriptor, local_kind kind,
                           bool listens, const char* what) {
  if (const platform::refusal refused = platform::adopt_local_socket(descriptor, kind, listens)) {
    throw std::system_error(refused.error, std::string(what) + ": descriptor " +
                                               std::to_string(descriptor) + " " + refused.why);
  }
  return {descriptor, pool.next_thread(), detail::socket_family::local};
}

}  // namespace tandem::inline v0::io
