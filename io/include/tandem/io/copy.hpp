// copy.hpp: passes on what a stream or a file gives to another one.
// SPDX-License-Identifier: MIT
//
// By the way that costs least of those that both ends have: within the system, or by a buffer.
// Which one that is: io/src/copy/README.md.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/socket_stream.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/io/unix_stream.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::io {

/// Options of copy().
class copy_options {
 public:
  copy_options() noexcept {}  // NOLINT: not an aggregate, see tcp_options

  /// At the end of `from`, `to` is ended, too: flush() and shutdown(), if it has them.
  bool pass_end = true;
  /// Without a reader of the caller's own.
  std::size_t buffer_bytes = std::size_t{64} << 10;
  /// Counts the bytes that `to` has taken, also if copy() fails; it is added to.
  std::uint64_t* progress = nullptr;
  /// Where a file is read from, and where one is written to.
  std::uint64_t from_offset = 0;
  std::uint64_t to_offset = 0;
  /// Of a file as source: at most so many.
  std::uint64_t most_bytes = UINT64_MAX;
};

namespace detail {

template <class S>
inline constexpr bool is_buffered_reader = false;
template <class S>
inline constexpr bool is_buffered_reader<buffered_reader<S>> = true;

template <class To>
task<std::size_t> pass_on(To& to, std::span<const std::byte> bytes) {
  if constexpr (counting_stream<To>) {
    co_return co_await to.write(bytes);
  } else {
    co_await to.write_all(bytes);
    co_return bytes.size();
  }
}

/// The end of `from`, if it is to be passed on.
template <class To>
task<void> pass_end(To& to) {
  if constexpr (requires { to.flush(); }) co_await to.flush();
  if constexpr (requires { to.shutdown(); }) to.shutdown();
}

/// The connection that a stream is, or holds; null: it is none of the system's.
template <class Stream>
socket_stream* socket_of([[maybe_unused]] Stream& stream) noexcept {
  if constexpr (std::derived_from<Stream, socket_stream>) {
    return &stream;
  } else if constexpr (requires { stream.template target<tcp_stream>(); }) {
    if (auto* const tcp = stream.template target<tcp_stream>()) return tcp;
    return stream.template target<unix_stream>();
  } else {
    return nullptr;
  }
}

/// From one connection to another, until the end, which is not passed on.
TANDEM_IO_API task<std::uint64_t> relay(socket_stream& from, socket_stream& to,
                                        copy_options options);
/// A part of a file to a connection. @throws also if some of it was sent
TANDEM_IO_API task<std::uint64_t> send_part(file& from, socket_stream& to, copy_options options);

/// A file as a stream.
class file_source {
 public:
  file_source(file& from, const copy_options& options) noexcept
      : file_(&from), at_(options.from_offset), left_(options.most_bytes) {}

  task<std::size_t> read(std::span<std::byte> room) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), left_));
    const std::size_t came = co_await file_->read_at(room.first(wanted), at_);
    at_ += came;
    left_ -= came;
    co_return came;
  }

 private:
  file* file_;
  std::uint64_t at_;
  std::uint64_t left_;
};

class file_sink {
 public:
  file_sink(file& to, const copy_options& options) noexcept : file_(&to), at_(options.to_offset) {}

  task<std::size_t> write(std::span<const std::byte> bytes) {
    const std::size_t taken = co_await file_->write_at(bytes, at_);
    at_ += taken;
    co_return taken;
  }
  task<void> write_all(std::span<const std::byte> bytes) {
    co_await file_->write_all_at(bytes, at_);
    at_ += bytes.size();
  }

 private:
  file* file_;
  std::uint64_t at_;
};

}  // namespace detail

/// Copies from `from` to `to` until the end of `from`, and ends `to` then (of a connection: the
/// direction that was written), unless options.pass_end is false.
///
///     const std::uint64_t bytes = co_await tandem::io::copy(client, archive);
///
/// For both directions at once there is copy_both().
///
/// @returns        bytes copied
/// @throws         as the read() of one and the write_all() of the other; shutdown's
///                 std::system_error
/// @cancellation   what was read and not written stays in the reader, so another copy() goes on
///                 where this one ended (exactly so if `to` has write()). Without a reader of the
///                 caller's own up to buffer_bytes are lost
/// @resumes_on     the caller's home
/// @cost           one buffer, and a frame or two for each piece
template <readable_stream From, writable_stream To>
task<std::uint64_t> copy(buffered_reader<From>& from, To& to, copy_options options = {}) {
  std::uint64_t copied = 0;
  while (true) {
    if (from.buffered().empty() && co_await from.fill() == 0) break;
    const std::size_t taken = co_await detail::pass_on(to, from.buffered());
    from.consume(taken);
    copied += taken;
    if (options.progress != nullptr) *options.progress += taken;
  }
  if (options.pass_end) co_await detail::pass_end(to);
  co_return copied;
}

/// As above, with a reader of its own: it ends `to`, too, unless options.pass_end is false. Between
/// two connections it uses none where much comes at once: a pipe of the system's then, of two
/// descriptors, through which the bytes go without being touched by the program.
template <readable_stream From, writable_stream To>
  requires(!detail::is_buffered_reader<From>)
task<std::uint64_t> copy(From& from, To& to, copy_options options = {}) {
  socket_stream* const in = detail::socket_of(from);
  socket_stream* const out = detail::socket_of(to);
  if (in != nullptr && out != nullptr) {
    const std::uint64_t copied = co_await detail::relay(*in, *out, options);
    if (options.pass_end) co_await detail::pass_end(to);
    co_return copied;
  }
  buffered_reader<From> reader(from, options.buffer_bytes);
  co_return co_await copy(reader, to, options);
}

/// Copies a file, or a part of it, to a stream: to a connection as socket_stream::send_file() does,
/// else by a buffer. At the end of the part it ends `to`, so that nothing can be written behind it,
/// unless options.pass_end is false.
///
///     co_await tandem::io::copy(page, client);  // the client is told that this was all
///
/// @returns        bytes copied
/// @throws         as file::read_at() and the stream's write_all(), also if some were sent:
///                 options.progress says how many
/// @cancellation   ends it; options.progress says how much was sent (exactly so if `to` has
///                 write())
/// @resumes_on     the caller's home
/// @cost           as send_file(); else one buffer, and a frame or two for each piece
template <writable_stream To>
task<std::uint64_t> copy(file& from, To& to, copy_options options = {}) {
  std::uint64_t copied = 0;
  if (socket_stream* const out = detail::socket_of(to); out != nullptr) {
    copied = co_await detail::send_part(from, *out, options);
    if (options.pass_end) co_await detail::pass_end(to);
  } else {
    detail::file_source source(from, options);
    copied = co_await copy(source, to, options);
  }
  co_return copied;
}

/// Copies what a stream gives into a file, which is not cut off behind it, and stays open.
///
/// @returns        bytes copied
/// @throws         as the stream's read() and file::write_at()
/// @cancellation   as copy() from one stream to another
/// @resumes_on     the caller's home
/// @cost           one buffer, and a frame or two for each piece
template <readable_stream From>
task<std::uint64_t> copy(From& from, file& to, copy_options options = {}) {
  detail::file_sink sink(to, options);
  co_return co_await copy(from, sink, options);
}

/// Copies a file, or a part of it, into another one, which is not cut off behind it: within the
/// system where both are of one file system (which may let them share their blocks), else by a
/// buffer. Holes become zeros. Both may be the same file: what is behind the end that it has when
/// the copy begins is not copied. Both stay open.
///
/// @returns        bytes copied
/// @throws         as file::read_at() and write_at(), also if some were copied: options.progress
///                 says how many; invalid_argument, and nothing is copied, if both are the same
///                 file and the parts overlap
/// @cancellation   after the part that has begun (8 MiB)
/// @thread_safety  any number at a time, of both files
/// @resumes_on     the caller's home
/// @cost           the status of both, and a call on a thread of blocking() for each 64 MiB; else a
///                 buffer of 1 MiB
/// @source         man page copy_file_range(2)
TANDEM_IO_API task<std::uint64_t> copy(file& from, file& to, copy_options options = {});

}  // namespace tandem::inline v0::io
