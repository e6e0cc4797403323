// windows_process_test.cpp: processes as Windows has them: command lines, handles, jobs, and what is not there.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/process.hpp>
#include <tandem/io/write_file.hpp>
#include <utility>

#include "io/process/start_refusal.hpp"
#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"

#define WIN32_LEAN_AND_MEAN  // libstdc++ defines NOMINMAX itself
#include <windows.h>

namespace {

using tandem::task;
using tandem::io::command_line;
using tandem::io::pipe_reader;
using tandem::io::process;
using tandem::io::process_group;
using tandem::io::process_options;
using tandem::io::process_stdio;
using tandem::io::process_step;
using tandem::test::command;
using tandem::test::expect_refusal;
using tandem::test::has_children;
using tandem::test::kill_number;
using tandem::test::leading;
using tandem::test::line_of;
using tandem::test::on_every_home;
using tandem::test::piped;
using tandem::test::refusal_of_start;
using tandem::test::shell;
using tandem::test::start_ready;

tandem::io::native_descriptor descriptor_of(HANDLE handle) {
  return reinterpret_cast<tandem::io::native_descriptor>(handle);  // NOLINT: it is one
}

TEST(windows_process, gets_its_arguments_as_they_were_given) {
  on_every_home([]() -> task<void> {
    command argv = shell("args");
    const command hard{"two words", "", R"(a "b" c\)", R"(\\)", R"(\")", "%PATH% ^& |"};
    argv.insert(argv.end(), hard.begin(), hard.end());
    std::string expected;
    for (const std::string& each : hard) expected += each + "\n";
    EXPECT_EQ((co_await process::output(argv)).standard_output, expected);
  });
}

TEST(windows_process, inherits_no_handle_that_was_not_asked_for) {
  on_every_home([]() -> task<void> {
    auto [reader, writer] = tandem::io::make_pipe();
    // It can be inherited, and whoever had it would keep the pipe from its end.
    const auto open = writer.release();
    const auto handle = reinterpret_cast<HANDLE>(open);  // NOLINT: it is one
    EXPECT_NE(::SetHandleInformation(handle, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT), 0);
    process child = co_await start_ready("");
    ::CloseHandle(handle);
    EXPECT_EQ(co_await line_of(reader), "");
    child.standard_input().close();
    (void)co_await child.wait();
  });
}

TEST(windows_process, is_searched_for_in_path_with_and_without_its_extension) {
  on_every_home([]() -> task<void> {
    command argv = shell("echo found");
    const std::size_t name = argv[0].rfind('\\');
    process_options options;
    options.environment["Path"] = "C:\\no such folder;" + argv[0].substr(0, name);
    for (const char* const each : {"small_shell", "small_shell.exe", "SMALL_SHELL.EXE"}) {
      argv[0] = each;
      EXPECT_EQ((co_await process::output(argv, options)).standard_output, "found\n");
    }
  });
}

TEST(windows_process, says_what_is_wrong_with_a_program) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    for (const char* const each : {"text", "script.bat"}) {
      co_await tandem::io::write_file(folder / each, "echo no program\n");
      const command plain{folder / each};
      expect_refusal(co_await refusal_of_start(plain), std::errc::executable_format_error,
                     process_step::exec, each);
    }
    expect_refusal(co_await refusal_of_start(command_line("C:\\no\\such\\program")),
                   std::errc::no_such_file_or_directory, process_step::exec,
                   "there is no such program");
    expect_refusal(co_await refusal_of_start(command_line("tandem-no-such-program")),
                   std::errc::no_such_file_or_directory, process_step::exec,
                   "in no folder of PATH");
  });
}

TEST(windows_process, says_which_step_of_the_options_failed) {
  on_every_home([]() -> task<void> {
    process_options elsewhere;
    elsewhere.directory = "C:\\no\\such\\folder";
    expect_refusal(co_await refusal_of_start(shell(":"), elsewhere),
                   std::errc::no_such_file_or_directory, process_step::directory,
                   "no\\such\\folder");
    process_options input;
    input.standard_input = process_stdio::read_from("C:\\no\\such\\file");
    expect_refusal(co_await refusal_of_start(shell(":"), input),
                   std::errc::no_such_file_or_directory, process_step::standard_input,
                   "standard input: open of 'C:\\no\\such\\file'");
    process_options error;
    error.standard_error = process_stdio::descriptor(tandem::io::no_descriptor);
    expect_refusal(co_await refusal_of_start(shell(":"), error), std::errc::bad_file_descriptor,
                   process_step::standard_error, "standard error: descriptor");
    process_options group;
    group.group = process_group::joined(process().id() + 1);
    expect_refusal(co_await refusal_of_start(shell(":"), group), std::errc::operation_not_permitted,
                   process_step::group, "group");
  });
}

TEST(windows_process, what_has_no_like_is_not_supported) {
  on_every_home([]() -> task<void> {
    process_options session;
    session.group = process_group::session();
    expect_refusal(co_await refusal_of_start(shell(":"), session), std::errc::not_supported,
                   process_step::session, "this system has none");
    process_options more;
    more.descriptors.emplace_back(descriptor_of(::GetStdHandle(STD_OUTPUT_HANDLE)), 3);
    expect_refusal(co_await refusal_of_start(shell(":"), more), std::errc::not_supported,
                   process_step::descriptors, "this system has none");
    process child = co_await start_ready("");
    for (const int number : {SIGINT, SIGABRT, 1000}) {
      try {
        child.signal(number);
        ADD_FAILURE() << number;
      } catch (const std::system_error& failure) {
        EXPECT_EQ(failure.code(), std::errc::not_supported);
      }
    }
    child.signal(0);
    EXPECT_EQ((co_await child.end()).signal(), SIGTERM);
  });
}

TEST(windows_process, end_is_by_the_number_of_a_signal_and_an_exit_code_has_32_bits) {
  on_every_home([]() -> task<void> {
    process ended = co_await start_ready("");
    EXPECT_EQ((co_await ended.end()).signal(), SIGTERM);
    process killed = co_await start_ready("");
    EXPECT_EQ((co_await killed.end(tandem::io::kill_at_once())).signal(), kill_number);
    process child = co_await process::start(shell("exit 100000"));
    EXPECT_EQ((co_await child.wait()).code(), 100'000);
    EXPECT_FALSE(has_children());
  });
}

TEST(windows_process, an_interrupt_reaches_a_leader_of_a_group) {
  if (::GetConsoleCP() == 0) (void)::AllocConsole();  // it goes by the console that both have
  on_every_home([]() -> task<void> {
    process leader = co_await start_ready("", leading(tandem::io::kill_at_once()));
    leader.signal(SIGINT);
    EXPECT_EQ((co_await leader.wait()).signal(), SIGINT);
  });
}

TEST(windows_process, members_that_join_a_group_end_with_it) {
  on_every_home([]() -> task<void> {
    process leader = co_await process::start(shell("read a"), leading(tandem::io::kill_at_once()));
    process_options options = piped();
    options.group = process_group::joined(leader.id());
    process member = co_await process::start(shell("sleep 1000"), options);
    leader.signal_group(kill_number);
    EXPECT_EQ((co_await member.wait()).signal(), kill_number);
    EXPECT_EQ((co_await leader.wait()).signal(), kill_number);
  });
}

TEST(windows_process, one_that_has_ended_or_could_not_be_started_leaves_no_handle_open) {
  on_every_home([]() -> task<void> {
    std::size_t before = 0;
    for (int round = 0; round < 4; ++round) {
      process leader = co_await start_ready("", leading(tandem::io::kill_at_once()));
      (void)co_await leader.end();
      (void)co_await refusal_of_start(command_line("C:\\no\\such\\program"), piped());
      process_options session = piped();
      session.group = process_group::session();
      (void)co_await refusal_of_start(shell(":"), session);
      leader = process();
      // The first round makes what is made once: threads that wait, an event of the reaper's.
      if (round == 0) before = tandem::test::open_descriptors();
    }
    EXPECT_LE(tandem::test::open_descriptors(), before + 2) << "threads of the pools come and go";
  });
}

TEST(windows_process, one_that_nobody_waits_for_is_ended_in_the_background) {
  on_every_home([]() -> task<void> {
    std::optional<process> child(co_await start_ready(""));
    pipe_reader output = std::move(child->standard_output());
    child.reset();
    EXPECT_EQ(co_await line_of(output), "");
  });
  while (has_children()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace
