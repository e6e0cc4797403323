// solve_json.cpp: requests from JSON, answers to JSON.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "solve.hpp"

namespace puzzles {

namespace {

using nlohmann::json;

// Which keys belong to which puzzle, beside those that belong to all.
constexpr std::string_view common_keys[] = {"puzzle", "solver", "node_limit", "time_limit_ms"};
constexpr std::string_view sliding_keys[] = {"rows", "cols", "start", "goal"};
constexpr std::string_view klotski_keys[] = {"board"};
constexpr std::string_view queens_keys[] = {"n", "count"};

template <std::size_t N>
bool contains(const std::string_view (&keys)[N], std::string_view key) {
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

void check_keys(const json& object, puzzle_kind kind) {
  for (const auto& [key, value] : object.items()) {
    const bool is_known = contains(common_keys, key) ||
                          (kind == puzzle_kind::sliding && contains(sliding_keys, key)) ||
                          (kind == puzzle_kind::klotski && contains(klotski_keys, key)) ||
                          (kind == puzzle_kind::queens && contains(queens_keys, key));
    if (!is_known) {
      throw std::invalid_argument(
          fmt::format("{} is no key of a {} request", in_quotes(key), to_string(kind)));
    }
  }
}

const json& required(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) throw std::invalid_argument(fmt::format("'{}' is missing", key));
  return *found;
}

std::string text_of(const json& value, const char* key) {
  if (!value.is_string()) throw std::invalid_argument(fmt::format("'{}' is no string", key));
  return value.get<std::string>();
}

std::uint64_t number_of(const json& value, const char* key, std::uint64_t most) {
  const bool is_count =
      value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
  if (!is_count || value.get<std::uint64_t>() > most) {
    throw std::invalid_argument(fmt::format("'{}' is no integer in 0..{}", key, most));
  }
  return value.get<std::uint64_t>();
}

std::vector<int> tiles_of(const json& value, const char* key) {
  if (value.is_string()) return parse_tiles(key, value.get_ref<const std::string&>());
  if (!value.is_array()) {
    throw std::invalid_argument(fmt::format("'{}' is no array of tile numbers", key));
  }
  std::vector<int> tiles;
  tiles.reserve(value.size());
  for (const json& tile : value) {
    // Whether the tile exists on the board is asked later; here it only has to fit into an int.
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    if (!tile.is_number_integer() || tile.get<std::int64_t>() > most ||
        tile.get<std::int64_t>() < -most) {
      throw std::invalid_argument(
          fmt::format("{}: {} is no tile number", key, in_quotes(tile.dump())));
    }
    tiles.push_back(tile.get<int>());
  }
  return tiles;
}

void read_sliding(const json& object, solve_request& request) {
  constexpr unsigned most = 256;
  request.rows = static_cast<unsigned>(number_of(required(object, "rows"), "rows", most));
  request.cols = static_cast<unsigned>(number_of(required(object, "cols"), "cols", most));
  request.start = tiles_of(required(object, "start"), "start");
  if (const auto goal = object.find("goal"); goal != object.end()) {
    request.goal = tiles_of(*goal, "goal");
    if (request.goal.empty()) throw std::invalid_argument("goal: no tiles given");
  }
}

void read_klotski(const json& object, solve_request& request) {
  const auto board = object.find("board");
  if (board == object.end()) return;
  request.board = text_of(*board, "board");
  if (request.board.empty()) throw std::invalid_argument("board: it is empty");
}

void read_queens(const json& object, solve_request& request) {
  request.n = static_cast<unsigned>(
      number_of(required(object, "n"), "n", std::numeric_limits<std::uint32_t>::max()));
  const auto count = object.find("count");
  if (count == object.end()) return;
  if (!count->is_boolean()) throw std::invalid_argument("'count' is neither true nor false");
  request.count = count->get<bool>();
}

}  // namespace

solve_request request_from_json(const json& object) {
  if (!object.is_object()) throw std::invalid_argument("the request is no JSON object");
  solve_request request(parse_puzzle_kind(text_of(required(object, "puzzle"), "puzzle")));
  check_keys(object, request.puzzle);
  if (const auto solver = object.find("solver"); solver != object.end()) {
    request.solver = parse_solver_kind(text_of(*solver, "solver"));
  }
  if (const auto limit = object.find("node_limit"); limit != object.end()) {
    request.node_limit = number_of(*limit, "node_limit", std::numeric_limits<std::int64_t>::max());
  }
  if (const auto limit = object.find("time_limit_ms"); limit != object.end()) {
    constexpr std::uint64_t day_ms = 24 * 3'600'000;
    request.time_limit = std::chrono::milliseconds(number_of(*limit, "time_limit_ms", day_ms));
  }
  switch (request.puzzle) {
    case puzzle_kind::sliding: read_sliding(object, request); break;
    case puzzle_kind::klotski: read_klotski(object, request); break;
    case puzzle_kind::queens: read_queens(object, request); break;
  }
  validate(request);
  return request;
}

solve_request request_from_text(std::string_view text) {
  json object = json::parse(text, nullptr, false);
  if (object.is_discarded()) throw std::invalid_argument("bad JSON");
  return request_from_json(object);
}

nlohmann::ordered_json to_json(const solve_answer& answer) {
  nlohmann::ordered_json object;
  object["puzzle"] = to_string(answer.puzzle);
  object["solver"] = to_string(answer.solver);
  object["solved"] = answer.solved;
  object["moves"] = answer.moves ? nlohmann::ordered_json(*answer.moves) : nullptr;
  object["path"] =
      std::visit([](const auto& path) { return nlohmann::ordered_json(path); }, answer.path);
  object["nodes"] = answer.nodes;
  object["solutions"] = answer.solutions;
  object["milliseconds"] = answer.milliseconds;
  object["threads"] = answer.threads;
  return object;
}

std::vector<int> parse_tiles(std::string_view name, std::string_view text) {
  constexpr std::string_view separators = " ,\t\r\n";
  std::vector<int> tiles;
  while (true) {
    const std::size_t begin = text.find_first_not_of(separators);
    if (begin == std::string_view::npos) return tiles;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(separators));
    int tile = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), tile);
    if (error != std::errc() || end != word.data() + word.size()) {
      throw std::invalid_argument(fmt::format("{}: {} is no tile number", name, in_quotes(word)));
    }
    tiles.push_back(tile);
    text.remove_prefix(word.size());
  }
}

}  // namespace puzzles
