// router.hpp: which handler answers which request.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/task.hpp>

#include "answer_stream.hpp"
#include "http_message.hpp"
#include "service.hpp"
#include "thread_set.hpp"

namespace service {

/// A request and what its handler may need beside it.
class exchange {
 public:
  exchange(service_state& shared, http_request received, tandem::io::any_stream& client)
      : service(shared), request(std::move(received)), pieces(client, shared.options.idle_time) {}

  /// The connection goes on after this exchange.
  bool keep_alive() const noexcept { return request.keep_alive && !service.is_draining(); }

  service_state& service;
  const http_request request;
  answer_stream pieces;  ///< instead of what the handler returns, if that has begun it
  puzzles::thread_set completion_threads;  ///< that ran segments of this exchange
};

/// @resumes_on  the home of the connection, where it was called
using handler = tandem::task<http_response> (*)(exchange& call);

class route {
 public:
  handler answer = nullptr;
  bool is_long = false;   ///< the connection watches its client meanwhile
  const char* name = "";  ///< of its task meanwhile: of static storage
};

/// The handler of a request: an error's (404, 405) if there is no other.
route find_route(const http_request& request) noexcept;

/// Only for paths that find_page_file() knows.
tandem::task<http_response> show_page(exchange& call);
tandem::task<http_response> show_stats(exchange& call);
tandem::task<http_response> show_events(exchange& call);
tandem::task<http_response> show_metrics(exchange& call);
tandem::task<http_response> solve_puzzle(exchange& call);
tandem::task<http_response> show_solved(exchange& call);
tandem::task<http_response> show_tasks(exchange& call);
tandem::task<http_response> show_advice(exchange& call);
/// Only for paths below /solved/.
tandem::task<http_response> show_solved_one(exchange& call);

}  // namespace service
