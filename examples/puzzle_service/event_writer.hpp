// event_writer.hpp: server-sent events over an answer in pieces.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include <tandem/task.hpp>

#include "answer_stream.hpp"

namespace service {

/// Writes `text/event-stream` (WHATWG HTML 9.2): each event has a name and one line of JSON.
class event_writer {
 public:
  explicit event_writer(answer_stream& pieces) noexcept : pieces_(pieces) {}

  /// Begins the answer, and tells the client after how many milliseconds to come again should the
  /// connection break.
  tandem::task<void> begin(const http_request& request, bool keep_alive);
  /// @param event     without newlines
  tandem::task<void> send(std::string_view event, const nlohmann::ordered_json& data);

 private:
  answer_stream& pieces_;
};

}  // namespace service
