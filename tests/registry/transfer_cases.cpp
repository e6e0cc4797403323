// transfer_cases.cpp: the rows of vectored transfers and of readiness.
// SPDX-License-Identifier: MIT
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <tandem/io/detail/copy_awaiters.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/readiness.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/foreign_pair.hpp"
#include "io_case.hpp"

namespace tandem::registry {
namespace io_rows {

/// No byte is lost.
class vectored_read_case : public stream_case {
 public:
  static constexpr std::string_view name = "tcp_stream::read of a list";
  using awaiters = covers<io::vectored_read_awaiter>;

  auto make() { return stream_.read(list_); }
  void complete() {
    if (fails_) return peer_.reset();
    peer_.send("xyz");
    sent_ += 3;
  }
  ended took(std::size_t bytes) {
    EXPECT_GT(bytes, 0U);
    read_ += bytes;
    return ended::returned;
  }
  task<void> end() {
    while (!fails_ && read_ < sent_) (void)took(co_await stream_.read(list_));
    stream_.close();
  }

 private:
  std::array<std::byte, 1> first_{};
  std::array<std::byte, 16> second_{};
  std::array<std::span<std::byte>, 2> list_{std::span<std::byte>(first_),
                                            std::span<std::byte>(second_)};
  std::atomic<std::size_t> sent_{0};
  std::size_t read_ = 0;
};

/// Eight megabytes in 32 buffers are more than the kernel takes without a reader, who begins when
/// the case is completed.
class vectored_write_case : public stream_case {
 public:
  static constexpr std::string_view name = "tcp_stream::write_all of a list";
  using awaiters = covers<io::vectored_write_awaiter>;
  static constexpr on_stop during = on_stop::may_end;

  ~vectored_write_case() {
    if (reader_.joinable()) reader_.join();
  }
  auto make() { return stream_.write_all(list_); }
  void complete() {
    if (started_.exchange(true)) return;
    if (fails_) peer_.reset();
    reader_ = std::thread([this] { received_ = peer_.read_to_end(); });
  }
  ended took() {
    written_ += list_.size() * data_.size();
    return ended::returned;
  }
  task<void> end() {
    complete();
    stream_.close();
    reader_.join();
    EXPECT_TRUE(fails_ || received_ >= written_);
    co_return;
  }

 private:
  std::vector<std::byte> data_ = std::vector<std::byte>(std::size_t{256} << 10);
  std::vector<std::span<const std::byte>> list_ =
      std::vector<std::span<const std::byte>>(32, std::span<const std::byte>(data_));
  std::size_t written_ = 0;
  std::atomic<bool> started_{false};
  std::thread reader_;
  std::size_t received_ = 0;
};

/// It takes nothing: what has come is still there afterwards.
class readable_case : public io_case {
 public:
  static constexpr std::string_view name = "readable";
  using awaiters = covers<io::readiness_awaiter>;

  auto make() { return io::readable(fails_ ? io::no_descriptor : pair_.ours()); }
  void complete() {
    if (fails_) return;
    pair_.peer_writes("x");
    ++sent_;
  }
  task<void> end() {
    for (; sent_ > 0; --sent_) EXPECT_EQ(test::read_some(pair_.ours(), 1), "x");
    co_return;
  }

 private:
  test::foreign_pair pair_;
  std::atomic<int> sent_{0};
};

class writable_case : public io_case {
 public:
  static constexpr std::string_view name = "writable";
  using awaiters = covers<io::readiness_awaiter>;

  task<void> begin() {
    filled_ = test::fill_plain(pair_.ours());
    co_return;
  }
  auto make() { return io::writable(fails_ ? io::no_descriptor : pair_.ours()); }
  void complete() {
    const std::lock_guard alone(draining_);
    test::drain_plain(pair_.peer(), std::exchange(filled_, 0));
  }

 private:
  test::foreign_pair pair_;
  std::mutex draining_;
  std::ptrdiff_t filled_ = 0;  // and not drained
};

/// No byte is lost: what came after a stop is there for the next one.
class receive_case : public stream_case {
 public:
  static constexpr std::string_view name = "tcp_stream::receive";
  using awaiters = covers<io::receive_awaiter>;

  auto make() { return stream_.receive(); }
  void complete() {
    if (fails_) return peer_.reset();
    peer_.send("xyz");
    sent_ += 3;
  }
  ended took(const io::leased_buffer& got) {
    EXPECT_FALSE(got.empty());
    read_ += got.size();
    return ended::returned;
  }
  task<void> end() {
    while (!fails_ && read_ < sent_) (void)took(co_await stream_.receive());
    stream_.close();
  }

 private:
  std::atomic<std::size_t> sent_{0};
  std::size_t read_ = 0;
};

/// Eight megabytes are lent until the peer reads, who begins when the case is completed. A stop may
/// reset the connection: so each await has one of its own.
class zero_copy_case : public io_case {
 public:
  static constexpr std::string_view name = "socket_stream::write_all_zero_copy";
  using awaiters = covers<io::zero_copy_awaiter>;
  static constexpr on_stop during = on_stop::may_end;

  ~zero_copy_case() { join(); }
  task<void> begin() {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      peers_[i] = peer_socket::connected_to(listener.local_endpoint().port());
      streams_[i] = co_await listener.accept();
    }
  }
  auto make() { return streams_.at(next_++).write_all_zero_copy(data_); }
  void complete() {
    if (started_.exchange(true)) return;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      if (fails_) peers_[i].reset();
      readers_[i] = std::thread([this, i] { received_ += peers_[i].read_to_end(); });
    }
  }
  ended took() {
    written_ += data_.size();
    return ended::returned;
  }
  task<void> end() {
    complete();
    for (tcp_stream& each : streams_) each.close();
    join();
    EXPECT_TRUE(fails_ || received_ >= written_);
    co_return;
  }

 private:
  void join() {
    for (std::thread& each : readers_) {
      if (each.joinable()) each.join();
    }
  }

  std::vector<std::byte> data_ = std::vector<std::byte>(std::size_t{8} << 20);
  std::array<tcp_stream, 3> streams_;
  std::array<peer_socket, 3> peers_;
  std::array<std::thread, 3> readers_;
  std::size_t next_ = 0;
  std::size_t written_ = 0;
  std::atomic<bool> started_{false};
  std::atomic<std::size_t> received_{0};
};

/// Eight megabytes are more than the kernel takes without a reader, who begins when the case is
/// completed. A stop gives back what was sent before it.
class send_file_case : public stream_case {
 public:
  static constexpr std::string_view name = "socket_stream::send_file_some";
  using awaiters = covers<io::detail::send_piece_awaiter>;
  static constexpr on_stop during = on_stop::may_end;

  ~send_file_case() {
    if (reader_.joinable()) reader_.join();
  }
  task<void> begin() {
    co_await stream_case::begin();
    file_ = co_await io::file::open(shared());
  }
  auto make() { return stream_.send_file_some(fails_ ? closed_ : file_, 0, bytes); }
  void complete() {
    if (started_.exchange(true)) return;
    reader_ = std::thread([this] { received_ = peer_.read_to_end(); });
  }
  ended took(std::uint64_t sent) {
    EXPECT_GT(sent, 0U);
    sent_ += sent;
    return ended::returned;
  }
  task<void> end() {
    complete();
    stream_.close();
    reader_.join();
    EXPECT_EQ(received_, sent_);
    file_.close();
    co_return;
  }

 private:
  static constexpr std::uint64_t bytes = std::uint64_t{8} << 20;
  /// One for all cases, in a folder that goes with the process.
  static std::string shared() {
    static const test::temporary_folder folder;
    static const std::string path = [] {
      std::string made = folder / "f";
      test::put_zeros(made, bytes);
      return made;
    }();
    return path;
  }

  io::file file_;
  io::file closed_;
  std::uint64_t sent_ = 0;
  std::atomic<bool> started_{false};
  std::thread reader_;
  std::uint64_t received_ = 0;
};

using cases = ::testing::Types<vectored_read_case, vectored_write_case, readable_case,
                               writable_case, receive_case, send_file_case, zero_copy_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(transfers, awaitable, cases, case_names);

}  // namespace io_rows
}  // namespace tandem::registry
