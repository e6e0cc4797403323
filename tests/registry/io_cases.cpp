// io_cases.cpp: the rows of sockets.
// SPDX-License-Identifier: MIT
#include <mutex>
#include <thread>
#include <vector>

#include "io_case.hpp"
#include "refusing_port.hpp"

namespace tandem::registry {
namespace io_rows {  // not an unnamed one: g++ warns of frames that hold such types

/// A listener, and peers that connect.
class listener_case : public io_case {
 public:
  task<void> begin() {
    listener_ = tcp_listener::bind(endpoint::loopback_v4(0));
    port_ = listener_.local_endpoint().port();
    co_return;
  }
  void complete() {
    const std::lock_guard guard(mutex_);
    peers_.push_back(peer_socket::connected_to(port_));
  }
  ended took(const tcp_stream& stream) {
    EXPECT_TRUE(stream.is_open());
    ++accepted_;
    return ended::returned;
  }

 protected:
  bool has_more() const { return accepted_ < peers_.size(); }
  tcp_listener listener_;
  tcp_listener closed_;

 private:
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::vector<peer_socket> peers_;
  std::size_t accepted_ = 0;
};

/// No connection is lost: what was connected is accepted, by the await or afterwards.
class accept_case : public listener_case {
 public:
  static constexpr std::string_view name = "tcp_listener::accept";
  using awaiters = covers<io::accept_awaiter>;

  auto make() { return fails_ ? closed_.accept() : listener_.accept(); }
  task<void> end() {
    while (has_more()) (void)took(co_await listener_.accept());
    listener_.close();
  }
};

/// Likewise; and a stop ends the wait at once.
class incoming_case : public listener_case {
 public:
  static constexpr std::string_view name = "tcp_listener::incoming";
  using awaiters = covers<io::incoming_awaiter>;

  auto make() { return fails_ ? closed_.incoming() : listener_.incoming(); }
  task<void> end() {
    while (has_more()) (void)took(co_await listener_.incoming());
    listener_.close();
  }
};

class read_case : public counted_reads<stream_case> {
 public:
  static constexpr std::string_view name = "tcp_stream::read";
  using awaiters = covers<io::transfer_awaiter>;
};

/// The peer begins to read when the case is completed. How much the kernel takes before that is its
/// own business, so whether a write waits is not seen from outside.
class write_case : public stream_case {
 public:
  static constexpr std::string_view name = "tcp_stream::write";
  using awaiters = covers<io::transfer_awaiter>;
  static constexpr bool self_completing = true;
  static constexpr on_stop before = on_stop::may_end;
  static constexpr on_stop during = on_stop::may_end;

  ~write_case() {
    if (reader_.joinable()) reader_.join();
  }
  auto make() { return (fails_ ? closed_ : stream_).write(std::span<const std::byte>(data_)); }
  void complete() {
    if (started_.exchange(true)) return;
    if (fails_) peer_.reset();
    reader_ = std::thread([this] { received_ = peer_.read_to_end(); });
  }
  ended took(std::size_t bytes) {
    EXPECT_GT(bytes, 0U);
    written_ += bytes;
    return ended::returned;
  }
  task<void> end() {
    complete();
    stream_.close();
    reader_.join();
    EXPECT_TRUE(fails_ || received_ >= written_);
    co_return;
  }

 protected:
  tcp_stream closed_;
  std::vector<std::byte> data_ = std::vector<std::byte>(std::size_t{8} << 20);
  std::size_t written_ = 0;

 private:
  std::atomic<bool> started_{false};
  std::thread reader_;
  std::size_t received_ = 0;
};

/// Eight megabytes are more than the kernel takes without a reader.
class write_all_case : public write_case {
 public:
  static constexpr std::string_view name = "tcp_stream::write_all";
  using awaiters = covers<io::write_all_awaiter>;
  static constexpr on_stop before = on_stop::ends;
  static constexpr bool self_completing = false;

  auto make() { return stream_.write_all(data_); }
  ended took() {
    written_ += data_.size();
    return ended::returned;
  }
};

class connect_case : public io_case {
 public:
  static constexpr std::string_view name = "tcp_stream::connect";
  using awaiters = covers<io::connect_awaiter>;
  static constexpr bool self_completing = true;
  // Over the loopback a connection is made at once.
  static constexpr on_stop before = on_stop::may_end;
  static constexpr on_stop during = on_stop::may_end;

  task<void> begin() {
    listener_ = tcp_listener::bind(endpoint::loopback_v4(0));
    peer_ = listener_.local_endpoint();
    co_return;
  }
  auto make() { return tcp_stream::connect(peer_); }
  void fail() { peer_ = refuses_.where(); }
  ended took(const tcp_stream& stream) {
    EXPECT_EQ(stream.remote_endpoint().port(), peer_.port());
    return ended::returned;
  }
  task<void> end() {
    listener_.close();
    co_return;
  }

 private:
  test::refusing_port refuses_;
  tcp_listener listener_;
  endpoint peer_ = endpoint::loopback_v4(0);
};

using cases = ::testing::Types<accept_case, incoming_case, read_case, write_case, write_all_case,
                               connect_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(io, awaitable, cases, case_names);

}  // namespace io_rows
}  // namespace tandem::registry
