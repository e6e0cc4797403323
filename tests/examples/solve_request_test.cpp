// solve_request_test.cpp: requests and answers as JSON, as the service takes and gives them.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tandem/run.hpp>
#include <vector>

#include "solve.hpp"

namespace {

using namespace puzzles;

solve_answer answer_to(std::string_view text) {
  return tandem::run(solve(request_from_text(text)));
}

std::string complaint_of(std::string_view text) {
  try {
    (void)request_from_text(text);
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return "";
}

std::vector<std::string> keys_of(const nlohmann::ordered_json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST(solve_request, every_puzzle_is_read_from_json_and_solved) {
  const auto solved = [](const char* text, std::uint64_t moves) {
    const solve_answer answer = answer_to(text);
    EXPECT_TRUE(answer.solved) << text;
    EXPECT_EQ(answer.moves, moves) << text;
  };
  solved(R"({"puzzle":"sliding","rows":1,"cols":3,"start":[1,0,2]})", 1);
  solved(R"({"puzzle":"klotski","board":"..../.A../.BB./.BB./....","metric":"moves"})", 1);
  solved(R"({"puzzle":"rush-hour","board":"BBBoLoCCooLMIAAJoMIooJoMEEoKoooooKoo"})", 3);
  solved(R"({"puzzle":"rush-hour","board":"BBBoLoCCooLMIAAJoMIooJoMEEoKoooooKoo","metric":"steps",
             "solver":"best_first"})",
         7);
  solved(R"({"puzzle":"queens","n":4})", 4);
  solved(R"({"puzzle":"sudoku","box":"2x2","grid":"12343412214343.."})", 2);
}

TEST(solve_request, counts_and_trees_are_read_from_json) {
  EXPECT_EQ(answer_to(R"({"puzzle":"sudoku","box":"2x2","count":true})").solutions, 288U);
  EXPECT_EQ(answer_to(R"({"puzzle":"queens","n":6,"count":true,"solver":"sequential"})").solutions,
            4U);
  const solve_answer tree =
      answer_to(R"({"puzzle":"uts","tree":"T1","seed":19,"node_limit":1000,"threads":1})");
  EXPECT_TRUE(tree.hit_limit());
  EXPECT_FALSE(tree.solved);
  EXPECT_NE(tree.end.find("node limit"), std::string::npos) << tree.end;
}

TEST(solve_request, answers_have_their_keys_in_order) {
  const std::vector<std::string> keys{"puzzle", "solver",    "solved",       "moves",  "path",
                                      "nodes",  "solutions", "milliseconds", "threads"};
  EXPECT_EQ(keys_of(to_json(answer_to(R"({"puzzle":"queens","n":4})"))), keys);
  std::vector<std::string> more = keys;
  more.insert(more.end(), {"depth", "leaves"});
  EXPECT_EQ(keys_of(to_json(answer_to(R"({"puzzle":"uts","tree":"T1","node_limit":10})"))), more);
}

TEST(solve_request, limits_of_0_are_refused) {
  for (const char* limit : {"node_limit", "time_limit_ms", "memory_limit_bytes"}) {
    const std::string text = std::string(R"({"puzzle":"queens","n":4,")").append(limit);
    EXPECT_NE(complaint_of(std::string(text).append("\":0}")).find(limit), std::string::npos);
    EXPECT_NE(complaint_of(std::string(text).append("\":-1}")).find(limit), std::string::npos);
    EXPECT_EQ(complaint_of(std::string(text).append("\":100}")), "");
  }
  EXPECT_EQ(complaint_of(R"({"puzzle":"queens","n":4,"threads":0})"), "");
}

TEST(solve_request, what_is_missing_misplaced_or_of_a_wrong_type_is_named) {
  const auto names = [](const char* text, const char* what) {
    EXPECT_NE(complaint_of(text).find(what), std::string::npos) << text << complaint_of(text);
  };
  names(R"({"puzzle":"rush-hour"})", "'board' is missing");
  names(R"({"puzzle":"rush-hour","board":7})", "'board' is no string");
  names(R"({"puzzle":"rush-hour","board":"AA"})", "36 are needed");
  names(R"({"puzzle":"sudoku"})", "'grid' is missing");
  names(R"({"puzzle":"sudoku","grid":""})", "grid: it is empty");
  names(R"({"puzzle":"sudoku","count":1})", "'count' is neither true nor false");
  names(R"({"puzzle":"sudoku","count":true,"box":"9"})", "no size such as 3x3");
  names(R"({"puzzle":"uts"})", "'tree' is missing");
  names(R"({"puzzle":"uts","tree":"T7"})", "unknown tree 'T7'");
  names(R"({"puzzle":"uts","tree":"T1","seed":-1})", "'seed' is no integer");
  names(R"({"puzzle":"queens","n":4,"metric":"steps"})", "'metric' is no key of a queens request");
  names(R"({"puzzle":"klotski","metric":"miles"})", "unknown metric 'miles' (steps, moves)");
  names(R"({"puzzle":"klotski","solver":"magic"})", "unknown solver 'magic'");
  names(R"({"puzzle":"queens","n":4,"solver":"bidirectional"})", "cannot name its goals");
  names(R"({"puzzle":"uts","tree":"T1","solver":"bidirectional"})", "cannot name its goals");
  names(R"({"puzzle":"queens","n":4,"threads":-1})", "'threads' is no integer");
  names("[", "bad JSON");
}

}  // namespace
