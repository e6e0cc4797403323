// answer_stream.hpp: an answer that is sent piece by piece, as its handler goes on.
// SPDX-License-Identifier: MIT
//
// Each piece is a chunk of HTTP/1.1; for a client of HTTP/1.0 they follow each other until the
// connection ends. The handler awaits each piece, so that a client that reads slowly slows it down,
// and nothing piles up: what is newer by then takes the place of what was not sent.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <tandem/io/any_stream.hpp>
#include <tandem/task.hpp>

#include "http_message.hpp"

namespace service {

/// @thread_safety  the connection's home only
class answer_stream {
 public:
  /// @param client      stays the connection's
  /// @param piece_time  for one piece to leave
  answer_stream(tandem::io::any_stream& client, std::chrono::milliseconds piece_time)
      : client_(client), piece_time_(piece_time) {}
  answer_stream(const answer_stream&) = delete;
  answer_stream& operator=(const answer_stream&) = delete;

  /// Sends the header of a 200. From here on nothing else is answered, whatever the handler
  /// returns; if it throws, the connection is closed in the middle.
  ///
  /// @param keep_alive  whether the connection may go on after it
  /// @throws            what writing throws; operation_cancelled: it took too long
  tandem::task<void> begin(const http_request& request, std::string_view content_type,
                           bool keep_alive);
  /// Sends a piece that is not empty. For HEAD nothing is sent.
  ///
  /// @throws            as begin()
  tandem::task<void> write(std::string_view piece);
  /// Sends what says that it was complete.
  tandem::task<void> end();

  bool has_begun() const noexcept { return has_begun_; }
  /// The client can tell where the next answer begins.
  bool keeps_alive() const noexcept { return keeps_alive_; }

 private:
  tandem::task<void> send();

  tandem::io::any_stream& client_;
  const std::chrono::milliseconds piece_time_;
  std::string text_;  // what is being sent; its memory is used again
  bool has_begun_ = false;
  bool is_head_ = false;
  bool is_chunked_ = false;
  bool keeps_alive_ = false;
};

}  // namespace service
