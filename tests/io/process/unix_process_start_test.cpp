// unix_process_start_test.cpp: what Unix says of a program that cannot be started.
// SPDX-License-Identifier: MIT
#include <tandem/io/process.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <optional>
#include <string>
#include <system_error>
#include <tandem/io/write_file.hpp>

#include "io/process/start_refusal.hpp"
#include "io/support/file_support.hpp"
#include "loopback_ports.hpp"
#include "no_descriptors.hpp"

namespace {

using tandem::task;
using tandem::io::command_line;
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

TEST(process_start, says_what_is_wrong_with_a_program_and_what_to_do) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const std::string script = folder / "script";
    co_await tandem::io::write_file(script, "echo no first line\n");
    const command plain{script};
    expect_refusal(co_await refusal_of_start(plain), std::errc::permission_denied,
                   process_step::exec, "may not be executed");
    EXPECT_EQ(::chmod(script.c_str(), 0755), 0);
    expect_refusal(co_await refusal_of_start(plain), std::errc::executable_format_error,
                   process_step::exec, "#!/bin/sh");
    expect_refusal(co_await refusal_of_start(command_line("/no/such/program")),
                   std::errc::no_such_file_or_directory, process_step::exec, "'/no/such/program'");
    expect_refusal(co_await refusal_of_start(command_line("tandem-no-such-program")),
                   std::errc::no_such_file_or_directory, process_step::exec,
                   "in no folder of PATH");
    expect_refusal(co_await refusal_of_start(command_line("tandem-none -l")),
                   std::errc::no_such_file_or_directory, process_step::exec,
                   "in no folder of PATH (one word a string: command_line(\"ls\", \"-l\"))");
    process_options inside;
    inside.directory = folder.path();
    EXPECT_EQ(::mkdir((folder / "folder").c_str(), 0700), 0);
    for (const std::string& path : {folder.path(), std::string("./folder")}) {
      expect_refusal(co_await refusal_of_start(command_line(path), inside),
                     std::errc::permission_denied, process_step::exec, "': it is a directory");
    }
  });
}

TEST(process_start, what_is_in_no_folder_is_said_to_be_missing_whatever_other_folders_answer) {
  on_every_home([]() -> task<void> {
    process_options options;
    options.environment["PATH"] = "/no/such/folder:/" + std::string(300, 'x');
    expect_refusal(co_await refusal_of_start(command_line("tandem-no-such-program"), options),
                   std::errc::no_such_file_or_directory, process_step::exec,
                   "in no folder of PATH");
    options.environment["PATH"] = "/" + std::string(300, 'x');
    expect_refusal(co_await refusal_of_start(command_line("tandem-no-such-program"), options),
                   std::errc::filename_too_long, process_step::exec, "tandem-no-such-program");
  });
}

TEST(process_start, says_which_step_of_the_options_failed) {
  on_every_home([]() -> task<void> {
    process_options elsewhere;
    elsewhere.directory = "/no/such/folder";
    expect_refusal(co_await refusal_of_start(shell(":"), elsewhere),
                   std::errc::no_such_file_or_directory, process_step::directory,
                   "'/no/such/folder' (chdir)");
    process_options input;
    input.standard_input = process_stdio::read_from("/no/such/file");
    expect_refusal(co_await refusal_of_start(shell(":"), input),
                   std::errc::no_such_file_or_directory, process_step::standard_input,
                   "standard input: open of '/no/such/file'");
    process_options output;
    output.standard_output = process_stdio::write_to("/");
    expect_refusal(co_await refusal_of_start(shell(":"), output), std::errc::is_a_directory,
                   process_step::standard_output, "standard output: open of '/'");
    process_options error;
    error.standard_error = process_stdio::descriptor(-1);
    expect_refusal(co_await refusal_of_start(shell(":"), error), std::errc::bad_file_descriptor,
                   process_step::standard_error, "standard error: descriptor -1");
    process_options group;
    group.group = process_group::joined(1);
    expect_refusal(co_await refusal_of_start(shell(":"), group), std::errc::operation_not_permitted,
                   process_step::group, "setpgid");
    process_options descriptor;
    descriptor.descriptors.emplace_back(999'999, 5);
    expect_refusal(co_await refusal_of_start(shell(":"), descriptor),
                   std::errc::bad_file_descriptor, process_step::descriptors, "dup2");
  });
}

TEST(process_start, without_a_descriptor_left_none_is_lost) {
  on_every_home([]() -> task<void> {
    const std::size_t before = tandem::test::open_descriptors();
    process_options options;
    options.standard_output = process_stdio::pipe();
    std::optional<start_refusal> got;
    {
      const tandem::test::no_descriptors none;
      got.emplace(co_await refusal_of_start(shell(":"), options));
    }
    expect_refusal(*got, std::errc::too_many_files_open, process_step::standard_output, "its pipe");
    EXPECT_EQ(tandem::test::open_descriptors(), before);
    for (int spare = 0; spare < 3; ++spare) {
      {
        const tandem::test::no_descriptors few(spare);
        got.emplace(co_await refusal_of_start(shell(":"), options));
      }
      EXPECT_EQ(got->code, std::errc::too_many_files_open) << got->text;
      EXPECT_EQ(tandem::test::open_descriptors(), before);
    }
  });
}

}  // namespace
