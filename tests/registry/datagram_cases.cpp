// datagram_cases.cpp: the rows of datagrams.
// SPDX-License-Identifier: MIT
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <tandem/io/detail/datagram_awaiter.hpp>

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
  static constexpr std::string_view name = "receive_from";
  using awaiters = covers<io::detail::receive_from_awaiter>;

  auto make() { return io::detail::receive_from_awaiter(socket(), room_); }
  void complete() {
    test::send_plainly(peer_.get(), socket_->port(), std::as_bytes(std::span("x")));
    ++sent_;
  }
  ended took(const io::detail::received_datagram& got) {
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
  static constexpr std::string_view name = "send_to";
  using awaiters = covers<io::detail::send_to_awaiter>;
  static constexpr bool self_completing = true;
  static constexpr on_stop during = on_stop::may_end;

  auto make() {
    return io::detail::send_to_awaiter(socket(), room_, endpoint::loopback_v4(peer_port_));
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

using datagram_rows = ::testing::Types<receive_from_case, send_to_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(datagrams, awaitable, datagram_rows, case_names);

}  // namespace io_rows
}  // namespace tandem::registry
