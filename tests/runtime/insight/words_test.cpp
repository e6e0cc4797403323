// words_test.cpp: names of coroutines and places, as people read them.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <tandem/detail/place_text.hpp>

#include "insight/code_names.hpp"
#include "insight/dump_text.hpp"

namespace {

using tandem::detail::coroutine_of_symbol;
using tandem::detail::function_text;
using tandem::detail::place_text;
using tandem::detail::span_text;

#if __has_include(<cxxabi.h>)
TEST(words, a_coroutine_has_the_name_of_its_function_by_both_compilers) {
  EXPECT_EQ(coroutine_of_symbol("_Z5innerP4bank.resume"), "inner(bank*)");
  EXPECT_EQ(coroutine_of_symbol("_Z5inneriPZ5inneriE15_Z5inneri.Frame.actor"), "inner(int)");
  EXPECT_EQ(coroutine_of_symbol("_Z5inneriPZ5inneriE15_Z5inneri.Frame.destroy"), "inner(int)");
  EXPECT_EQ(
      coroutine_of_symbol("_ZN12_GLOBAL__N_15innerEPZNS_5innerERN6tandem2v05eventEE49_ZN12_GLOBAL__"
                          "N_15innerERN6tandem2v05eventE.Frame.actor"),
      "inner(tandem::event&)");
  EXPECT_EQ(coroutine_of_symbol("_ZZ4mainENUlvE_clEPZZ4mainENKS_clEvE26_ZZ4mainENKUlvE_clEv.Frame."
                                "actor"),
            "main::{lambda()#1}::operator()() const");
  EXPECT_EQ(coroutine_of_symbol("main"), "main");
  EXPECT_EQ(coroutine_of_symbol(""), "");
}
#endif

TEST(words, a_function_of_a_source_location_loses_what_only_compilers_need) {
  EXPECT_EQ(function_text("int main()"), "int main()");
  EXPECT_EQ(
      function_text("void {anonymous}::serve()::<lambda(tandem::v0::task_scope&)>::operator()("
                    "{anonymous}::serve()::<lambda(tandem::v0::task_scope&)>::_ZZN1.Frame*)"),
      "void serve()::<lambda(tandem::task_scope&)>");
  EXPECT_EQ(function_text(""), "");
}

TEST(words, a_place_without_a_line_is_said_not_to_be_known) {
  EXPECT_EQ(place_text("a.cpp", 7, "int main()"), "a.cpp:7 in int main()");
  EXPECT_EQ(place_text("a.cpp", 7, ""), "a.cpp:7");
  EXPECT_EQ(place_text("", 0, ""), "a place that is not known");
}

TEST(words, a_span_has_as_many_digits_as_people_read) {
  EXPECT_EQ(span_text(0), "0 us");
  EXPECT_EQ(span_text(1'234'000), "1 ms");
  EXPECT_EQ(span_text(1'500'000'000), "1.5 s");
  EXPECT_EQ(span_text(600'000'000'000), "10 min");
  EXPECT_EQ(span_text(10'800'000'000'000), "3.0 h");
}

}  // namespace
