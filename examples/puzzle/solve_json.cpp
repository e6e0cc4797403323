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

/// The keys that belong to a puzzle, beside those that belong to all.
std::vector<std::string_view> keys_of(puzzle_kind kind) {
  switch (kind) {
    case puzzle_kind::sliding: return {"rows", "cols", "start", "goal"};
    case puzzle_kind::klotski: return {"board", "metric"};
    case puzzle_kind::rush_hour: return {"board", "metric"};
    case puzzle_kind::queens: return {"n", "count"};
    case puzzle_kind::sudoku: return {"grid", "box", "count"};
    case puzzle_kind::uts: return {"tree", "seed"};
  }
  return {};
}

void check_keys(const json& object, puzzle_kind kind) {
  std::vector<std::string_view> known = keys_of(kind);
  known.insert(known.end(), {"puzzle", "solver", "threads", "node_limit", "time_limit_ms",
                             "memory_limit_bytes"});
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
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

std::uint64_t number_of(const json& value, const char* key, std::uint64_t most,
                        std::uint64_t least = 0) {
  const bool is_count =
      value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
  if (!is_count || value.get<std::uint64_t>() > most || value.get<std::uint64_t>() < least) {
    throw std::invalid_argument(fmt::format("'{}' is no integer in {}..{}", key, least, most));
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

bool flag_of(const json& value, const char* key) {
  if (!value.is_boolean()) {
    throw std::invalid_argument(fmt::format("'{}' is neither true nor false", key));
  }
  return value.get<bool>();
}

/// A text that is there and not empty, or nothing.
std::string optional_text(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  std::string text = text_of(*found, key);
  if (text.empty()) throw std::invalid_argument(fmt::format("{}: it is empty", key));
  return text;
}

void read_queens(const json& object, solve_request& request) {
  request.n = static_cast<unsigned>(
      number_of(required(object, "n"), "n", std::numeric_limits<std::uint32_t>::max()));
}

void read_sudoku(const json& object, solve_request& request) {
  request.grid = optional_text(object, "grid");
  request.box = optional_text(object, "box");
  if (request.grid.empty() && !request.count) (void)required(object, "grid");
}

void read_uts(const json& object, solve_request& request) {
  request.tree = text_of(required(object, "tree"), "tree");
  const auto seed = object.find("seed");
  if (seed == object.end()) return;
  request.seed = static_cast<std::uint32_t>(
      number_of(*seed, "seed", std::numeric_limits<std::uint32_t>::max()));
}

void read_limits(const json& object, solve_request& request) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  if (const auto limit = object.find("node_limit"); limit != object.end()) {
    request.node_limit = number_of(*limit, "node_limit", most, 1);
  }
  if (const auto limit = object.find("time_limit_ms"); limit != object.end()) {
    constexpr std::uint64_t day_ms = 24 * 3'600'000;
    request.time_limit = std::chrono::milliseconds(number_of(*limit, "time_limit_ms", day_ms, 1));
  }
  if (const auto limit = object.find("memory_limit_bytes"); limit != object.end()) {
    request.memory_limit_bytes = number_of(*limit, "memory_limit_bytes", most, 1);
  }
  if (const auto threads = object.find("threads"); threads != object.end()) {
    constexpr std::uint64_t most_threads = 1024;
    request.parallelism = static_cast<unsigned>(number_of(*threads, "threads", most_threads));
  }
}

}  // namespace

solve_request request_from_json(const json& object) {
  if (!object.is_object()) throw std::invalid_argument("the request is no JSON object");
  solve_request request(parse_puzzle_kind(text_of(required(object, "puzzle"), "puzzle")));
  check_keys(object, request.puzzle);
  if (const auto solver = object.find("solver"); solver != object.end()) {
    request.solver = parse_solver_kind(text_of(*solver, "solver"));
  }
  if (const auto counted = object.find("metric"); counted != object.end()) {
    request.counted = parse_metric(text_of(*counted, "metric"));
  }
  if (const auto count = object.find("count"); count != object.end()) {
    request.count = flag_of(*count, "count");
  }
  read_limits(object, request);
  switch (request.puzzle) {
    case puzzle_kind::sliding: read_sliding(object, request); break;
    case puzzle_kind::klotski: request.board = optional_text(object, "board"); break;
    case puzzle_kind::rush_hour: request.board = text_of(required(object, "board"), "board"); break;
    case puzzle_kind::queens: read_queens(object, request); break;
    case puzzle_kind::sudoku: read_sudoku(object, request); break;
    case puzzle_kind::uts: read_uts(object, request); break;
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
  if (answer.puzzle == puzzle_kind::uts) {
    object["depth"] = answer.depth;
    object["leaves"] = answer.leaves;
  }
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
