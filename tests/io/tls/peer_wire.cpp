// peer_wire.cpp: a thread for each direction.
// SPDX-License-Identifier: MIT
#include "io/tls/peer_wire.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "watchdog.hpp"

namespace tandem::test {

namespace {

/// Small, so that whoever writes into a wire that keeps back is soon stuck.
constexpr int buffer_bytes = 64 * 1024;

void keep_small(plain_socket socket) {
  EXPECT_EQ(::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes), 0);
  EXPECT_EQ(::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes), 0);
}

/// Programs send in small pieces, and wait for each to be acknowledged.
void acknowledge_at_once(plain_socket socket) noexcept {
  const int on = 1;
  (void)::setsockopt(socket, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

bool send_all(plain_socket to, const char* bytes, std::size_t count) noexcept {
  while (count > 0) {
    const std::ptrdiff_t sent = send_plain(to, bytes, count);
    if (sent <= 0) return false;
    bytes += sent;
    count -= static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace

peer_wire::peer_wire(wire_end connects, std::uint16_t to_port)
    : connects_(connects),
      to_port_(to_port),
      listener_(listening_plain(port_)),
      stop_(connected_plain()) {
  keep_small(listener_);  // which those that are accepted inherit
  threads_[0] = std::thread([this] {
    connect();
    pass(lanes_[0]);
  });
  threads_[1] = std::thread([this] {
    {
      std::unique_lock guard(lock_);
      changed_.wait(guard, [this] { return is_connected_ || is_stopped_; });
    }
    pass(lanes_[1]);
  });
}

peer_wire::~peer_wire() {
  stop(true);
  for (const plain_socket each : {lanes_[0].from, lanes_[1].from, listener_, stop_[0], stop_[1]}) {
    if (each != io::no_descriptor) close_plain(each);
  }
}

void peer_wire::connect() {
  if (wait_readable({listener_, stop_[0]}, -1)[1]) return;
  const plain_socket accepted = accept_plain(listener_);
  const plain_socket connected = open_plain(socket_kind::stream_v4);
  keep_small(connected);
  EXPECT_EQ(connect_plain(connected, to_port_), std::errc{});
  for (const plain_socket each : {accepted, connected}) send_at_once(each);
  const std::lock_guard guard(lock_);
  const bool we_connect = connects_ == wire_end::ours;
  lanes_[0].from = lanes_[1].to = we_connect ? accepted : connected;
  lanes_[1].from = lanes_[0].to = we_connect ? connected : accepted;
  is_connected_ = true;
  changed_.notify_all();
}

void peer_wire::pass(lane& way) {
  {
    const std::lock_guard guard(lock_);
    if (!is_connected_) return;
  }
  std::array<char, 16 * 1024> room;
  bool goes_on = true;  // else the receiver has gone, and the rest is swallowed
  while (true) {
    if (wait_readable({way.from, stop_[0]}, -1)[1]) return;
    const std::ptrdiff_t got = receive_plain(way.from, room.data(), room.size());
    if (got > 0) acknowledge_at_once(way.from);
    {
      std::unique_lock guard(lock_);
      if (got <= 0) way.has_ended = true;
      way.taken += static_cast<std::size_t>(std::max<std::ptrdiff_t>(got, 0));
      changed_.notify_all();
      if (way.pass_first == 0) {
        changed_.wait(guard, [&] { return !way.is_kept_back || is_stopped_; });
      }
      way.pass_first -= std::min<std::size_t>(way.pass_first, 1);
      if (is_stopped_) return;
    }
    if (got <= 0) break;
    goes_on = goes_on && send_all(way.to, room.data(), static_cast<std::size_t>(got));
  }
  (void)::shutdown(way.to, SHUT_WR);
}

void peer_wire::keep_back(wire_end from) {
  const std::lock_guard guard(lock_);
  way_from(from).is_kept_back = true;
}

void peer_wire::keep_back_after_first(wire_end from) {
  const std::lock_guard guard(lock_);
  way_from(from).is_kept_back = true;
  way_from(from).pass_first = 1;
}

void peer_wire::let_pass(wire_end from) {
  const std::lock_guard guard(lock_);
  way_from(from).is_kept_back = false;
  changed_.notify_all();
}

std::size_t peer_wire::taken(wire_end from) const {
  const std::lock_guard guard(lock_);
  return way_from(from).taken;
}

void peer_wire::wait_for_more(wire_end from, std::size_t than) {
  std::unique_lock guard(lock_);
  const auto more = [&] { return way_from(from).taken > than; };
  EXPECT_TRUE(changed_.wait_for(guard, hang_limit() / 2, more)) << "nothing has come";
}

void peer_wire::wait_for_end(wire_end of) {
  std::unique_lock guard(lock_);
  const auto ended = [&] { return way_from(of).has_ended; };
  EXPECT_TRUE(changed_.wait_for(guard, hang_limit() / 2, ended)) << "it has not ended";
}

void peer_wire::stop(bool ours_too) {
  {
    const std::lock_guard guard(lock_);
    if (is_stopped_) return;
    is_stopped_ = true;
    changed_.notify_all();
    // Whoever takes nothing any more keeps nobody here.
    if (is_connected_) (void)::shutdown(way_from(wire_end::peers).from, SHUT_RDWR);
    if (is_connected_ && ours_too) (void)::shutdown(way_from(wire_end::ours).from, SHUT_RDWR);
  }
  (void)send_plain(stop_[1], "x", 1);
  for (std::thread& each : threads_) each.join();
}

void peer_wire::reset_ours() {
  stop(false);
  lane& ours = way_from(wire_end::ours);
  reset_at_close(ours.from);
  close_plain(std::exchange(ours.from, io::no_descriptor));
}

}  // namespace tandem::test
