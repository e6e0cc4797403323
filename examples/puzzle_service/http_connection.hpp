// http_connection.hpp: one client: reads requests, has them answered in order, writes the answers.
// SPDX-License-Identifier: MIT
//
// Whether its bytes come over TCP or TLS makes no difference here.
//
// All of a connection runs on its home, the completion thread that owns its socket: two segments of
// it are never at work at the same time, and nothing here is locked. Only a handler may leave for
// the workers, inside its own coroutine, and returns by itself.
//
//     reading    with_timeout(idle): the whole request has to arrive within it, so that a client who
//                sends a byte now and then holds a connection no longer than a silent one
//     answering  a long handler runs beside watch_client(), which reads on: an end of the stream
//                stops the handler; bytes are kept, they belong to the next request
//     writing    when no further request is in the buffer; with_timeout(idle). An answer in pieces
//                (answer_stream.hpp) is written by its handler, each piece within the idle time
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include <tandem/io/any_stream.hpp>
#include <tandem/task.hpp>
#include <tandem/task_scope.hpp>

#include "http_parser.hpp"
#include "input_buffer.hpp"
#include "router.hpp"
#include "service.hpp"

namespace service {

class http_connection {
 public:
  /// @param draining  ends the wait for a request
  http_connection(tandem::io::any_stream stream, std::stop_token draining, service_state& shared);

  /// Serves the client until one of the two has enough.
  ///
  /// @throws        what socket operations throw; operation_cancelled after a stop
  tandem::task<void> run();

  /// For the farewell after run(). Not open if the answer was the last one.
  tandem::io::any_stream& stream() noexcept { return stream_; }

 private:
  enum class reading : std::uint8_t {
    complete,
    failed,  ///< failure_ is the last answer
    ended,   ///< the client left, or nothing came for too long, or the service ends
  };

  /// Reads until there is a request.
  tandem::task<reading> next_request();
  tandem::task<reading> receive_request();
  /// What the buffer holds, without reading.
  http_parser::state parse_buffer();
  bool is_within_request() const noexcept { return parser_.is_started() || !input_.empty(); }
  reading fail(http_response last_answer);

  tandem::task<http_response> answer(exchange& call, const route& chosen);
  tandem::task<void> watch_client(tandem::task_scope& handling);

  tandem::task<void> flush();

  tandem::io::any_stream stream_;
  service_state& service_;
  const std::stop_token draining_;
  http_parser parser_;
  input_buffer input_;
  std::string output_;
  http_response failure_;
  bool client_left_ = false;
};

/// Sends `response` and closes without losing it: a socket closed with unread bytes resets the
/// connection, which may take the answer away from the client.
tandem::task<void> send_and_close(tandem::io::any_stream& stream, std::string response);

}  // namespace service
