// datagram_cases.cpp: the rows of datagrams.
// SPDX-License-Identifier: MIT
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <tandem/io/udp_socket.hpp>
#include <vector>

#include "io/support/udp_socket.hpp"
#include "io_case.hpp"

namespace tandem::registry {
namespace io_rows {

/// A socket, its peer, and one that is closed.
class datagram_case : public io_case {
 public:
  task<void> begin() {
    socket_.emplace();
    peer_ = peer_socket(test::open_udp(io::address_family::ipv4, peer_port_));
    test::set_blocking(peer_.get(), false);
    co_return;
  }

 protected:
  io::detail::socket& socket() noexcept { return fails_ ? closed_ : socket_->get(); }

  std::optional<test::udp_socket> socket_;
  peer_socket peer_;
  std::uint16_t peer_port_ = 0;
  std::array<std::byte, 16> room_{};

 private:
  io::detail::socket closed_;
};

/// No datagram is lost.
class receive_from_case : public datagram_case {
 public:
  static constexpr std::string_view name = "udp_socket::receive_into";
  using awaiters = covers<io::receive_into_awaiter>;

  auto make() { return io::receive_into_awaiter(socket(), room_); }
  void complete() {
    test::send_plainly(peer_.get(), socket_->port(), std::as_bytes(std::span("x")));
    ++sent_;
  }
  ended took(const io::received_into& got) {
    EXPECT_EQ(got.bytes, 2U);
    EXPECT_EQ(got.sender, endpoint::loopback_v4(peer_port_));
    ++received_;
    return ended::returned;
  }
  task<void> end() {
    while (!fails_ && received_ < sent_) (void)took(co_await socket_->receive(room_));
    socket_->close();
  }

 private:
  std::atomic<int> sent_{0};
  int received_ = 0;
};

/// Loopback takes it at once, so it completes by itself.
class send_to_case : public datagram_case {
 public:
  static constexpr std::string_view name = "udp_socket::send_to";
  using awaiters = covers<io::send_datagram_awaiter>;
  static constexpr bool self_completing = true;
  static constexpr on_stop during = on_stop::may_end;

  auto make() {
    return io::send_datagram_awaiter(
        socket(),
        io::detail::datagram(room_.data(), room_.size(), endpoint::loopback_v4(peer_port_)));
  }
  void complete() {}
  ended took() {
    ++sent_;
    return ended::returned;
  }
  task<void> end() {
    int received = 0;
    // What was sent may still be on its way, though not for long.
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (received < sent_ && std::chrono::steady_clock::now() < give_up) {
      if (test::receive_plain(peer_.get(), room_.data(), room_.size()) > 0) ++received;
    }
    EXPECT_GE(received, sent_);
    socket_->close();
    co_return;
  }

 private:
  int sent_ = 0;
};

/// A socket of the library's, its peer, and one that is closed.
class udp_case : public io_case {
 public:
  task<void> begin() {
    socket_ = io::udp_socket::bind(endpoint::loopback_v4(0));
    peer_ = peer_socket(test::open_udp(io::address_family::ipv4, peer_port_));
    test::set_blocking(peer_.get(), false);
    co_return;
  }

 protected:
  io::udp_socket& socket() noexcept { return fails_ ? closed_ : socket_; }
  endpoint peer() const { return endpoint::loopback_v4(peer_port_); }
  /// So many are to have come to the peer: what was sent may still be on its way, though not for long.
  void expect_sent(int at_least) {
    int received = 0;
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (received < at_least && std::chrono::steady_clock::now() < give_up) {
      if (test::receive_plain(peer_.get(), room_.data(), room_.size()) > 0) ++received;
    }
    EXPECT_GE(received, at_least);
  }

  io::udp_socket socket_;
  peer_socket peer_;
  std::uint16_t peer_port_ = 0;
  std::array<std::byte, 16> room_{};

 private:
  io::udp_socket closed_;
};

class receive_datagram_case : public udp_case {
 public:
  static constexpr std::string_view name = "udp_socket::receive";
  using awaiters = covers<io::receive_datagram_awaiter>;

  auto make() { return socket().receive(); }
  void complete() {
    test::send_plainly(peer_.get(), socket_.local_endpoint().port(), std::as_bytes(std::span("x")));
    ++sent_;
  }
  ended took(const io::received_datagram& got) {
    EXPECT_EQ(got.segment_bytes(), 2U);
    EXPECT_EQ(got.sender(), peer());
    received_ += static_cast<int>(got.segments().size());
    return ended::returned;
  }
  task<void> end() {
    while (!fails_ && received_ < sent_) (void)took(co_await socket_.receive());
    socket_.close();
  }

 private:
  std::atomic<int> sent_{0};
  int received_ = 0;
};

/// Base of sends, which loopback takes at once: so they complete by themselves.
class udp_send_case : public udp_case {
 public:
  static constexpr bool self_completing = true;
  static constexpr on_stop during = on_stop::may_end;

  void complete() {}
  task<void> end() {
    expect_sent(sent_);
    socket_.close();
    co_return;
  }

 protected:
  int sent_ = 0;
};

class send_train_case : public udp_send_case {
 public:
  static constexpr std::string_view name = "udp_socket::send_train";
  using awaiters = covers<io::send_train_awaiter>;

  auto make() { return socket().send_train_to(room_, 8, peer()); }
  ended took() {
    sent_ += 2;
    return ended::returned;
  }
};

class send_many_case : public udp_send_case {
 public:
  static constexpr std::string_view name = "udp_socket::send_many";
  using awaiters = covers<io::send_many_awaiter>;

  auto make() {
    list_ = {io::outgoing_datagram(room_, peer()), io::outgoing_datagram(room_, peer())};
    return socket().send_many(list_);
  }
  ended took(std::size_t count) {
    sent_ += static_cast<int>(count);
    return ended::returned;
  }

 private:
  std::vector<io::outgoing_datagram> list_;
};

using datagram_rows = ::testing::Types<receive_from_case, send_to_case, receive_datagram_case,
                                       send_train_case, send_many_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(datagrams, awaitable, datagram_rows, case_names);

}  // namespace io_rows
}  // namespace tandem::registry
