// change_queue.hpp: changes that were told of, until somebody takes them.
// SPDX-License-Identifier: MIT
//
// Whoever makes it not empty sends a byte, of which there is at most one on its way: so it can be
// waited for by a socket.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <tandem/io/file_change.hpp>
#include <tandem/io/native_descriptor.hpp>

namespace tandem::inline v0::io::platform {

class change_queue {
 public:
  /// @param tells  one end of a socket_pair, which it closes
  explicit change_queue(native_descriptor tells) noexcept : tells_(tells) {}
  change_queue(const change_queue&) = delete;
  change_queue& operator=(const change_queue&) = delete;
  ~change_queue();

  /// Guards all that is in it, and the watches whose changes it has.
  std::mutex lock;

  /// pre: locked. Lost if there is no room; that, too, is told.
  void push(file_change&& change) noexcept;
  /// pre: locked. What is in it is told, then an overflow; what comes until then is lost as well.
  void lose() noexcept;
  /// pre: locked. Nobody takes anything any more.
  void close() noexcept;
  /// pre: a byte was received, and since then take() has not said that it was the last one
  /// @returns  whether there are more. @throws nothing
  bool take(file_change& out) noexcept;

 private:
  static constexpr std::size_t most = 16 * 1024;

  void tell() noexcept;

  std::deque<file_change> changes_;
  bool has_lost_ = false;
  bool is_told_ = false;  // a byte is on its way, or has come
  native_descriptor tells_;
};

}  // namespace tandem::inline v0::io::platform
