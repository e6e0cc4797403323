// any_stream.hpp: a stream of bytes whose type its user need not know.
// SPDX-License-Identifier: MIT
//
// What runs is the stream's own operation: a stream of tandem's builds its own awaiter in the
// awaiter of the call, which is the one indirect call that this costs.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <tandem/config.hpp>
#include <tandem/executor.hpp>
#include <tandem/io/any_stream_awaiters.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/io/detail/erased_stream.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/result.hpp>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace tandem::inline v0::io {

/// Holds any byte_stream: a connection, one that encrypts, a test's own. For code that is compiled
/// once for all of them, and for lists and members that take streams of several types.
///
///     tandem::task<void> greet(tandem::io::any_stream stream) {
///       co_await stream.write_all(tandem::io::bytes_of("hello"));
///     }
///     co_await greet(std::move(connection));  // a tcp_stream, or a class of one's own
///
/// Its operations mean what the stream's own ones mean: the same errors, the same stops, the same
/// deadlines around them.
///
/// @thread_safety  one read and one write at a time, as far as the stream allows that; everything
///                 else by its owner. Moved only while no operation is in flight
/// @cost           a tcp_stream lies in the any_stream itself, and so does any other stream whose
///                 operations return tcp_stream's awaiters and that is as small; any other one is
///                 allocated
class TANDEM_IO_API any_stream {
 public:
  /// Not open, as a tcp_stream that was never opened: every operation fails with
  /// errc::bad_file_descriptor. So does one that was moved from.
  any_stream() noexcept;
  /// @throws  std::bad_alloc for one that does not lie in it; what the stream's move throws
  template <class S>
    requires(std::same_as<std::remove_cvref_t<S>, S> && !std::same_as<S, any_stream> &&
             detail::has_stream_operations<S>)
  any_stream(S&& stream) {  // NOLINT: whoever takes an any_stream can be given any stream
    using held = S;
    static_assert(std::move_constructible<held>, "a stream is given to an any_stream by a move");
    if constexpr (lies_inside<held>) {
      stream_ = new (room_) detail::own_stream<held>(std::forward<S>(stream));
    } else if constexpr (detail::has_own_awaiters<held>) {
      stream_ = new detail::own_stream<held>(std::forward<S>(stream));
    } else {
      stream_ = new detail::adapted_stream<held>(std::forward<S>(stream));
    }
  }
  any_stream(any_stream&& other) noexcept;
  any_stream& operator=(any_stream&& other) noexcept;
  ~any_stream() { drop(); }

  /// Reads up to `buffer.size()` bytes.
  ///
  /// @param buffer        stays the caller's, alive until the await returns (also after a stop)
  /// @returns             bytes read; 0 at end of stream, or for an empty buffer
  /// @throws              as the stream's read(): std::system_error; operation_cancelled; for a
  ///                      stream that is adapted std::bad_alloc, too
  /// @cancellation        as the stream's: may lose the race and return data; no byte is ever lost
  /// @thread_safety       one read at a time
  /// @resumes_on          the caller's home
  /// @cost                tcp_stream: one indirect call, no allocation. Another stream: besides, if
  ///                      it does not return a task<std::size_t>, one frame, whose memory the
  ///                      any_stream keeps from the first operation on
  any_transfer_awaiter read(std::span<std::byte> buffer) noexcept { return stream_->read(buffer); }

  /// Takes what has come, and never waits: tcp_stream::try_read(), for streams that have it.
  ///
  /// @returns  as the stream's; errc::operation_not_supported from a stream that has none
  result<std::size_t> try_read(std::span<std::byte> buffer) noexcept {
    return stream_->try_read(buffer);
  }

  /// Writes up to `bytes.size()` bytes; fewer than that is no error.
  ///
  /// @param bytes         alive until the await returns (also after a stop)
  /// @returns             bytes that the stream has taken
  /// @throws              as the stream's write(): std::system_error; operation_cancelled; as read()
  /// @cancellation        as the stream's: may lose the race and return what was written
  /// @thread_safety       one write at a time, beside a read
  /// @resumes_on          the caller's home
  /// @cost                as read(); reading and writing keep memory of their own
  any_transfer_awaiter write(std::span<const std::byte> bytes) noexcept {
    return stream_->write(bytes);
  }

  /// Writes all of `bytes`.
  ///
  /// @throws         as write(); how much was written before is then unknown
  /// @cancellation   a part may have been sent: then only close() is right. write() says how much
  /// @cost           as write()
  any_write_all_awaiter write_all(std::span<const std::byte> bytes) noexcept {
    return stream_->write_all(bytes);
  }

  /// As write_all(), of any number of buffers, one after the other.
  ///
  /// @param buffers  the list and the buffers stay the caller's, alive until the await returns
  /// @cost           as write(); for a stream that takes no lists, one write_all() for each buffer
  template <buffer_list<const std::byte> B>
  any_vectored_write_awaiter write_all(const B& buffers) noexcept {
    return stream_->write_list(detail::byte_list(buffers));
  }

  /// Ends what is written: the peer reads up to here, then end of stream, and may go on writing.
  ///
  /// @throws         as the stream's: std::system_error
  /// @thread_safety  beside a read and a write, as far as the stream allows that
  void shutdown() { stream_->shutdown(); }
  /// Closes the stream; harmless if done before. No operation may be in flight.
  ///
  /// @throws  as the stream's; tcp_stream's throws nothing
  void close() { stream_->close(); }
  /// Of a stream that does not say: whether it was not closed by close().
  bool is_open() const { return stream_->is_open(); }

  /// Whether the stream is open and has a thread_executor().
  bool has_thread_executor() { return stream_->thread_executor() != nullptr; }
  /// The cheapest home for a task that mostly waits for this stream. pre: has_thread_executor()
  tandem::executor& thread_executor() {
    tandem::executor* const found = stream_->thread_executor();
    TANDEM_ASSERT(found != nullptr, "thread_executor() of an any_stream that has none");
    return *found;
  }

  /// The stream itself, for what is not offered here: it stays ours.
  ///
  ///     if (auto* tcp = stream.target<tandem::io::tcp_stream>()) tcp->set_no_delay(true);
  ///
  /// @returns  null if it is no S
  template <byte_stream S>
  S* target() noexcept {
    return static_cast<S*>(stream_->target(typeid(S)));
  }

  // Implementation
 private:
  static constexpr std::size_t room_bytes = sizeof(detail::own_stream<tcp_stream>);
  template <class S>
  static constexpr bool lies_inside =
      detail::has_own_awaiters<S> && sizeof(detail::own_stream<S>) <= room_bytes &&
      alignof(detail::own_stream<S>) <= alignof(void*);

  bool is_inside() const noexcept {
    return static_cast<const void*>(stream_) == static_cast<const void*>(room_);
  }
  void take(any_stream& other) noexcept;
  void drop() noexcept;

  detail::erased_stream* stream_;
  alignas(void*) std::byte room_[room_bytes];
};

}  // namespace tandem::inline v0::io
