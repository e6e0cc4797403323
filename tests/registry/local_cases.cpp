// local_cases.cpp: the rows of Unix sockets.
// SPDX-License-Identifier: MIT
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <tandem/io/unix_listener.hpp>
#include <vector>

#include "io_case.hpp"

namespace tandem::registry {
namespace io_rows {

/// A listener at an abstract name, and peers that connect: no connection is lost.
class local_accept_case : public io_case {
 public:
  static constexpr std::string_view name = "unix_listener::accept";
  using awaiters = covers<io::local_accept_awaiter<io::unix_stream>>;

  task<void> begin() {
    static std::atomic<int> made{0};
    name_ = "tandem-registry-" + std::to_string(::getpid()) + "-" + std::to_string(++made);
    listener_ = io::unix_listener::bind(io::unix_endpoint::abstract(name_));
    co_return;
  }
  auto make() { return fails_ ? closed_.accept() : listener_.accept(); }
  void complete() {
    peer_socket made(::socket(AF_UNIX, SOCK_STREAM, 0));
    ::sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name_.copy(&address.sun_path[1], name_.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name_.size());
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);  // NOLINT
    EXPECT_EQ(::connect(made.get(), generic, size), 0);
    const std::lock_guard guard(mutex_);
    peers_.push_back(std::move(made));
  }
  ended took(const io::unix_stream& stream) {
    EXPECT_TRUE(stream.is_open());
    ++accepted_;
    return ended::returned;
  }
  task<void> end() {
    while (accepted_ < peers_.size()) (void)took(co_await listener_.accept());
    listener_.close();
  }

 private:
  io::unix_listener listener_;
  io::unix_listener closed_;
  std::string name_;
  std::mutex mutex_;
  std::vector<peer_socket> peers_;
  std::size_t accepted_ = 0;
};

/// A socket of messages, its peer, and one that is closed.
class local_message_case : public io_case {
 public:
  task<void> begin() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    socket_ = io::unix_seqpacket::from_native(ends[0]);
    peer_ = peer_socket(ends[1]);
    co_return;
  }

 protected:
  io::unix_seqpacket& socket() noexcept { return fails_ ? closed_ : socket_; }

  io::unix_seqpacket socket_;
  peer_socket peer_;
  std::array<std::byte, 16> room_{};

 private:
  io::unix_seqpacket closed_;
};

/// No message is lost.
class receive_message_case : public local_message_case {
 public:
  static constexpr std::string_view name = "unix_seqpacket::receive";
  using awaiters = covers<io::receive_message_awaiter>;

  auto make() { return socket().receive(room_); }
  void complete() {
    peer_.send("x");
    ++sent_;
  }
  ended took(const io::received_message& got) {
    EXPECT_EQ(got.bytes, 1U);
    ++received_;
    return ended::returned;
  }
  task<void> end() {
    while (!fails_ && received_ < sent_) (void)took(co_await socket_.receive(room_));
    socket_.close();
  }

 private:
  std::atomic<int> sent_{0};
  int received_ = 0;
};

/// The peer's queue has room, so it completes by itself.
class send_message_case : public local_message_case {
 public:
  static constexpr std::string_view name = "unix_seqpacket::send";
  using awaiters = covers<io::send_message_awaiter>;
  static constexpr bool self_completing = true;
  static constexpr on_stop during = on_stop::may_end;

  auto make() { return socket().send(room_); }
  void complete() {}
  ended took(std::size_t bytes) {
    EXPECT_EQ(bytes, room_.size());
    ++sent_;
    return ended::returned;
  }
  task<void> end() {
    socket_.close();
    EXPECT_GE(peer_.read_to_end(), sent_ * room_.size());
    co_return;
  }

 private:
  std::size_t sent_ = 0;
};

using local_rows = ::testing::Types<local_accept_case, receive_message_case, send_message_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(local, awaitable, local_rows, case_names);

}  // namespace io_rows
}  // namespace tandem::registry
