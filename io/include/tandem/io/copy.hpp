// copy.hpp: passes on what a stream gives to another one.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/byte_stream.hpp>
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

}  // namespace detail

/// Copies from `from` to `to` until the end of `from`.
///
///     // A proxy: each direction ends on its own.
///     co_await tandem::when_all(tandem::io::copy(client, server), tandem::io::copy(server, client));
///
/// A failure of one side ends both, and is thrown: end the other one by tcp_stream::abort() then. Merely
/// closed, its peer would take for complete what was cut off.
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
  if (options.pass_end) {
    if constexpr (requires { to.flush(); }) co_await to.flush();
    if constexpr (requires { to.shutdown(); }) to.shutdown();
  }
  co_return copied;
}

/// As above, with a reader of its own.
template <readable_stream From, writable_stream To>
  requires(!detail::is_buffered_reader<From>)
task<std::uint64_t> copy(From& from, To& to, copy_options options = {}) {
  buffered_reader<From> reader(from, options.buffer_bytes);
  co_return co_await copy(reader, to, options);
}

}  // namespace tandem::inline v0::io
