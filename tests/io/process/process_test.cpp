// process_test.cpp: what a process gets: streams, environment, directory.
// SPDX-License-Identifier: MIT
#include <tandem/io/process.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tandem/io/owned_descriptor.hpp>
#include <tandem/io/read_file.hpp>
#include <tandem/io/write_file.hpp>
#include <utility>

#include "io/process/process_support.hpp"
#include "io/support/file_support.hpp"
#include "system.hpp"

namespace {

using tandem::task;
using tandem::io::process;
using tandem::io::process_options;
using tandem::io::process_output;
using tandem::io::process_stdio;
using tandem::test::bytes_of;
using tandem::test::line_of;
using tandem::test::on_every_home;
using tandem::test::output_of;
using tandem::test::piped;
using tandem::test::shell;

TEST(process, speaks_over_pipes_and_ends_with_its_code) {
  on_every_home([]() -> task<void> {
    process child = co_await process::start(shell("read a; echo got $a; read b; exit 7"), piped());
    EXPECT_GT(child.id(), 0);
    EXPECT_FALSE(child.standard_error().is_open());
    co_await child.standard_input().write_all(bytes_of("one\n"));
    EXPECT_EQ(co_await line_of(child.standard_output()), "got one");
    child.standard_input().close();
    const auto ended = co_await child.wait();
    EXPECT_EQ(ended.code(), 7);
    EXPECT_FALSE(ended.success());
    EXPECT_EQ(ended.to_string(), "exit code 7");
    EXPECT_EQ(co_await child.wait(), ended) << "a second wait says the same";
    EXPECT_FALSE(tandem::test::has_children());
  });
}

TEST(process, output_is_collected_of_both_streams_while_input_is_given) {
  on_every_home([]() -> task<void> {
    const std::string much(300'000, 'x');
    const process_output got =
        co_await process::output(shell("cat; echo problem >&2; exit 3"), {}, much);
    EXPECT_TRUE(got.standard_output == much);
    EXPECT_EQ(got.standard_error, "problem\n");
    EXPECT_EQ(got.exit.code(), 3);
    const process_output none = co_await process::output(shell("cat"));
    EXPECT_EQ(none.standard_output, "");
    EXPECT_TRUE(none.exit.success());
  });
}

TEST(process, input_that_a_program_does_not_want_is_no_error_of_its_output) {
  on_every_home([]() -> task<void> {
    const process_output got =
        co_await process::output(shell("exec <&-; echo done"), {}, std::string(1'000'000, 'x'));
    EXPECT_EQ(got.standard_output, "done\n");
    EXPECT_TRUE(got.exit.success());
  });
}

TEST(process, streams_are_files_that_are_read_written_or_appended) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    co_await tandem::io::write_file(folder / "in", "from a file\n");
    process_options options;
    options.standard_input = process_stdio::read_from(folder / "in");
    options.standard_output = process_stdio::write_to(folder / "out");
    options.standard_error = process_stdio::append_to(folder / "errors");
    for (int round = 0; round < 2; ++round) {
      process child = co_await process::start(shell("cat; echo oh >&2"), options);
      EXPECT_TRUE((co_await child.wait()).success());
    }
    EXPECT_EQ(co_await tandem::io::read_file(folder / "out"), "from a file\n");
    EXPECT_EQ(co_await tandem::io::read_file(folder / "errors"), "oh\noh\n");
  });
}

TEST(process, streams_are_nothing_or_descriptors_that_stay_open_here) {
  on_every_home([]() -> task<void> {
    auto [reader, writer] = tandem::io::make_pipe();
    tandem::io::owned_descriptor given(writer.release());
    process_options options;
    options.standard_input = process_stdio::null();
    options.standard_output = process_stdio::descriptor(given.native_handle());
    options.standard_error = process_stdio::same_as_output();
    process child = co_await process::start(shell("cat; echo out; echo error >&2"), options);
    EXPECT_TRUE((co_await child.wait()).success());
    EXPECT_EQ(co_await line_of(reader), "out");
    EXPECT_EQ(co_await line_of(reader), "error");
    given.close();
    EXPECT_EQ(co_await line_of(reader), "");
  });
}

TEST(process, has_our_environment_with_the_changes_that_were_asked_for_or_none_of_it) {
  on_every_home([]() -> task<void> {
    tandem::test::set_variable("TANDEM_TEST_KEPT", "kept");
    tandem::test::set_variable("TANDEM_TEST_GONE", "gone");
    process_options options;
    options.environment["TANDEM_TEST_NEW"] = "new";
    options.environment["TANDEM_TEST_GONE"] = std::nullopt;
    const char* const script = "echo $TANDEM_TEST_KEPT,$TANDEM_TEST_NEW,$TANDEM_TEST_GONE";
    EXPECT_EQ(co_await output_of(script, options), "kept,new,\n");
    EXPECT_EQ(co_await output_of(script), "kept,,gone\n");
    options.inherits_environment = false;
    EXPECT_EQ(co_await output_of(script, options), ",new,\n");
  });
}

TEST(process, runs_in_its_directory) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    co_await tandem::io::write_file(folder / "here", "found\n");
    process_options options;
    options.directory = folder.path();
    EXPECT_EQ(co_await output_of("cat here", options), "found\n");
  });
}

}  // namespace
