// copy_both.hpp: joins two streams: what one gives goes to the other, in both directions at once.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <tandem/detail/pass_on.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/io/copy.hpp>
#include <tandem/task.hpp>
#include <tandem/when_all.hpp>

namespace tandem::inline v0::io {

/// How many bytes of each direction the other side has taken.
///
/// @thread_safety  as a value
class copied_both {
 public:
  copied_both() noexcept = default;

  std::uint64_t there = 0;  ///< from the first stream to the second one
  std::uint64_t back = 0;   ///< from the second stream to the first one
};

/// Options of copy_both().
class copy_both_options {
 public:
  copy_both_options() noexcept {}  // NOLINT: not an aggregate, see tcp_options

  /// Of each direction, without a reader of the caller's own.
  std::size_t buffer_bytes = std::size_t{64} << 10;
  /// Counts as copy_options::progress does, also if copy_both() fails; it is added to. Each
  /// direction writes its own part, on whatever thread: to be read when the task has ended.
  copied_both* progress = nullptr;
};

namespace detail {

/// Where it is written to, if it is not the stream itself.
template <class Side>
auto& written_side(Side& side) noexcept {
  if constexpr (is_buffered_reader<Side>) {
    return side.stream();
  } else {
    return side;
  }
}

template <class First, class Second>
task<copied_both> run_copy_both(First& first, Second& second, copy_both_options options) {
  copy_options there;
  there.buffer_bytes = options.buffer_bytes;
  there.progress = options.progress != nullptr ? &options.progress->there : nullptr;
  copy_options back;
  back.buffer_bytes = options.buffer_bytes;
  back.progress = options.progress != nullptr ? &options.progress->back : nullptr;
  auto both = tandem::when_all(copy(first, written_side(second), there),
                               copy(second, written_side(first), back));
  co_await tandem::detail::wait_for(both);
  co_await tandem::detail::pass_on(both.await_failure());
  const auto counted = both.await_resume();
  copied_both bytes;
  bytes.there = std::get<0>(counted);
  bytes.back = std::get<1>(counted);
  co_return bytes;
}

}  // namespace detail

/// A stream that copy_both() takes, or a buffered_reader of one, which may hold what came before.
template <class Side>
concept copied_side = readable_stream<Side> && requires(Side& side) {
  requires writable_stream<std::remove_reference_t<decltype(detail::written_side(side))>>;
};

/// Copies from `first` to `second`, and from `second` to `first`, at once, until both have ended: a
/// tunnel, a proxy.
///
///     const auto both = co_await tandem::as_result(tandem::io::copy_both(client, server));
///     if (!both) {
///       client.abort();
///       server.abort();
///     }
///
/// An end of one stream ends what is written to the other one (as copy() does: flush(), shutdown()),
/// and the other direction goes on until it ends by itself. If one direction fails, or a stop comes,
/// both end, and nothing more is passed on: the streams stay open, and are the caller's to reset. If
/// they were merely closed, a peer would take for complete what was cut off.
///
/// @param first, second  streams, or a buffered_reader of a stream: what it holds goes first, and
///                       what was read and not written stays there. They stay the caller's
/// @returns        bytes of each direction
/// @throws         the first failure of either direction, when both have ended, as copy()
/// @cancellation   ends both; progress says how much was copied
/// @thread_safety  nobody else reads from or writes to either of them meanwhile
/// @resumes_on     the caller's home
/// @cost           as two copy(), and a frame for both together: between two connections a pipe of
///                 the system's where much comes at once
template <copied_side First, copied_side Second>
task<copied_both> copy_both(First& first, Second& second, copy_both_options options = {}) {
  return detail::run_copy_both(first, second, options);
}

}  // namespace tandem::inline v0::io
