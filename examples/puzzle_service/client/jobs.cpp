// jobs.cpp: the puzzles that puzzle_client has solved, and what has to come out.
// SPDX-License-Identifier: MIT
#include "jobs.hpp"

#include <fmt/format.h>

#include <utility>

namespace client {

namespace {

using json = nlohmann::ordered_json;

json sliding(unsigned rows, unsigned cols, const char* start, const char* solver) {
  return {
      {"puzzle", "sliding"}, {"rows", rows}, {"cols", cols}, {"start", start}, {"solver", solver}};
}

template <class T>
std::string differs(const char* what, const nlohmann::json& found,
                    const std::optional<T>& expected) {
  if (!expected || found == *expected) return {};
  return fmt::format("{} is {}, expected {}", what, found.dump(), *expected);
}

}  // namespace

std::vector<job> main_jobs() {
  const char* const farthest = "8 6 7 2 5 4 3 0 1";
  std::vector<job> jobs;
  jobs.push_back(job("8-puzzle, farthest", sliding(3, 3, farthest, "breadth_first")).in_moves(31));
  jobs.push_back(job("8-puzzle, farthest", sliding(3, 3, farthest, "racing")));
  jobs.push_back(job("8-puzzle, farthest", sliding(3, 3, farthest, "sequential")));
  jobs.push_back(job("8-puzzle, unsolvable", sliding(3, 3, "1 2 3 4 5 6 8 7 0", "breadth_first"))
                     .unsolvable(181'440));
  jobs.push_back(job("klotski, heng dao li ma", {{"puzzle", "klotski"},
                                                 {"board", "ABBC/ABBC/DEEF/DGHF/I..J"},
                                                 {"solver", "breadth_first"}})
                     .in_moves(116));
  jobs.push_back(job("15-puzzle, scrambled",
                     sliding(4, 4, "2 6 3 7 1 0 8 4 14 9 10 12 5 13 11 15", "breadth_first"))
                     .in_moves(20));
  json korf = sliding(4, 4, "13 8 14 3 9 1 0 7 15 5 4 10 12 2 6 11", "iterative_deepening");
  korf["goal"] = "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15";
  jobs.push_back(job("15-puzzle, korf 55", std::move(korf)).in_moves(41));
  jobs.push_back(job("rush hour", {{"puzzle", "rush-hour"},
                                   {"board", "BBoKMxDDDKMoIAALooIoJLEEooJFFNoGGoxN"},
                                   {"solver", "breadth_first"}})
                     .in_moves(58));
  jobs.push_back(job("sudoku", {{"puzzle", "sudoku"},
                                {"grid",
                                 "8..........36......7..9.2...5...7.......457.....1...3..."
                                 "1....68..85...1..9....4.."}}));
  jobs.push_back(job("sudoku 2x3, count", {{"puzzle", "sudoku"}, {"box", "2x3"}, {"count", true}})
                     .with_solutions(28'200'960));
  jobs.push_back(job("uts t1", {{"puzzle", "uts"}, {"tree", "T1"}}).with_nodes(4'130'071));
  jobs.push_back(
      job("queens 8", {{"puzzle", "queens"}, {"n", 8}, {"solver", "racing"}}).in_moves(8));
  jobs.push_back(
      job("queens 8, count", {{"puzzle", "queens"}, {"n", 8}, {"count", true}}).with_solutions(92));
  jobs.push_back(job("queens 12, count", {{"puzzle", "queens"}, {"n", 12}, {"count", true}})
                     .with_solutions(14'200));
  return jobs;
}

std::string find_mistake(const job& asked, int status, const nlohmann::json& answer) {
  if (status != 200) return fmt::format("status {}: {}", status, answer.dump());
  if (answer["solved"] != asked.solved) {
    return fmt::format("solved is {}, expected {}", answer["solved"].dump(), asked.solved);
  }
  std::string mistake = differs("moves", answer["moves"], asked.moves);
  if (mistake.empty()) mistake = differs("solutions", answer["solutions"], asked.solutions);
  if (mistake.empty()) mistake = differs("nodes", answer["nodes"], asked.nodes);
  return mistake;
}

}  // namespace client
