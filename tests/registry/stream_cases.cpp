// stream_cases.cpp: the rows of frames, copies, names and connections to one of several addresses.
// SPDX-License-Identifier: MIT
#include <array>
#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <tandem/io/copy.hpp>
#include <tandem/io/copy_both.hpp>
#include <tandem/io/framing.hpp>
#include <tandem/io/resolve.hpp>
#include <thread>
#include <vector>

#include "io_case.hpp"
#include "refusing_port.hpp"

namespace tandem::registry {
namespace io_rows {

/// No message is lost.
class read_frame_case : public stream_case {
 public:
  static constexpr std::string_view name = "read_frame";
  using awaiters = covers<>;

  task<void> begin() {
    co_await stream_case::begin();
    reader_.emplace(stream_);
  }
  auto make() { return io::read_frame(*reader_); }
  void complete() {
    if (fails_) return peer_.reset();
    // In two parts: a stop may come between them.
    peer_.send(std::string_view("\0\0\0\3a", 5));
    peer_.send("bc");
    ++sent_;
  }
  ended took(const std::optional<std::vector<std::byte>>& message) {
    EXPECT_TRUE(message && message->size() == 3);
    ++read_;
    return ended::returned;
  }
  task<void> end() {
    while (!fails_ && read_ < sent_) (void)took(co_await make());
    stream_.close();
  }

 private:
  std::optional<io::buffered_reader<tcp_stream>> reader_;
  std::atomic<int> sent_{0};
  int read_ = 0;
};

/// Eight megabytes are more than the kernel takes without a reader, who begins when the case is
/// completed.
class write_frame_case : public stream_case {
 public:
  static constexpr std::string_view name = "write_frame";
  using awaiters = covers<>;
  static constexpr on_stop during = on_stop::may_end;

  ~write_frame_case() {
    if (reader_.joinable()) reader_.join();
  }
  auto make() { return io::write_frame(stream_, data_, format_); }
  void complete() {
    if (started_.exchange(true)) return;
    if (fails_) peer_.reset();
    reader_ = std::thread([this] { (void)peer_.read_to_end(); });
  }
  task<void> end() {
    complete();
    stream_.close();
    reader_.join();
    co_return;
  }

 private:
  io::frame_format format_{io::length_prefix::u32, std::endian::big, std::size_t{16} << 20};
  std::vector<std::byte> data_ = std::vector<std::byte>(std::size_t{8} << 20);
  std::atomic<bool> started_{false};
  std::thread reader_;
};

/// Takes what copy() brings.
class counting_sink {
 public:
  task<std::size_t> write(std::span<const std::byte> bytes) {
    taken += bytes.size();
    co_return bytes.size();
  }
  task<void> write_all(std::span<const std::byte> bytes) {
    taken += bytes.size();
    co_return;
  }
  std::size_t taken = 0;
};

/// Ends with its source; what was read before a stop is not lost.
class copy_case : public stream_case {
 public:
  static constexpr std::string_view name = "copy";
  using awaiters = covers<>;

  task<void> begin() {
    co_await stream_case::begin();
    reader_.emplace(stream_);
  }
  auto make() { return io::copy(*reader_, sink_); }
  void complete() {
    if (fails_) return peer_.reset();
    if (ended_.exchange(true)) return;
    peer_.send("abc");
    test::end_writing(peer_.get());
  }
  ended took(std::uint64_t /*bytes*/) { return ended::returned; }
  task<void> end() {
    if (!fails_ && ended_) {
      (void)co_await make();
      EXPECT_EQ(sink_.taken, 3U);
    }
    stream_.close();
  }

 protected:
  std::optional<io::buffered_reader<tcp_stream>> reader_;
  std::atomic<bool> ended_{false};

 private:
  counting_sink sink_;
};

/// The peer ends its side, and then nobody writes any more: the other side is the test's own.
class copy_both_case : public copy_case {
 public:
  static constexpr std::string_view name = "copy_both";
  using awaiters = covers<>;

  task<void> begin() {
    co_await stream_case::begin();
    reader_.emplace(stream_);
  }
  auto make() { return io::copy_both(*reader_, other_); }
  ended took(const io::copied_both& /*bytes*/) { return ended::returned; }
  task<void> end() {
    if (!fails_ && ended_) {
      (void)co_await make();
      EXPECT_EQ(other_.taken, 3U);
    }
    stream_.close();
  }

 private:
  /// Gives nothing, and counts.
  class silent_end : public counting_sink {
   public:
    task<std::size_t> read(std::span<std::byte> /*room*/) { co_return 0; }
  };
  silent_end other_;
};

class resolve_case : public io_case {
 public:
  static constexpr std::string_view name = "resolve";
  using awaiters = covers<>;
  static constexpr bool self_completing = true;
  static constexpr on_stop during = on_stop::may_end;

  auto make() {
    return io::resolve("localhost", std::string(fails_ ? "no-such-service-anywhere" : "80"));
  }
  ended took(const std::vector<endpoint>& found) {
    EXPECT_FALSE(found.empty());
    return ended::returned;
  }
};

class name_of_case : public io_case {
 public:
  static constexpr std::string_view name = "name_of";
  using awaiters = covers<>;
  static constexpr row cells = every_column.without(
      column::exception,
      "which address has no name is for name servers to say: slow_names_test has some of its own");
  static constexpr bool self_completing = true;
  static constexpr on_stop during = on_stop::may_end;

  auto make() { return io::name_of(endpoint::loopback_v4(80)); }
  ended took(const std::string& found) {
    EXPECT_FALSE(found.empty());
    return ended::returned;
  }
};

/// One of two addresses answers.
class connect_list_case : public io_case {
 public:
  static constexpr std::string_view name = "tcp_stream::connect over a list";
  using awaiters = covers<>;
  static constexpr bool self_completing = true;
  // Over the loopback a connection is made at once.
  static constexpr on_stop before = on_stop::may_end;
  static constexpr on_stop during = on_stop::may_end;

  task<void> begin() {
    listener_ = tcp_listener::bind(endpoint::loopback_v4(0));
    list_ = {refuses_.where(), listener_.local_endpoint()};
    co_return;
  }
  auto make() { return tcp_stream::connect(list_); }
  void fail() { list_.back() = refuses_.where(); }
  ended took(const tcp_stream& stream) {
    EXPECT_EQ(stream.remote_endpoint(), list_.back());
    return ended::returned;
  }
  task<void> end() {
    listener_.close();
    co_return;
  }

 private:
  test::refusing_port refuses_;
  tcp_listener listener_;
  std::vector<endpoint> list_;
};

using cases = ::testing::Types<read_frame_case, write_frame_case, copy_case, copy_both_case,
                               resolve_case, name_of_case, connect_list_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(streams, awaitable, cases, case_names);

}  // namespace io_rows
}  // namespace tandem::registry
