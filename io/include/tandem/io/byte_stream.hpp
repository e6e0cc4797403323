// byte_stream.hpp: what readers, writers, frames and copy() ask of a stream, and their errors.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <system_error>
#include <tandem/detail/as_task.hpp>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/export.hpp>
#include <type_traits>

namespace tandem::inline v0::io {

/// Has read(buffer), whose await yields how many bytes came: 0 at the end of the stream. A read
/// that is stopped must have lost nothing. tcp_stream and buffered_reader are such; so is a test's
/// own class:
///
///     class two_bytes {
///      public:
///       tandem::task<std::size_t> read(std::span<std::byte> room);
///     };
///     static_assert(tandem::io::readable_stream<two_bytes>);
template <class S>
concept readable_stream = requires(S& stream, std::span<std::byte> buffer) {
  requires std::convertible_to<tandem::detail::awaited_t<decltype(stream.read(buffer))>,
                               std::size_t>;
};

/// Has write_all(bytes), whose await ends when all of them were taken.
template <class S>
concept writable_stream = requires(S& stream, std::span<const std::byte> bytes) {
  typename tandem::detail::awaited_t<decltype(stream.write_all(bytes))>;
};

/// Has write(bytes) besides, which says how many were taken: then a stop loses count of nothing.
template <class S>
concept counting_stream =
    writable_stream<S> && requires(S& stream, std::span<const std::byte> bytes) {
      requires std::convertible_to<tandem::detail::awaited_t<decltype(stream.write(bytes))>,
                                   std::size_t>;
    };

namespace detail {

/// What an any_stream asks of a stream. Not whether it can be moved: that would look at its
/// constructors, one of which may take an any_stream.
template <class S>
concept has_stream_operations = readable_stream<S> && counting_stream<S> && requires(S& stream) {
  { stream.shutdown() } -> std::same_as<void>;
  { stream.close() } -> std::same_as<void>;
};

}  // namespace detail

/// A connection of any kind: tcp_stream, any_stream, or a class of one's own. Beside reading and
/// writing it has shutdown(), which ends what it writes, and close(), which gives back what it
/// holds. Neither waits: a stream whose farewell takes time (TLS) offers that as an operation, to be
/// awaited before. One read and one write may be under way at a time.
///
///     class pipe_end {
///      public:
///       tandem::task<std::size_t> read(std::span<std::byte> room);
///       tandem::task<std::size_t> write(std::span<const std::byte> bytes);
///       tandem::task<void> write_all(std::span<const std::byte> bytes);
///       void shutdown();
///       void close();
///     };
///     static_assert(tandem::io::byte_stream<pipe_end>);
///
/// Optional: `bool is_open() const`; `tandem::executor& thread_executor()`, where a task that mostly
/// waits for the stream lives best; write_all() of a list of buffers.
template <class S>
concept byte_stream = detail::has_stream_operations<S> && std::move_constructible<S>;

/// Errors of a stream's contents.
enum class stream_errc {
  unexpected_end = 1,  ///< the stream ended in the middle of something
  too_long,            ///< longer than the limit that was given
};

TANDEM_IO_API const std::error_category& stream_category() noexcept;
TANDEM_IO_API std::error_code make_error_code(stream_errc error) noexcept;

}  // namespace tandem::inline v0::io

template <>
struct std::is_error_code_enum<tandem::io::stream_errc> : std::true_type {};
