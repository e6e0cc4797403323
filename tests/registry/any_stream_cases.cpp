// any_stream_cases.cpp: the rows of any_stream: over TCP itself, and over a stream that is adapted.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <span>
#include <tandem/io/any_stream.hpp>
#include <thread>
#include <vector>

#include "io_case.hpp"

namespace tandem::registry {
namespace io_rows {

/// Whoever awaits an Inner by way of this does not see which awaiter it is.
template <class Inner>
class wrapped {
 public:
  using tandem_awaiter = void;

  explicit wrapped(Inner&& inner) noexcept : inner_(std::move(inner)) {}
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return inner_.await_suspend(self);
  }
  auto await_resume() { return inner_.await_resume(); }

 private:
  Inner inner_;
};

/// A stream of somebody's own: its awaiters are none of tandem's, and it takes no lists.
class own_stream {
 public:
  explicit own_stream(tcp_stream&& inner) noexcept : inner_(std::move(inner)) {}
  auto read(std::span<std::byte> room) { return wrapped(inner_.read(room)); }
  auto write(std::span<const std::byte> bytes) { return wrapped(inner_.write(bytes)); }
  auto write_all(std::span<const std::byte> bytes) { return wrapped(inner_.write_all(bytes)); }
  void shutdown() { inner_.shutdown(); }
  void close() { inner_.close(); }

 private:
  tcp_stream inner_;
};

template <class Held>
class any_case : public stream_case {
 public:
  task<void> begin() {
    co_await stream_case::begin();
    any_ = Held(std::move(stream_));
  }

 protected:
  io::any_stream& under_test() noexcept { return any_; }

  io::any_stream any_;
};

class any_read_case : public counted_reads<any_case<tcp_stream>> {
 public:
  static constexpr std::string_view name = "any_stream::read";
  using awaiters = covers<io::any_transfer_awaiter>;
};
class adapted_read_case : public counted_reads<any_case<own_stream>> {
 public:
  static constexpr std::string_view name = "any_stream::read of an adapted stream";
  using awaiters = covers<io::any_transfer_awaiter>;
};

/// Eight megabytes in 32 buffers are more than the kernel takes without a reader, who begins when
/// the case is completed.
template <class Held>
class any_write : public any_case<Held> {
 public:
  static constexpr on_stop during = on_stop::may_end;

  ~any_write() {
    if (reader_.joinable()) reader_.join();
  }
  void complete() {
    if (started_.exchange(true)) return;
    if (this->fails_) this->peer_.reset();
    reader_ = std::thread([this] { received_ = this->peer_.read_to_end(); });
  }
  ended took() {
    written_ += data_.size();
    return ended::returned;
  }
  task<void> end() {
    complete();
    this->any_.close();
    reader_.join();
    EXPECT_TRUE(this->fails_ || received_ >= written_);
    co_return;
  }

 protected:
  auto all() { return this->any_.write_all(std::span<const std::byte>(data_)); }
  auto list() { return this->any_.write_all(list_); }

 private:
  std::vector<std::byte> data_ = std::vector<std::byte>(std::size_t{8} << 20);
  std::vector<std::span<const std::byte>> list_ = std::vector<std::span<const std::byte>>(
      32, std::span<const std::byte>(data_).first(std::size_t{256} << 10));
  std::size_t written_ = 0;
  std::atomic<bool> started_{false};
  std::thread reader_;
  std::size_t received_ = 0;
};

class any_write_all_case : public any_write<tcp_stream> {
 public:
  static constexpr std::string_view name = "any_stream::write_all";
  using awaiters = covers<io::any_write_all_awaiter>;
  auto make() { return all(); }
};
class adapted_write_all_case : public any_write<own_stream> {
 public:
  static constexpr std::string_view name = "any_stream::write_all of an adapted stream";
  using awaiters = covers<io::any_write_all_awaiter>;
  auto make() { return all(); }
};
class any_write_list_case : public any_write<tcp_stream> {
 public:
  static constexpr std::string_view name = "any_stream::write_all of a list";
  using awaiters = covers<io::any_vectored_write_awaiter>;
  auto make() { return list(); }
};
class adapted_write_list_case : public any_write<own_stream> {
 public:
  static constexpr std::string_view name = "any_stream::write_all of a list, adapted";
  using awaiters = covers<io::any_vectored_write_awaiter>;
  auto make() { return list(); }
};

using cases =
    ::testing::Types<any_read_case, adapted_read_case, any_write_all_case, adapted_write_all_case,
                     any_write_list_case, adapted_write_list_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(any_streams, awaitable, cases, case_names);

}  // namespace io_rows
}  // namespace tandem::registry
