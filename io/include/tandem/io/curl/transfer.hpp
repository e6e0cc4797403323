// transfer.hpp: an answer whose head has come, and whose body is read piece by piece.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <tandem/io/curl/export.hpp>
#include <tandem/io/curl/response.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::io::curl {

class session_core;
class exchange;

/// What session::open() returns: a readable stream. While nobody reads the transfer is paused: at
/// most 80 KiB of it are kept (and what curl has taken off the wire and could not hand out), and
/// nothing wakes the session's thread.
///
///     auto page = co_await session.open(tandem::io::curl::request(url));
///     std::array<std::byte, 4096> room;
///     while (const std::size_t n = co_await page.read(room)) use(std::span(room).first(n));
///
/// Destroyed before its end it is broken off, soon: on the session's thread. close() waits for that.
///
/// @thread_safety  one call at a time; any thread
class TANDEM_IO_CURL_API transfer {
 public:
  transfer() noexcept = default;
  transfer(transfer&&) noexcept = default;
  transfer& operator=(transfer&& other) noexcept;
  ~transfer();

  /// Status, version, headers; of times and counts what was known then. After read() has returned
  /// 0 all of it, trailers included.
  const response& head() const noexcept { return head_; }

  /// Reads up to `buffer.size()` bytes of the body.
  ///
  /// @param buffer        stays the caller's, alive until the await returns (also after a stop)
  /// @returns             bytes read; 0 at the end of the body, or for an empty buffer
  /// @throws              curl::error: connection_closed, timed_out, too_large, session_ended, ...,
  ///                      after what had come before it; operation_cancelled
  /// @cancellation        nothing is lost: the transfer goes on, and can be read again
  /// @thread_safety       one call at a time
  /// @resumes_on          the caller's home
  /// @cost                two posts where the caller lives elsewhere than the session; a copy
  task<std::size_t> read(std::span<std::byte> buffer);

  /// Breaks it off if it has not ended; harmless afterwards.
  ///
  /// @cancellation  none: it takes a moment only
  /// @resumes_on    the caller's home
  task<void> close();

  // Implementation
  transfer(std::shared_ptr<session_core> core, std::shared_ptr<exchange> made, response head);

 private:
  void drop() noexcept;

  std::shared_ptr<session_core> core_;
  std::shared_ptr<exchange> exchange_;
  response head_;
};

}  // namespace tandem::inline v0::io::curl
