// process_start_test.cpp: a process that cannot be started says why, and leaves nothing behind.
// SPDX-License-Identifier: MIT
#include <tandem/io/process.hpp>

#include <gtest/gtest.h>

#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/spawn.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "io/process/start_refusal.hpp"

namespace {

using tandem::task;
using tandem::io::process;
using tandem::io::process_group;
using tandem::io::process_options;
using tandem::io::process_stdio;
using tandem::io::process_step;
using tandem::test::command;
using tandem::test::expect_refusal;
using tandem::test::on_every_home;
using tandem::test::refusal_of_start;
using tandem::test::shell;
using tandem::test::start_refusal;

TEST(process_start, options_that_make_no_sense_are_refused_before_anything_is_done) {
  on_every_home([]() -> task<void> {
    std::vector<std::pair<command, process_options>> senseless(10);
    senseless[1].first = {""};
    for (std::size_t i = 2; i < senseless.size(); ++i) senseless[i].first = shell(":");
    senseless[2].first.emplace_back("a\0b", 3);
    senseless[3].second.descriptors.emplace_back(0, 2);
    senseless[4].second.descriptors.emplace_back(0, 7);
    senseless[4].second.descriptors.emplace_back(1, 7);
    senseless[5].second.environment["A=B"] = "c";
    senseless[6].second.environment["A"] = std::string("c\0d", 3);
    senseless[7].second.directory = std::string("/\0", 2);
    senseless[8].second.group = process_group::joined(process().id());
    senseless[9].second.group = process_group::joined(-1);
    for (auto& [argv, options] : senseless) {
      const start_refusal got = co_await refusal_of_start(argv, options);
      EXPECT_EQ(got.code, std::errc::invalid_argument) << got.text;
      EXPECT_EQ(got.step, process_step::options) << got.text;
    }
    process_options wrong;
    wrong.standard_output = process_stdio::same_as_output();
    expect_refusal(co_await refusal_of_start(shell(":"), wrong), std::errc::invalid_argument,
                   process_step::standard_output, "for standard error only");
  });
}

TEST(process_start, a_stop_before_it_begins_starts_nothing) {
  on_every_home([]() -> task<void> {
    auto starting = tandem::spawn([]() -> task<process> {
      while (!tandem::stop_requested()) co_await tandem::yield();
      co_return co_await process::start(shell(":"));
    }());
    starting.cancel();
    EXPECT_TRUE((co_await tandem::as_result(starting)).is_cancelled());
    EXPECT_FALSE(tandem::test::has_children());
  });
}

}  // namespace
