// jobs.hpp: the puzzles that puzzle_client has solved, and what has to come out.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace client {

class job {
 public:
  job(std::string title, nlohmann::ordered_json body)
      : name(std::move(title)), request(std::move(body)) {}

  /// Fluent, for the table of jobs.
  job& in_moves(std::uint64_t count) { return moves = count, *this; }
  job& with_solutions(std::uint64_t count) { return solutions = count, *this; }
  job& with_nodes(std::uint64_t count) { return nodes = count, *this; }
  job& unsolvable(std::uint64_t positions) { return solved = false, nodes = positions, *this; }

  std::string name;
  nlohmann::ordered_json request;
  bool solved = true;
  std::optional<std::uint64_t> moves;      ///< expected; none: any
  std::optional<std::uint64_t> solutions;  ///< likewise
  std::optional<std::uint64_t> nodes;      ///< likewise
};

std::vector<job> main_jobs();

/// What is wrong with an answer; empty if nothing is. The path itself is replayed by replay.py.
std::string find_mistake(const job& asked, int status, const nlohmann::json& answer);

}  // namespace client
