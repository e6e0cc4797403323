// link.hpp: one connection to the server: its socket, its parser, and what is being written.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tandem/io/redis/options.hpp>
#include <tandem/io/redis/reply.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/io/unix_stream.hpp>
#include <tandem/task.hpp>
#include <vector>

#include "redis/parser.hpp"

namespace tandem::inline v0::io::redis::detail {

/// What is said first: who we are; and what is to be subscribed again.
class greeting {
 public:
  explicit greeting(const options& where);
  /// One command, with so many answers. @param called  in an error: without what is secret
  void add(std::span<const argument> words, std::size_t answers, std::string called);
  /// Whether it is a Redis that lets us in: it answers, though nothing else is asked.
  void add_ping();
  /// Which command an answer is for. pre: number < answers
  std::string_view asked(std::size_t number) const noexcept;

  std::string bytes;
  std::size_t answers = 0;

 private:
  struct part {
    std::string called;
    std::size_t end;  // of its answers, among all
  };
  std::vector<part> parts_;
};

/// Who touches what: the reader `answers`, `room`, `parsed` and what is said of spinning; the writer `out`,
/// `out_done` and `written` (others may look at these when nobody writes); under the conversation's
/// lock `taken`, `writing` and `early`. `may_block` is the writer's.
class link {
 public:
  /// Connects, and greets.
  ///
  /// @param early   gets what came among the answers but is none of them: messages
  /// @throws        error: refused, no_auth, ...; operation_cancelled
  static task<std::unique_ptr<link>> open(const options& where, const greeting& hello,
                                          bool takes_messages);

  explicit link(const options& where);
  link(const link&) = delete;
  link& operator=(const link&) = delete;

  socket_stream& stream() noexcept { return *stream_; }
  /// Whoever waits in it gets its end. Beside a read and a write.
  void cut() noexcept;
  /// After a read that has filled the room: more at once.
  void grow_room();
  /// Whether an answer was hoped for long enough: then it is not for a while.
  bool has_spun(std::chrono::microseconds span) noexcept;

  parser answers;
  std::vector<std::byte> room;
  std::vector<reply> parsed;  // of what was read last
  std::vector<reply> early;   // messages that came with the greeting's answers

  std::string out;
  std::size_t out_done = 0;   // of `out`
  std::uint64_t taken = 0;    // bytes of all commands that were put in `out`
  std::uint64_t written = 0;  // bytes that the system has taken
  bool writing = false;       // how many of `out` it has taken is not known
  bool may_block = false;     // the write, until somebody reads
  /// By the writer; the reader takes it as it comes (relaxed: it only says how long to hope).
  std::atomic<std::chrono::steady_clock::time_point> last_write;
  unsigned spin_pause = 0;  // of how many reads none spins, next time that it was in vain
  unsigned reads_until_spin = 0;

 private:
  task<void> connect(const options& where);
  task<void> greet(const options& where, const greeting& hello, bool takes_messages);
  std::optional<reply> next_answer(const options& where, const greeting& hello, std::size_t seen);

  tcp_stream tcp_;
  unix_stream local_;
  socket_stream* stream_ = nullptr;
};

/// what() without the text of the code, which stands behind it.
std::string detail_of(const error& known);
/// Whether a reply is what a subscriber gets: "message" or "pmessage".
bool is_message(const reply& got) noexcept;

}  // namespace tandem::inline v0::io::redis::detail
