// sender.hpp: sends a file over UDP, and again what was lost.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <tandem/io/file.hpp>
#include <tandem/io/udp_socket.hpp>
#include <tandem/task.hpp>
#include <vector>

#include "segment.hpp"

namespace transfer {

/// What a transfer took.
class totals {
 public:
  totals() = default;
  std::uint64_t file_bytes = 0;
  std::uint64_t segments = 0;    ///< that the file has
  std::uint64_t sent_again = 0;  ///< of them
  std::uint64_t rounds_without_answer = 0;
};

/// Sends as much at a time as the way takes: twice as much after each answer until something is lost,
/// then a little more after each answer, and half as much after each loss.
class sender {
 public:
  /// @param give_up_after  so long without an answer
  /// @throws               std::runtime_error: the file has more bytes than most_file_bytes
  sender(tandem::io::udp_socket socket, tandem::io::file file, std::uint64_t file_bytes,
         std::chrono::milliseconds give_up_after);

  /// @throws  std::runtime_error: the receiver does not answer; what the file and the socket throw
  tandem::task<totals> run();

 private:
  tandem::task<void> send_what_may_go();
  /// Reads the segments of one train, and sends it.
  tandem::task<void> send_train(std::span<const std::uint32_t> numbers);
  tandem::task<void> say_farewell();
  /// @returns  whether one came in time
  tandem::task<bool> hear_answers();
  void note(const header& said, const arrival_map& map);
  void take_as_lost(std::uint32_t number);
  void note_round(bool has_lost);
  std::size_t length_of(std::uint32_t number) const;

  tandem::io::udp_socket socket_;
  tandem::io::file file_;
  const std::uint32_t count_;
  const std::chrono::milliseconds give_up_after_;
  const std::uint32_t transfer_;
  totals totals_;

  std::uint32_t next_ = 0;   // never sent
  std::uint32_t first_ = 0;  // not acknowledged
  std::vector<bool> acknowledged_;
  std::deque<std::uint32_t> lost_;  // to be sent again
  std::vector<bool> is_lost_;
  std::uint32_t in_flight_ = 0;

  std::uint32_t window_ = 32;
  std::uint32_t threshold_ = map_bits;
  std::chrono::milliseconds patience_{20};  // until a round counts as lost
  std::vector<std::byte> train_;
};

}  // namespace transfer
