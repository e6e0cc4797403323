// socket_pair.cpp: a listener on the loopback, and the one connection that comes from here.
// SPDX-License-Identifier: MIT
#include "platform/windows/socket_pair.hpp"

#include <utility>

#include "platform/attempt.hpp"
#include "platform/descriptor.hpp"
#include "platform/sockets.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

namespace {

/// Closes what nobody has taken.
class end {
 public:
  explicit end(native_descriptor descriptor) noexcept : descriptor_(descriptor) {}
  end(const end&) = delete;
  end& operator=(const end&) = delete;
  ~end() {
    if (descriptor_ != no_descriptor) platform::close(descriptor_);
  }
  native_descriptor get() const noexcept { return descriptor_; }
  native_descriptor take() noexcept { return std::exchange(descriptor_, no_descriptor); }

 private:
  native_descriptor descriptor_;
};

std::error_code connect_to(native_descriptor listener, native_descriptor writes) noexcept {
  if (const std::error_code failed = platform::bind(listener, endpoint::loopback_v4(0))) {
    return failed;
  }
  if (const std::error_code failed = platform::listen(listener, 1)) return failed;
  result<endpoint> address = local_endpoint_of(listener);
  if (address.error()) return address.error();
  make_blocking(writes);
  make_blocking(listener);
  detail::operation connect(detail::operation_kind::connect, &address.value(), 0);
  connect.aim(nullptr, writes);
  const std::int32_t connected = begin_attempt(connect);
  return connected < 0 ? error_of(-connected) : std::error_code();
}

}  // namespace

result<socket_pair> make_socket_pair() noexcept {
  result<native_descriptor> opened = open_tcp_socket(address_family::ipv4);
  if (opened.error()) return opened.error();
  const end listener(opened.value());
  result<native_descriptor> second = open_tcp_socket(address_family::ipv4);
  if (second.error()) return second.error();
  end writes(second.value());
  if (const std::error_code failed = connect_to(listener.get(), writes.get())) return failed;
  const result<endpoint> ours = local_endpoint_of(writes.get());
  if (ours.error()) return ours.error();
  while (true) {
    const std::int32_t made = accept_now(listener.get());
    if (made < 0) return error_of(-made);
    end reads(detail::descriptor_of(made));
    const result<endpoint> theirs = remote_endpoint_of(reads.get());
    if (theirs.error()) return theirs.error();
    if (theirs.value() != ours.value()) continue;
    set_non_blocking(writes.get());
    if (const std::error_code failed = set_no_delay(writes.get(), true)) return failed;
    socket_pair pair;
    pair.reads = reads.take();
    pair.writes = writes.take();
    return pair;
  }
}

}  // namespace tandem::inline v0::io::platform
