// event_writer.cpp: server-sent events as text.
// SPDX-License-Identifier: MIT
#include "event_writer.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

namespace service {

tandem::task<void> event_writer::begin(const http_request& request, bool keep_alive) {
  co_await pieces_.begin(request, "text/event-stream", keep_alive);
  co_await pieces_.write("retry: 1000\n\n");
}

tandem::task<void> event_writer::send(std::string_view event, const nlohmann::ordered_json& data) {
  // A message may quote what the client sent, which need not be UTF-8. JSON has no bare newline.
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  const std::string text =
      fmt::format("event: {}\ndata: {}\n\n", event, data.dump(-1, ' ', false, replace));
  co_await pieces_.write(text);
}

}  // namespace service
