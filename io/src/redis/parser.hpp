// parser.hpp: replies out of bytes, by hiredis's reader, straight into the type that users get.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tandem/io/redis/errors.hpp>
#include <tandem/io/redis/reply.hpp>

struct redisReader;
struct redisReadTask;

namespace tandem::inline v0::io::redis::detail {

/// It stops for good at what is not Redis's protocol, or too large. One task at a time.
class parser {
 public:
  /// @throws  std::bad_alloc
  explicit parser(std::size_t max_reply_bytes);
  parser(const parser&) = delete;
  parser& operator=(const parser&) = delete;
  ~parser() = default;

  /// @throws  std::bad_alloc
  void feed(std::span<const std::byte> bytes);
  /// @returns  the next reply; nothing if its end has not come yet
  /// @throws   error: protocol_error, too_large; std::bad_alloc
  std::optional<reply> next();
  /// Whether a part of a reply has come.
  bool is_inside() const noexcept;

 private:
  friend struct builder;
  struct give_back {
    void operator()(redisReader* reader) const noexcept;
  };

  /// Where the reader wants a reply to be made. @returns null if it is too large
  reply* place(const redisReadTask& task, std::size_t bytes);
  void refuse_announced() const;
  [[noreturn]] void fail() const;

  const std::size_t max_bytes_;
  std::unique_ptr<redisReader, give_back> reader_;
  reply root_;
  std::size_t bytes_ = 0;  // of the reply that is being made
  bool is_too_large_ = false;
  bool is_out_of_memory_ = false;
};

}  // namespace tandem::inline v0::io::redis::detail
