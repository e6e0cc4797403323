// process_start_test.cpp: a process that cannot be started says why, and leaves nothing behind.
// SPDX-License-Identifier: MIT
#include <tandem/io/process.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/write_file.hpp>
#include <tandem/spawn.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "io/process/process_support.hpp"
#include "io/support/file_support.hpp"
#include "loopback_ports.hpp"
#include "no_descriptors.hpp"

namespace {

using tandem::task;
using tandem::io::command_line;
using tandem::io::process;
using tandem::io::process_group;
using tandem::io::process_options;
using tandem::io::process_start_error;
using tandem::io::process_stdio;
using tandem::io::process_step;
using tandem::test::command;
using tandem::test::on_every_home;
using tandem::test::shell;

class refusal {
 public:
  std::error_code code;
  std::optional<process_step> step;
  std::string text;
};

task<refusal> refusal_of(command argv, process_options options = {}) {
  refusal got;
  try {
    process child = co_await process::start(std::move(argv), std::move(options));
    ADD_FAILURE() << "it was started";
  } catch (const process_start_error& failure) {
    got.code = failure.code();
    got.step = failure.step();
    got.text = failure.what();
  }
  EXPECT_FALSE(tandem::test::has_children());
  co_return got;
}

void expect_refusal(const refusal& got, std::errc code, process_step step, const char* words) {
  EXPECT_EQ(got.code, code) << got.text;
  EXPECT_EQ(got.step, step) << got.text;
  EXPECT_NE(got.text.find(words), std::string::npos) << got.text;
}

TEST(process_start, says_what_is_wrong_with_a_program_and_what_to_do) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const std::string script = folder / "script";
    co_await tandem::io::write_file(script, "echo no first line\n");
    const command plain{script};
    expect_refusal(co_await refusal_of(plain), std::errc::permission_denied, process_step::exec,
                   "may not be executed");
    EXPECT_EQ(::chmod(script.c_str(), 0755), 0);
    expect_refusal(co_await refusal_of(plain), std::errc::executable_format_error,
                   process_step::exec, "#!/bin/sh");
    expect_refusal(co_await refusal_of(command_line("/no/such/program")),
                   std::errc::no_such_file_or_directory, process_step::exec, "'/no/such/program'");
    expect_refusal(co_await refusal_of(command_line("tandem-no-such-program")),
                   std::errc::no_such_file_or_directory, process_step::exec,
                   "in no folder of PATH");
  });
}

TEST(process_start, what_is_in_no_folder_is_said_to_be_missing_whatever_other_folders_answer) {
  on_every_home([]() -> task<void> {
    process_options options;
    options.environment["PATH"] = "/no/such/folder:/" + std::string(300, 'x');
    expect_refusal(co_await refusal_of(command_line("tandem-no-such-program"), options),
                   std::errc::no_such_file_or_directory, process_step::exec,
                   "in no folder of PATH");
    options.environment["PATH"] = "/" + std::string(300, 'x');
    expect_refusal(co_await refusal_of(command_line("tandem-no-such-program"), options),
                   std::errc::filename_too_long, process_step::exec, "tandem-no-such-program");
  });
}

TEST(process_start, says_which_step_of_the_options_failed) {
  on_every_home([]() -> task<void> {
    process_options elsewhere;
    elsewhere.directory = "/no/such/folder";
    expect_refusal(co_await refusal_of(shell(":"), elsewhere), std::errc::no_such_file_or_directory,
                   process_step::directory, "'/no/such/folder' (chdir)");
    process_options input;
    input.standard_input = process_stdio::read_from("/no/such/file");
    expect_refusal(co_await refusal_of(shell(":"), input), std::errc::no_such_file_or_directory,
                   process_step::standard_input, "standard input: open of '/no/such/file'");
    process_options output;
    output.standard_output = process_stdio::write_to("/");
    expect_refusal(co_await refusal_of(shell(":"), output), std::errc::is_a_directory,
                   process_step::standard_output, "standard output: open of '/'");
    process_options error;
    error.standard_error = process_stdio::descriptor(-1);
    expect_refusal(co_await refusal_of(shell(":"), error), std::errc::bad_file_descriptor,
                   process_step::standard_error, "standard error: descriptor -1");
    process_options group;
    group.group = process_group::joined(1);
    expect_refusal(co_await refusal_of(shell(":"), group), std::errc::operation_not_permitted,
                   process_step::group, "setpgid");
    process_options descriptor;
    descriptor.descriptors.emplace_back(999'999, 5);
    expect_refusal(co_await refusal_of(shell(":"), descriptor), std::errc::bad_file_descriptor,
                   process_step::descriptors, "dup2");
  });
}

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
      const refusal got = co_await refusal_of(argv, options);
      EXPECT_EQ(got.code, std::errc::invalid_argument) << got.text;
      EXPECT_EQ(got.step, process_step::options) << got.text;
    }
    process_options wrong;
    wrong.standard_output = process_stdio::same_as_output();
    expect_refusal(co_await refusal_of(shell(":"), wrong), std::errc::invalid_argument,
                   process_step::standard_output, "for standard error only");
  });
}

TEST(process_start, without_a_descriptor_left_none_is_lost) {
  on_every_home([]() -> task<void> {
    const std::size_t before = tandem::test::open_descriptors();
    process_options options;
    options.standard_output = process_stdio::pipe();
    std::optional<refusal> got;
    {
      const tandem::test::no_descriptors none;
      got.emplace(co_await refusal_of(shell(":"), options));
    }
    expect_refusal(*got, std::errc::too_many_files_open, process_step::standard_output, "its pipe");
    EXPECT_EQ(tandem::test::open_descriptors(), before);
    for (int spare = 0; spare < 3; ++spare) {
      {
        const tandem::test::no_descriptors few(spare);
        got.emplace(co_await refusal_of(shell(":"), options));
      }
      EXPECT_EQ(got->code, std::errc::too_many_files_open) << got->text;
      EXPECT_EQ(tandem::test::open_descriptors(), before);
    }
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
