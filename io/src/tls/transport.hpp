// transport.hpp: what OpenSSL reads from and writes to: the stream below, without waiting.
// SPDX-License-Identifier: MIT
//
// A BIO method of our own. What was received lies in a small room of the connection, from which it
// goes to OpenSSL; where that room was full, there is more, and OpenSSL gets that straight from the
// socket. What OpenSSL writes is gathered in lent memory, which whoever sends takes away as a whole.
// (Memory BIOs would copy once more each way, and keep their memory.)
#pragma once

#include <openssl/bio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>
#include <tandem/io/any_stream.hpp>

#include "tls/record_rooms.hpp"

namespace tandem::inline v0::io::detail {

/// @thread_safety  under the lock of the connection, but for room(), whose bytes the task that reads
///                 fills without it
class tls_transport {
 public:
  explicit tls_transport(any_stream& below) noexcept : below_(&below) {}
  tls_transport(const tls_transport&) = delete;
  tls_transport& operator=(const tls_transport&) = delete;

  /// @throws  std::bad_alloc
  BIO* make_bio();

  /// Where the next read of the stream below goes. Until came() or nothing_came() OpenSSL gets nothing
  /// straight from that stream, since what it yields first belongs here. pre: OpenSSL has asked for
  /// more, and nothing was left. @throws std::bad_alloc
  std::span<std::byte> room();
  /// A read of the stream below has yielded that.
  void came(std::size_t bytes) noexcept;
  /// A read of the stream below was stopped, or has failed.
  void nothing_came() noexcept { is_lent_ = false; }
  /// How often something, the end included, has come, by either way.
  std::uint64_t arrivals() const noexcept { return arrivals_; }
  /// The stream below has ended, as a read of it said.
  bool has_ended() const noexcept { return has_ended_; }
  /// What a try without waiting has failed by; no error: it has not.
  std::error_code failure() const noexcept { return failure_; }
  /// Before OpenSSL is asked to read. @param is_slow  it gets a few small records, and then has to wait
  void begin_step(bool is_slow) noexcept {
    is_slow_ = is_slow;
    has_given_ = false;
  }
  /// Whether there is more, which this step was not given.
  bool holds_back() const noexcept {
    return is_slow_ && has_given_ && (begin_ != end_ || (is_busy_ && can_try_));
  }
  /// What has come and OpenSSL has not got yet.
  bool has_rest() const noexcept { return begin_ != end_; }
  /// Whether OpenSSL, asked to read, could get anything without a read of the stream below.
  bool may_have_input() const noexcept {
    return begin_ != end_ || is_busy_ || has_ended_ || static_cast<bool>(failure_);
  }
  /// Whether much is coming: then OpenSSL does well to have a large buffer.
  bool is_busy() const noexcept { return is_busy_; }

  /// Whether the peer has said anything.
  bool has_come() const noexcept { return has_come_; }

  /// What is to be sent; whoever sends takes it.
  record_room& output() noexcept { return output_; }
  /// There was no memory for output: the connection cannot go on.
  bool has_lost_output() const noexcept { return has_lost_output_; }

 private:
  static BIO_METHOD* method();
  static int read(BIO* bio, char* to, int room);
  static int write(BIO* bio, const char* bytes, int count);
  static long control(BIO* bio, int command, long argument, void* pointer);

  int take(char* to, std::size_t room) noexcept;
  int take_from_below(char* to, std::size_t room) noexcept;

  any_stream* below_;
  std::size_t begin_ = 0;  // of what lies in the room
  std::size_t end_ = 0;
  bool is_busy_ = false;
  bool can_try_ = true;
  bool has_ended_ = false;
  bool has_come_ = false;
  bool has_lost_output_ = false;
  bool reads_large_ = false;
  bool is_lent_ = false;    // the room, to a read of the stream below
  bool is_slow_ = false;    // begin_step
  bool has_given_ = false;  // likewise: something, in this step
  std::uint64_t arrivals_ = 0;
  std::error_code failure_;
  record_room large_;  // instead of small_, for a stream that cannot be tried
  record_room output_;
  std::array<std::byte, 1280> small_;
};

}  // namespace tandem::inline v0::io::detail
