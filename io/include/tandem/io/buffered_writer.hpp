// buffered_writer.hpp: collects small writes to a stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <tandem/io/byte_stream.hpp>
#include <tandem/io/detail/byte_queue.hpp>
#include <tandem/task.hpp>
#include <utility>

namespace tandem::inline v0::io {

/// A writer with a buffer, over a stream that stays its owner's. What was not flushed when it is
/// destroyed is dropped: a destructor cannot wait.
///
///     tandem::io::buffered_writer writer(stream);
///     for (const auto& line : lines) co_await writer.write_all(tandem::io::bytes_of(line));
///     co_await writer.flush();
///
/// @thread_safety  one call at a time
template <writable_stream Stream>
class buffered_writer {
 public:
  explicit buffered_writer(Stream& stream, std::size_t capacity = std::size_t{16} << 10)
      : stream_(&stream), queue_(capacity == 0 ? 1 : capacity) {}

  /// Takes all of `bytes`: into the buffer if they fit, else after a flush, and past the buffer if
  /// they are larger than that.
  ///
  /// @param bytes    alive until the await returns
  /// @throws         as the stream's write_all(); std::bad_alloc
  /// @cancellation   takes none of `bytes`, unless they are larger than the buffer and go past it:
  ///                 then how many were sent is unknown
  /// @cost           one frame; no wait while they fit
  task<void> write_all(std::span<const std::byte> bytes) {
    if (try_write(bytes)) co_return;
    co_await flush();
    if (!try_write(bytes)) co_await stream_->write_all(bytes);
  }

  /// As write_all() if that needs no wait. @returns false: nothing was taken. @throws
  /// std::bad_alloc
  [[nodiscard]] bool try_write(std::span<const std::byte> bytes) {
    if (bytes.size() > queue_.capacity() - queue_.size()) return false;
    queue_.append(bytes);
    return true;
  }

  /// Hands everything to the stream.
  ///
  /// @throws         as the stream's write_all()
  /// @cancellation   what was not sent stays in the buffer; of a stream without write() it is
  ///                 unknown how much that is, so nothing stays
  task<void> flush() {
    if constexpr (counting_stream<Stream>) {
      while (!queue_.empty()) queue_.consume(co_await stream_->write(queue_.held()));
    } else if (!queue_.empty()) {
      const detail::byte_queue sending =
          std::exchange(queue_, detail::byte_queue(queue_.capacity()));
      co_await stream_->write_all(sending.held());
    }
  }

  /// Bytes that wait for a flush.
  std::size_t buffered_bytes() const noexcept { return queue_.size(); }
  Stream& stream() noexcept { return *stream_; }

 private:
  Stream* stream_;
  detail::byte_queue queue_;
};

}  // namespace tandem::inline v0::io
