// tls_cases.cpp: the rows of TLS: both handshakes, reading, writing, and the farewell.
// SPDX-License-Identifier: MIT
//
// The peers are OpenSSL's own, on threads of the test.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <tandem/io/tls.hpp>
#include <thread>
#include <vector>

#include "openssl_peer.hpp"

namespace tandem::registry {
namespace io_rows {

using io::tls_stream;
namespace tls = io::tls;

const tls::server_context& served() {
  static const tls::server_context made(test::served_by());
  return made;
}
const tls::client_context& trusted() {
  static const tls::client_context made(test::trusting());
  return made;
}

/// Peers that talk TLS, or nonsense, when the case is completed: a thread goes from one connection
/// to the next.
class handshake_case : public io_case {
 public:
  void complete() {
    const std::lock_guard held(mutex_);
    may_talk_ = true;
    changed_.notify_all();
  }
  ended took(const tls_stream& stream) {
    EXPECT_TRUE(stream.is_open());
    return ended::returned;
  }

 protected:
  /// Talks by each connection that `next` gives, until that is none.
  template <class Next>
  void start(bool as_server, Next next) {
    thread_ = std::thread([this, as_server, next] {
      for (peer_socket socket = next(); socket.get() != io::no_descriptor; socket = next()) {
        wait([this] { return may_talk_; });
        if (fails_) {
          socket.send("Good morning! This is no TLS.\r\n");
        } else {
          talked_.emplace_back(std::move(socket), as_server);
          (void)talked_.back().shake_hands();  // whoever was stopped has gone
        }
      }
    });
  }
  template <class Condition>
  void wait(Condition holds) {
    std::unique_lock held(mutex_);
    changed_.wait(held, holds);
  }
  void end_thread() {
    complete();
    thread_.join();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool may_talk_ = false;  // under mutex_

 private:
  std::vector<openssl_peer> talked_;
  std::thread thread_;
};

class tls_connect_case : public handshake_case {
 public:
  static constexpr std::string_view name = "tls::connect";
  using awaiters = covers<>;

  task<void> begin() {
    listener_ = test::listening_plain(port_);
    start(true, [this] {
      peer_socket next(test::accept_plain(listener_));
      return is_over_ ? peer_socket() : std::move(next);
    });
    co_return;
  }
  auto make() { return shake_hands(port_); }
  task<void> end() {
    is_over_ = true;
    const peer_socket last = peer_socket::connected_to(port_);
    end_thread();
    test::close_plain(listener_);
    co_return;
  }

 private:
  static task<tls_stream> shake_hands(std::uint16_t port) {
    tcp_stream plain = co_await tcp_stream::connect(endpoint::loopback_v4(port));
    co_return co_await tls::connect(std::move(plain), "localhost", trusted());
  }
  std::uint16_t port_ = 0;
  test::plain_socket listener_ = io::no_descriptor;
  std::atomic<bool> is_over_{false};
};

class tls_accept_case : public handshake_case {
 public:
  static constexpr std::string_view name = "tls::accept";
  using awaiters = covers<>;

  task<void> begin() {
    listener_ = tcp_listener::bind(endpoint::loopback_v4(0));
    start(false, [this, port = listener_.local_endpoint().port()] {
      wait([this] { return asked_ > 0 || is_over_; });
      const std::lock_guard held(mutex_);
      if (is_over_) return peer_socket();
      --asked_;
      return peer_socket::connected_to(port);
    });
    co_return;
  }
  auto make() { return shake_hands(*this); }
  task<void> end() {
    {
      const std::lock_guard held(mutex_);  // nobody is connecting meanwhile
      is_over_ = true;
    }
    listener_.close();  // whoever waits in its queue is refused
    end_thread();
    co_return;
  }

 private:
  static task<tls_stream> shake_hands(tls_accept_case& self) {
    {
      const std::lock_guard held(self.mutex_);
      ++self.asked_;
      self.changed_.notify_all();
    }
    tcp_stream plain = co_await self.listener_.accept();
    co_return co_await tls::accept(std::move(plain), served());
  }
  tcp_listener listener_;
  int asked_ = 0;         // under mutex_
  bool is_over_ = false;  // likewise
};

/// A connection that has shaken hands, and its peer.
class tls_case : public io_case {
 public:
  task<void> begin() {
    io::listen_options narrow;
    // Several segments of loopback: with one alone each would wait for a late acknowledgement.
    narrow.connections.send_buffer_bytes = 131072;
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0), narrow);
    peer_ = openssl_peer(peer_socket::connected_to(listener.local_endpoint().port()), false);
    tcp_stream plain = co_await listener.accept();
    std::thread greeting([this] { EXPECT_TRUE(peer_.shake_hands()); });
    stream_ = co_await tls::accept(std::move(plain), served());
    greeting.join();
  }

 protected:
  tls_stream& under_test() noexcept { return stream_; }

  tls_stream stream_;
  openssl_peer peer_;
};

class tls_read_case : public counted_reads<tls_case> {
 public:
  static constexpr std::string_view name = "tls_stream::read";
  using awaiters = covers<>;
};

/// Two megabytes are more than the kernel takes without a reader, who begins when the case is
/// completed.
class tls_write_all_case : public tls_case {
 public:
  static constexpr std::string_view name = "tls_stream::write_all";
  using awaiters = covers<>;
  static constexpr on_stop during = on_stop::may_end;

  ~tls_write_all_case() {
    if (reader_.joinable()) reader_.join();
  }
  auto make() { return stream_.write_all(std::span<const std::byte>(data_)); }
  void complete() {
    if (started_.exchange(true)) return;
    if (fails_) return peer_.reset();
    reader_ = std::thread([this] { received_ = peer_.read_to_end(); });
  }
  ended took() {
    written_ += data_.size();
    return ended::returned;
  }
  task<void> end() {
    complete();
    stream_.close();
    if (reader_.joinable()) reader_.join();
    EXPECT_TRUE(fails_ || received_ >= written_);
    co_return;
  }

 private:
  std::vector<std::byte> data_ = std::vector<std::byte>(std::size_t{2} << 20);
  std::size_t written_ = 0;
  std::atomic<bool> started_{false};
  std::thread reader_;
  std::size_t received_ = 0;
};

/// Waits for the peer's farewell; a connection that is not there has none.
class tls_finish_case : public tls_case {
 public:
  static constexpr std::string_view name = "tls_stream::finish";
  using awaiters = covers<>;

  auto make() { return (fails_ ? none_ : stream_).finish(std::chrono::hours(1)); }
  void complete() {
    if (!fails_ && !said_.exchange(true)) peer_.say_goodbye();
  }
  ended took(bool farewell) {
    EXPECT_TRUE(farewell);
    return ended::returned;
  }
  task<void> end() {
    stream_.close();
    co_return;
  }

 private:
  tls_stream none_;
  std::atomic<bool> said_{false};
};

using cases = ::testing::Types<tls_connect_case, tls_accept_case, tls_read_case, tls_write_all_case,
                               tls_finish_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(tls, awaitable, cases, case_names);

}  // namespace io_rows
}  // namespace tandem::registry
