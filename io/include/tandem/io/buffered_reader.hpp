// buffered_reader.hpp: reads lines and exact numbers of bytes from a stream.
// SPDX-License-Identifier: MIT
//
// The invariant: a byte that came from the stream is in the buffer until the call that takes it
// returns. So a call that is stopped, or fails, has taken nothing, and can be made again.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tandem/config.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/detail/byte_queue.hpp>
#include <tandem/task.hpp>
#include <utility>

namespace tandem::inline v0::io {

namespace detail {
class frame_reading;
}

/// A reader with a buffer, over a stream that stays its owner's.
///
///     tandem::io::buffered_reader reader(stream);
///     while (auto line = co_await reader.read_until("\r\n", 8192)) handle(*line);
///
/// @thread_safety  one call at a time
template <readable_stream Stream>
class buffered_reader {
 public:
  /// @param capacity  bytes asked for at once; taken from the system by the first read
  explicit buffered_reader(Stream& stream, std::size_t capacity = std::size_t{16} << 10)
      : stream_(&stream), queue_(capacity == 0 ? 1 : capacity) {}

  /// Reads up to `out.size()` bytes: what is in the buffer, or else what the stream gives.
  ///
  /// @returns       0 at the end of the stream, or for an empty buffer
  /// @throws        as the stream's read(); std::bad_alloc
  /// @cancellation  no byte is lost
  /// @cost          one frame; a read as large as the buffer goes past it
  task<std::size_t> read(std::span<std::byte> out) {
    if (out.empty()) co_return 0;
    if (queue_.empty()) {
      if (out.size() >= queue_.capacity()) co_return co_await stream_->read(out);
      (void)co_await fill();
    }
    co_return queue_.take(out);
  }

  /// Reads up to the next `delimiter`, which is taken, too, but not returned.
  ///
  /// @param max_bytes  that the delimiter may be away; the buffer grows up to there
  /// @returns          none if the stream ended before the first byte
  /// @throws           stream_errc::too_long, stream_errc::unexpected_end; as the stream's read();
  ///                   std::bad_alloc. Then nothing was taken: see buffered()
  /// @cancellation     takes nothing
  task<std::optional<std::string>> read_until(std::string delimiter, std::size_t max_bytes) {
    TANDEM_ASSERT(!delimiter.empty(), "read_until was given an empty delimiter");
    std::size_t searched = 0;
    while (true) {
      const std::size_t at = find(delimiter, searched, max_bytes, "buffered_reader::read_until");
      if (at != queue_.npos) co_return taken(at, delimiter.size());
      if (co_await fill() == 0) {
        if (queue_.empty()) co_return std::nullopt;
        throw std::system_error(stream_errc::unexpected_end, "buffered_reader::read_until");
      }
    }
  }

  /// Reads a line of text, which ends with "\n" or "\r\n", or with the stream: as text files and
  /// what people type may. Its end is taken, too, but not returned.
  ///
  ///     auto input = tandem::io::standard_input();
  ///     tandem::io::buffered_reader lines(input);
  ///     while (const auto line = co_await lines.read_line()) handle(*line);
  ///
  /// @param max_bytes  that the line may have; the buffer grows up to there. A "\r" counts
  /// @returns          none if the stream ended before the first byte
  /// @throws           stream_errc::too_long; as the stream's read(); std::bad_alloc. Then nothing
  ///                   was taken: see buffered()
  /// @cancellation     takes nothing
  task<std::optional<std::string>> read_line(std::size_t max_bytes = std::size_t{64} << 10) {
    std::size_t searched = 0;
    while (true) {
      const std::size_t at = find("\n", searched, max_bytes, "buffered_reader::read_line");
      if (at != queue_.npos) {
        std::string line = taken(at, 1);
        if (line.ends_with('\r')) line.pop_back();
        co_return line;
      }
      if (co_await fill() == 0) {
        if (queue_.empty()) co_return std::nullopt;
        co_return taken(queue_.size(), 0);
      }
    }
  }

  /// Fills all of `out`.
  ///
  /// @throws        stream_errc::unexpected_end; as the stream's read(); std::bad_alloc
  /// @cancellation  takes nothing: what is in `out` already goes back into the buffer
  /// @cost          one frame; memory for `out.size()` bytes more while it runs, if they are more
  ///                than the buffer holds
  task<void> read_exactly(std::span<std::byte> out) { return read_behind({}, out); }

  /// Reads more from the stream into the buffer, behind what is there.
  ///
  /// @returns       how many bytes came; 0 at the end of the stream
  /// @throws        as the stream's read(); std::bad_alloc
  /// @cancellation  no byte is lost
  task<std::size_t> fill() {
    const std::size_t came = co_await stream_->read(queue_.room());
    queue_.commit(came);
    co_return came;
  }

  /// Whether read_until(delimiter) has what it needs already. Whoever answers pipelined requests
  /// flushes when there is no further one: `if (!reader.has("\r\n")) co_await writer.flush();`
  bool has(std::string_view delimiter) const noexcept {
    return queue_.find(delimiter, 0) != queue_.npos;
  }
  /// What came and was not taken yet. Valid until the next call that is not const.
  std::span<const std::byte> buffered() const noexcept { return queue_.held(); }
  /// Takes the first bytes of buffered().
  void consume(std::size_t count) noexcept { queue_.consume(count); }
  /// Puts bytes in front of buffered(): the next read begins with them. @throws std::bad_alloc
  void put_back(std::span<const std::byte> bytes) { queue_.put_back(bytes); }

  Stream& stream() noexcept { return *stream_; }

 private:
  friend class detail::frame_reading;

  /// Where the delimiter begins, or npos: not there yet. The search begins at `searched`, and says
  /// there where the next one does.
  std::size_t find(std::string_view delimiter, std::size_t& searched, std::size_t max_bytes,
                   const char* what) const {
    const std::size_t at = queue_.find(delimiter, searched);
    const std::size_t have = queue_.size();
    // Without a delimiter so far: the first place where it may still begin.
    searched = have < delimiter.size() ? 0 : have - delimiter.size() + 1;
    if ((at == queue_.npos ? searched : at) > max_bytes) {
      throw std::system_error(stream_errc::too_long, what);
    }
    return at;
  }
  /// The first bytes of buffered(); those, and so many behind them, are taken.
  std::string taken(std::size_t bytes, std::size_t behind) {
    std::string text(text_of(queue_.held().first(bytes)));
    queue_.consume(bytes + behind);
    return text;
  }

  /// As read_exactly(), behind `head`: the first bytes of buffered(), which are taken, too.
  task<void> read_behind(std::span<const std::byte> head, std::span<std::byte> out) {
    // Had before anything is taken: what goes back needs no memory then.
    detail::byte_queue::spare kept = queue_.spare_for(head.size() + out.size());
    queue_.consume(head.size());
    std::size_t have = queue_.take(out);
    try {
      while (have < out.size()) {
        const std::size_t came = co_await read(out.subspan(have));
        if (came == 0) {
          throw std::system_error(stream_errc::unexpected_end, "buffered_reader::read_exactly");
        }
        have += came;
      }
    } catch (...) {
      queue_.put_back(head, out.first(have), std::move(kept));
      throw;
    }
  }

  Stream* stream_;
  detail::byte_queue queue_;
};

}  // namespace tandem::inline v0::io
