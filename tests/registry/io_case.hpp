// io_case.hpp: what the rows of tandem::io have in common.
// SPDX-License-Identifier: MIT
//
// The peer is the test's own thread, by plain system calls.
#pragma once

#include <array>
#include <atomic>
#include <string_view>
#include <tandem/io/install.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <utility>
#include <vector>

#include "case_of.hpp"
#include "plain_sockets.hpp"

namespace tandem::registry {
namespace io_rows {  // not an unnamed one: g++ warns of frames that hold such types

using io::endpoint;
using io::tcp_listener;
using io::tcp_stream;

/// A descriptor of the peer.
class peer_socket {
 public:
  peer_socket() = default;
  explicit peer_socket(test::plain_socket descriptor) : descriptor_(descriptor) {}
  peer_socket(peer_socket&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, io::no_descriptor)) {}
  peer_socket& operator=(peer_socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~peer_socket() {
    if (descriptor_ != io::no_descriptor) test::close_plain(descriptor_);
  }
  test::plain_socket get() const noexcept { return descriptor_; }
  void send(std::string_view text) const {
    EXPECT_EQ(test::send_plain(descriptor_, text.data(), text.size()), std::ssize(text));
  }
  /// Takes what comes until its end. @returns how many bytes
  std::size_t read_to_end() const {
    std::vector<char> buffer(65536);
    std::size_t all = 0;
    for (std::ptrdiff_t got = 0;
         (got = test::receive_plain(descriptor_, buffer.data(), buffer.size())) > 0;) {
      all += static_cast<std::size_t>(got);
    }
    return all;
  }

  static peer_socket connected_to(std::uint16_t port) {
    peer_socket made(test::open_plain(test::socket_kind::stream_v4));
    EXPECT_EQ(test::connect_plain(made.get(), port), std::errc{});
    return made;
  }
  /// Closes it with a reset.
  void reset() {
    test::reset_at_close(descriptor_);
    *this = peer_socket();
  }

 private:
  test::plain_socket descriptor_ = io::no_descriptor;
};

class io_case : public case_base {
 public:
  static constexpr clock_kind clock = clock_kind::real_clock;
  static constexpr bool one_waiter = true;
  void fail() { fails_ = true; }

 protected:
  bool fails_ = false;
};

/// A stream and its peer.
class stream_case : public io_case {
 public:
  task<void> begin() {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    peer_ = peer_socket::connected_to(listener.local_endpoint().port());
    stream_ = co_await listener.accept();
  }

 protected:
  tcp_stream& under_test() noexcept { return stream_; }

  tcp_stream stream_;
  peer_socket peer_;
};

/// Reads of the stream that `under_test()` of the case is, whose peer sends a byte for each completion:
/// no byte is lost.
template <class Case>
class counted_reads : public Case {
 public:
  auto make() { return this->under_test().read(buffer_); }
  void complete() {
    if (this->fails_) return this->peer_.reset();
    this->peer_.send("x");
    ++sent_;
  }
  ended took(std::size_t bytes) {
    EXPECT_GT(bytes, 0U);
    read_ += bytes;
    return ended::returned;
  }
  task<void> end() {
    while (!this->fails_ && read_ < sent_) {
      const std::size_t came = co_await this->under_test().read(buffer_);
      (void)took(came);
    }
    this->under_test().close();
  }

 private:
  std::array<std::byte, 16> buffer_{};
  std::atomic<std::size_t> sent_{0};
  std::size_t read_ = 0;
};

}  // namespace io_rows
}  // namespace tandem::registry
