// solved_handler.cpp: GET /solved: what was solved, and GET /solved/KEY: one of them, for replay.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <tandem/as_result.hpp>
#include <tandem/stop.hpp>
#include <utility>

#include "query.hpp"
#include "router.hpp"

namespace service {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view solved_folder = "/solved/";
constexpr std::string_view nothing_is_kept = "this service keeps no answers (--database none)";

/// @throws  bad_query
kept_search search_of(std::string_view text) {
  constexpr std::array<std::string_view, 3> known{"search", "offset", "count"};
  const query asked(text, known);
  kept_search wanted;
  wanted.offset = asked.number("offset", 0, 1'000'000'000, 0);
  wanted.count = asked.number("count", 1, 100, 20);
  std::string words = asked.text("search");
  if (words.size() > 200) throw bad_query("search may have 200 bytes");
  for (char& each : words) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  }
  for (std::string_view rest = words; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (end > 0) wanted.words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (wanted.words.size() > kept_search::most_words) {
    throw bad_query(fmt::format("search may have {} words", kept_search::most_words));
  }
  return wanted;
}

ordered_json entry_json(const kept_entry& entry) {
  return {{"key", entry.key},
          {"puzzle", entry.puzzle},
          {"title", entry.title},
          {"result", entry.result},
          {"moves", entry.moves ? ordered_json(*entry.moves) : ordered_json(nullptr)},
          {"nodes", entry.nodes},
          {"milliseconds", entry.milliseconds},
          {"solved_at", time_text(entry.solved_at)}};
}

/// What a database says need not be what was written: others may write there, too.
http_response json_response(const ordered_json& body) {
  constexpr auto replace = ordered_json::error_handler_t::replace;
  return http_response(200, "application/json", body.dump(-1, ' ', false, replace) + "\n");
}

/// 503 for a store that cannot be asked. Throws on what else failed.
template <class T>
http_response refusal_of(const tandem::result<T>& failed) {
  try {
    std::rethrow_exception(failed.exception());
  } catch (const store_unavailable& why) {
    return error_response(503, why.what());
  }
}

}  // namespace

tandem::task<http_response> show_solved(exchange& call) {
  std::optional<kept_search> wanted;
  std::string complaint;
  try {
    wanted = search_of(call.request.query);
  } catch (const bad_query& wrong) {
    complaint = wrong.what();
  }
  if (!wanted) co_return error_response(422, complaint);
  answer_keeper& keeper = call.service.keeper;
  if (!keeper.keeps()) co_return error_response(404, nothing_is_kept);
  const std::uint64_t offset = wanted->offset;
  tandem::task<kept_page> listing = keeper.list(std::move(*wanted));
  const auto page = co_await tandem::as_result(std::move(listing));
  tandem::throw_if_stopped();
  if (!page) co_return refusal_of(page);
  ordered_json entries = ordered_json::array();
  for (const kept_entry& each : page.value().entries) entries.push_back(entry_json(each));
  const ordered_json body = {
      {"total", page.value().total}, {"offset", offset}, {"entries", std::move(entries)}};
  co_return json_response(body);
}

tandem::task<http_response> show_solved_one(exchange& call) {
  answer_keeper& keeper = call.service.keeper;
  const std::string key = call.request.path.substr(solved_folder.size());
  if (!is_key(key)) co_return error_response(422, "a key has 32 hexadecimal digits");
  if (!call.request.query.empty()) co_return error_response(422, "there is nothing to query here");
  if (!keeper.keeps()) co_return error_response(404, nothing_is_kept);
  tandem::task<known_answer> fetching = keeper.fetch(key);
  const auto found = co_await tandem::as_result(std::move(fetching));
  tandem::throw_if_stopped();
  if (!found) co_return refusal_of(found);
  const known_answer& known = found.value();
  if (!known) co_return error_response(404, "no answer with this key is kept here");
  ordered_json body = entry_json(*known);
  body["request"] = ordered_json::parse(known->request, nullptr, false);
  body["answer"] = ordered_json::parse(known->answer, nullptr, false);
  for (const char* part : {"request", "answer"}) {
    if (!body[part].is_object()) co_return error_response(500, "what is kept there is damaged");
  }
  co_return json_response(body);
}

}  // namespace service
