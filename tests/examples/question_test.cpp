// question_test.cpp: the same question has the same key, however it was written.
// SPDX-License-Identifier: MIT
#include "question.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "solve.hpp"

namespace {

using service::question;

question asked(std::string_view json) { return question(puzzles::request_from_text(json)); }

void expect_the_same(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    EXPECT_EQ(asked(text).text, asked(texts[0]).text) << text;
    EXPECT_EQ(asked(text).key, asked(texts[0]).key) << text;
  }
}

TEST(question, the_same_question_in_other_words_has_the_same_key) {
  expect_the_same(
      {R"({"puzzle":"sliding","rows":3,"cols":3,"start":[8,6,7,2,5,4,3,0,1]})",
       R"({"start":"8 6 7, 2 5 4, 3 0 1","cols":3,"rows":3,"puzzle":"sliding"})",
       R"({"puzzle":"sliding","rows":3,"cols":3,"start":"8 6 7 2 5 4 3 0 1",)"
       R"("goal":[1,2,3,4,5,6,7,8,0],"solver":"breadth_first"})",
       R"({"puzzle":"sliding","rows":3,"cols":3,"start":[8,6,7,2,5,4,3,0,1],"threads":1,)"
       R"("node_limit":7,"time_limit_ms":8,"memory_limit_bytes":9})"});
  expect_the_same(
      {R"({"puzzle":"klotski"})", R"({"puzzle":"klotski","board":"ABBC/ABBC/DEEF/DGHF/I..J"})",
       R"({"puzzle":"klotski","board":"ABBC\nABBC\nDEEF\nDGHF\nI..J\n","metric":"steps"})",
       R"({"solver":"breadth_first","puzzle":"klotski"})"});
  expect_the_same({R"({"puzzle":"rush-hour","board":"BBBoLoCCooLMIAAJoMIooJoMEEoKoooooKoo"})",
                   R"({"puzzle":"rush-hour","board":"BBB.L./CC..LM/IAAJ.M/I..J.M/EE.K../...K..",)"
                   R"("metric":"moves"})"});
  expect_the_same({R"({"puzzle":"queens","n":8})", R"({"puzzle":"queens","count":false,"n":8})",
                   R"({"puzzle":"queens","n":8,"solver":"racing"})"});
  expect_the_same({R"({"puzzle":"sudoku","box":"2x2","grid":"12343412214343.."})",
                   R"({"puzzle":"sudoku","box":"2x2","grid":"1234341221434300"})"});
  expect_the_same({R"({"puzzle":"sudoku","box":"2x2","count":true})",
                   R"({"puzzle":"sudoku","box":"2x2","count":true,"grid":"................"})"});
  expect_the_same({R"({"puzzle":"uts","tree":"T1"})", R"({"puzzle":"uts","tree":"T1","seed":19})"});
}

const std::vector<std::string>& different_questions() {
  static const std::vector<std::string> all{
      R"({"puzzle":"sliding","rows":3,"cols":3,"start":[8,6,7,2,5,4,3,0,1]})",
      R"({"puzzle":"sliding","rows":3,"cols":3,"start":[8,6,7,2,5,4,3,1,0]})",
      R"({"puzzle":"sliding","rows":3,"cols":3,"start":[8,6,7,2,5,4,3,0,1],"solver":"racing"})",
      R"({"puzzle":"sliding","rows":3,"cols":3,"start":[8,6,7,2,5,4,3,0,1],)"
      R"("goal":[0,1,2,3,4,5,6,7,8]})",
      R"({"puzzle":"sliding","rows":1,"cols":6,"start":[1,2,3,4,0,5]})",
      R"({"puzzle":"sliding","rows":2,"cols":3,"start":[1,2,3,4,0,5]})",
      R"({"puzzle":"klotski"})",
      R"({"puzzle":"klotski","metric":"moves"})",
      R"({"puzzle":"klotski","board":"BAAC/BAAC/DEEF/DGHF/I..J"})",
      R"({"puzzle":"rush-hour","board":"BBBoLoCCooLMIAAJoMIooJoMEEoKoooooKoo"})",
      R"({"puzzle":"queens","n":8})",
      R"({"puzzle":"queens","n":8,"count":true})",
      R"({"puzzle":"queens","n":9})",
      R"({"puzzle":"sudoku","box":"2x3","count":true})",
      R"({"puzzle":"sudoku","box":"3x2","count":true})",
      R"({"puzzle":"uts","tree":"T1"})",
      R"({"puzzle":"uts","tree":"T1","seed":18})",
      R"({"puzzle":"uts","tree":"T2"})"};
  return all;
}

TEST(question, different_questions_have_different_keys) {
  std::map<std::string, std::string> texts;
  for (const std::string& each : different_questions()) {
    const question made = asked(each);
    EXPECT_TRUE(service::is_key(made.key)) << made.key;
    EXPECT_TRUE(texts.emplace(made.key, each).second) << each << " and " << texts[made.key];
  }
}

TEST(question, the_canonical_form_is_a_request_and_its_own_canonical_form) {
  for (const std::string& each : different_questions()) {
    const question made = asked(each);
    EXPECT_EQ(asked(made.text).text, made.text) << each;
  }
}

TEST(question, an_answer_of_another_question_with_the_same_key_is_none) {
  const question made = asked(R"({"puzzle":"queens","n":8})");
  service::kept_answer answer;
  answer.key = made.key;
  answer.request = made.text;
  EXPECT_TRUE(made.is_answered_by(answer));
  answer.request = asked(R"({"puzzle":"queens","n":9})").text;
  EXPECT_FALSE(made.is_answered_by(answer));
}

TEST(question, both_sides_are_told_in_a_few_words) {
  const auto words = [](std::string_view json, std::uint64_t moves, bool solved = true) {
    const auto request = puzzles::request_from_text(json);
    puzzles::solve_answer answer;
    answer.puzzle = request.puzzle;
    answer.solved = solved;
    if (solved) answer.moves = moves;
    answer.solutions = answer.nodes = moves;
    const auto made = service::made_to_keep(question(request), request, answer, "{}");
    return made.title + ": " + made.result;
  };
  EXPECT_EQ(words(R"({"puzzle":"klotski"})", 116),
            "Klotski ABBC/ABBC/DEEF/DGHF/I..J, breadth first: 116 steps");
  EXPECT_EQ(words(R"({"puzzle":"rush-hour","board":"BBBoLoCCooLMIAAJoMIooJoMEEoKoooooKoo"})", 1),
            "Rush Hour BBB.L./CC..LM/IAAJ.M/I..J.M/EE.K../...K.., breadth first: 1 move");
  EXPECT_EQ(words(R"({"puzzle":"sliding","rows":1,"cols":3,"start":[1,0,2]})", 0, false),
            "1 x 3 tiles 1 0 2, breadth first: no solution");
  EXPECT_EQ(words(R"({"puzzle":"sliding","rows":1,"cols":3,"start":[1,0,2],"goal":[0,1,2]})", 1),
            "1 x 3 tiles 1 0 2, another goal, breadth first: 1 move");
  EXPECT_EQ(words(R"({"puzzle":"queens","n":8,"count":true})", 92),
            "8 queens, all ways, racing: 92 solutions");
  EXPECT_EQ(words(R"({"puzzle":"queens","n":8})", 8), "8 queens, one way, racing: 8 queens");
  EXPECT_EQ(words(R"({"puzzle":"sudoku","box":"2x2","count":true})", 288),
            "Sudoku of 2x2 boxes empty, all ways, racing: 288 solutions");
  EXPECT_EQ(words(R"({"puzzle":"uts","tree":"T1","seed":18})", 5),
            "Unbalanced tree T1, seed 18, racing: 5 nodes");
}

}  // namespace
