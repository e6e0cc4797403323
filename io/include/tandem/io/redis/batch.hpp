// batch.hpp: commands that are sent together: a pipeline, or the inside of a transaction.
// SPDX-License-Identifier: MIT
//
// A command becomes bytes of the protocol when it is added: afterwards nothing that was given is
// needed any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tandem/io/redis/argument.hpp>
#include <tandem/io/redis/export.hpp>
#include <utility>

namespace tandem::inline v0::io::redis {

namespace detail {

/// Whether a command may go over a connection.
enum class manners : std::uint8_t {
  shared,   ///< nothing that changes what others on the connection get
  private_  ///< nothing after which the answers would not match any more
};

/// One command as bytes.
class TANDEM_IO_REDIS_API formatted {
 public:
  /// @throws  error: not_here, bad_option (no command); std::bad_alloc
  formatted(std::span<const argument> words, manners kind);
  /// Whatever it is.
  explicit formatted(std::span<const argument> words);

  std::string_view bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace detail

/// Commands, in the order in which they are sent and answered.
///
///     tandem::io::redis::batch both;
///     both.add("INCR", "visits");
///     both.add("EXPIRE", "visits", 3600);
///     auto answers = co_await client.pipeline(std::move(both));
///
/// @thread_safety  as a value
class TANDEM_IO_REDIS_API batch {
 public:
  batch() noexcept = default;

  /// Adds a command, a word an argument.
  ///
  /// @param words  texts, bytes and numbers; used before it returns
  /// @throws       error: not_here for one that would confuse the connection (MULTI and EXEC:
  ///               client::transaction(); SUBSCRIBE: subscriber; ...), bad_option without a word;
  ///               std::bad_alloc. Then nothing has changed
  template <class... Words>
  batch& add(const Words&... words) {
    const argument all[] = {argument(words)...};  // NOLINT: a list of arguments
    return add_words(all);
  }
  /// As above, of words whose number is not known before.
  batch& add_words(std::span<const argument> words);

  std::size_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  void clear() noexcept;

  // Implementation
  const std::string& bytes() const noexcept { return bytes_; }
  std::string take_bytes() && noexcept { return std::move(bytes_); }

 private:
  std::string bytes_;
  std::size_t count_ = 0;
};

}  // namespace tandem::inline v0::io::redis
