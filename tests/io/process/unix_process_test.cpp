// unix_process_test.cpp: what a process gets that only Unix has: descriptors, groups, sessions, signals, scripts.
// SPDX-License-Identifier: MIT
#include <tandem/io/process.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <tandem/io/write_file.hpp>
#include <tandem/run.hpp>
#include <utility>

#include "fork_support.hpp"
#include "io/process/process_support.hpp"
#include "io/support/file_support.hpp"
#include "pseudo_terminal.hpp"

namespace {

using tandem::task;
using tandem::io::command_line;
using tandem::io::process;
using tandem::io::process_group;
using tandem::io::process_options;
using tandem::io::process_output;
using tandem::io::process_stdio;
using tandem::test::line_of;
using tandem::test::on_every_home;
using tandem::test::piped;
using tandem::test::shell;

/// Standard input is closed meanwhile: its number is the next descriptor's.
class closed_input {
 public:
  closed_input() noexcept : kept_(::fcntl(0, F_DUPFD_CLOEXEC, 3)) { ::close(0); }
  closed_input(const closed_input&) = delete;
  closed_input& operator=(const closed_input&) = delete;
  ~closed_input() {
    if (kept_ < 0) return;
    ::dup2(kept_, 0);
    ::close(kept_);
  }

 private:
  int kept_;
};

TEST(process, gets_no_descriptor_of_the_runtime_for_a_standard_stream_that_is_closed_here) {
  const closed_input here;
  on_every_home([]() -> task<void> {
    // Whatever has the number 0 by now.
    const int low = ::fcntl(1, F_DUPFD_CLOEXEC, 0);
    process_options options;
    options.standard_output = process_stdio::pipe();
    process child = co_await process::start(command_line("readlink", "/proc/self/fd/0"), options);
    EXPECT_EQ(co_await line_of(child.standard_output()), "") << "it is open there";
    EXPECT_FALSE((co_await child.wait()).success());
    ::close(low);
  });
}

TEST(process, opens_a_terminal_for_a_stream_without_making_it_ours) {
  if (!tandem::test::child_may_allocate) {
    GTEST_SKIP() << "the sanitizer's allocator does not survive a fork";
  }
  const auto terminal = tandem::test::plain_pair::terminal();
  const std::string path = ::ptsname(terminal.second());
  // The leader of a session without a terminal would get it.
  EXPECT_EQ(tandem::test::in_child([&path] {
              if (::setsid() < 0) return 1;
              tandem::run([](const std::string& from) -> task<void> {
                process_options options;
                options.standard_input = process_stdio::read_from(from);
                process child = co_await process::start(command_line("true"), options);
                EXPECT_TRUE((co_await child.wait()).success());
              }(path));
              return ::open("/dev/tty", O_RDWR | O_CLOEXEC) < 0 && errno == ENXIO ? 0 : 2;
            }),
            0);
}

/// The numbers of all descriptors that a child has got, and of the one by which it looks.
task<std::string> descriptors_of_child(process_options options) {
  options.environment["LC_ALL"] = "C";
  process_output got =
      co_await process::output(command_line("ls", "/proc/self/fd"), std::move(options));
  std::ranges::replace(got.standard_output, '\n', ' ');
  co_return std::move(got.standard_output);
}

TEST(process, has_no_descriptor_that_was_not_asked_for) {
  on_every_home([]() -> task<void> {
    // One that is inherited across exec, below and above those that are asked for.
    const int low = ::open("/dev/null", O_RDONLY);  // NOLINT: on purpose
    const int high = ::fcntl(low, F_DUPFD, 200);    // NOLINT: on purpose
    EXPECT_EQ(co_await descriptors_of_child({}), "0 1 2 3 ");
    auto [reader, writer] = tandem::io::make_pipe();
    process_options options;
    options.descriptors.emplace_back(writer.native_handle(), 150);
    options.descriptors.emplace_back(low, 3);
    EXPECT_EQ(co_await descriptors_of_child(options), "0 1 150 2 3 4 ");
    ::close(low);
    ::close(high);
  });
}

TEST(process, gets_descriptors_by_number_also_where_numbers_here_and_there_are_exchanged) {
  on_every_home([]() -> task<void> {
    auto [first_out, first_in] = tandem::io::make_pipe();
    auto [second_out, second_in] = tandem::io::make_pipe();
    const int one = first_in.native_handle();
    const int other = second_in.native_handle();
    process_options options;
    options.descriptors.emplace_back(one, other);
    options.descriptors.emplace_back(other, one);
    const std::string script = "echo to-other >/proc/self/fd/" + std::to_string(one) +
                               "; echo to-one >/proc/self/fd/" + std::to_string(other);
    process child = co_await process::start(shell(script), options);
    EXPECT_TRUE((co_await child.wait()).success());
    EXPECT_EQ(co_await line_of(first_out), "to-one");
    EXPECT_EQ(co_await line_of(second_out), "to-other");
  });
}

TEST(process, many_descriptors_come_through) {
  on_every_home([]() -> task<void> {
    auto [reader, writer] = tandem::io::make_pipe();
    process_options options;
    for (int number = 3; number < 40; ++number) {
      options.descriptors.emplace_back(writer.native_handle(), number);
    }
    const std::string listed = co_await descriptors_of_child(options);
    EXPECT_EQ(std::ranges::count(listed, ' '), 41);
  });
}

TEST(process, is_searched_for_in_the_path_of_its_own_environment) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    co_await tandem::io::write_file(folder / "tandem-test-program", "#!/bin/sh\necho found\n");
    EXPECT_EQ(::chmod((folder / "tandem-test-program").c_str(), 0755), 0);
    process_options options;
    // Neither a folder that is not there nor one whose name is too long ends the search.
    options.environment["PATH"] = "/no/such/folder:/" + std::string(300, 'x') + ":" + folder.path();
    const process_output got =
        co_await process::output(command_line("tandem-test-program"), options);
    EXPECT_EQ(got.standard_output, "found\n");
  });
}

TEST(process, leads_a_group_or_a_session_or_joins_a_group) {
  on_every_home([]() -> task<void> {
    process_options options = piped();
    options.group = process_group::own();
    process leader = co_await process::start(shell("read a"), options);
    EXPECT_EQ(::getpgid(leader.id()), leader.id());
    EXPECT_EQ(::getsid(leader.id()), ::getsid(0));
    options.group = process_group::joined(leader.id());
    process follower = co_await process::start(shell("read a"), options);
    EXPECT_EQ(::getpgid(follower.id()), leader.id());
    options.group = process_group::session();
    process alone = co_await process::start(shell("read a"), options);
    EXPECT_EQ(::getsid(alone.id()), alone.id());
    options.group = process_group::inherited();
    process beside = co_await process::start(shell("read a"), options);
    EXPECT_EQ(::getpgid(beside.id()), ::getpgid(0));
    for (process* each : {&leader, &follower, &alone, &beside}) {
      each->standard_input().close();
      EXPECT_EQ((co_await each->wait()).code(), 1);  // the shell's read has met the end
    }
  });
}

/// Bit n - 1 of such a line of /proc/self/status is signal n.
bool has_signal(const std::string& status, const std::string& line, int number) {
  const std::size_t at = status.find(line + ":\t");
  EXPECT_NE(at, std::string::npos);
  const auto mask = std::stoull(status.substr(at + line.size() + 2, 16), nullptr, 16);
  return ((mask >> (number - 1)) & 1) != 0;
}

extern "C" void tandem_test_handler(int /*number*/) {}

// The threads of the pools block nearly all of them.
TEST(process, begins_with_no_signal_blocked_and_sigpipe_at_its_default) {
  struct sigaction pipe_before{};
  struct sigaction user_before{};
  struct sigaction next{};
  next.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &next, &pipe_before);
  ::sigaction(SIGUSR2, &next, nullptr);
  next.sa_handler = &tandem_test_handler;
  ::sigaction(SIGUSR1, &next, &user_before);
  on_every_home([]() -> task<void> {
    const process_output got = co_await process::output(command_line("cat", "/proc/self/status"));
    for (int number = 1; number < 32; ++number) {
      EXPECT_FALSE(has_signal(got.standard_output, "SigBlk", number)) << number;
    }
    EXPECT_FALSE(has_signal(got.standard_output, "SigIgn", SIGPIPE));
    EXPECT_FALSE(has_signal(got.standard_output, "SigCgt", SIGUSR1));
    EXPECT_TRUE(has_signal(got.standard_output, "SigIgn", SIGUSR2)) << "as nohup wants it";
  });
  struct sigaction after{};
  ::sigaction(SIGUSR1, &user_before, &after);
  EXPECT_EQ(after.sa_handler, &tandem_test_handler) << "the child has changed its parent";
  ::sigaction(SIGPIPE, &pipe_before, nullptr);
  ::signal(SIGUSR2, SIG_DFL);
}

/// So many descriptors there may be meanwhile.
class descriptor_limit {
 public:
  explicit descriptor_limit(rlim_t most) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit now = before_;
    now.rlim_cur = most;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &now), 0);
  }
  descriptor_limit(const descriptor_limit&) = delete;
  descriptor_limit& operator=(const descriptor_limit&) = delete;
  ~descriptor_limit() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_{};
};

TEST(process, gets_a_descriptor_by_the_highest_number_that_there_may_be) {
  on_every_home([]() -> task<void> {
    const descriptor_limit small(400);
    auto [out, in] = tandem::io::make_pipe();
    process_options options;
    options.descriptors.emplace_back(in.native_handle(), 399);
    process child = co_await process::start(shell("echo highest >/proc/self/fd/399"), options);
    EXPECT_TRUE((co_await child.wait()).success());
    EXPECT_EQ(co_await line_of(out), "highest");
  });
}

}  // namespace
