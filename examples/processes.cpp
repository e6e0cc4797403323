// processes.cpp: programs joined by a pipe, one whose output is collected, one that is ended in time.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdio>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/owned_descriptor.hpp>
#include <tandem/io/process.hpp>
#include <tandem/run.hpp>
#include <tandem/timeout.hpp>
#include <utility>

namespace io = tandem::io;
using namespace std::chrono_literals;

// Writes to `tr -cs a-z '\n' | sort`, and reads what comes out.
tandem::task<std::string> sorted_words(std::string text) {
  io::process_options options;
  options.standard_input = io::process_stdio::pipe();
  options.standard_output = io::process_stdio::pipe();
  auto tr = co_await io::process::start(io::command_line("tr", "-cs", "a-z", "\\n"), options);

  io::owned_descriptor between(tr.standard_output().release());
  options.standard_input = io::process_stdio::descriptor(between.native_handle());
  options.environment["LC_ALL"] = "C";
  auto sort = co_await io::process::start(io::command_line("sort"), options);
  between.close();  // it is sort's now

  co_await tr.standard_input().write_all(io::bytes_of(text));
  tr.standard_input().close();  // nothing more comes
  std::string words;
  io::buffered_reader reader(sort.standard_output());
  while (const auto word = co_await reader.read_until("\n", 100)) words += *word + " ";
  (void)co_await tr.wait();
  const io::process_exit how = co_await sort.wait();
  co_return how.success() ? words : "sort: " + how.to_string();
}

// All at once, for a program that ends by itself.
tandem::task<std::string> greeting() {
  const auto argv = io::command_line("sh", "-c", "echo hello from $0; echo oh >&2; exit 3", "sh");
  const io::process_output got = co_await io::process::output(argv);
  co_return got.standard_output + got.standard_error + got.exit.to_string();
}

// One that would run for an hour: its scope ends it, by SIGTERM, and by SIGKILL if need be.
tandem::task<bool> is_ended_in_time() {
  io::process_options options;
  options.on_scope_end = io::terminate_then_kill(2s);
  auto waits = [](io::process& child) -> tandem::task<bool> {
    co_return (co_await child.wait()).success();
  };
  const auto ended = co_await tandem::as_result(tandem::with_timeout(
      10ms, io::with_process(io::command_line("sleep", "3600"), options, waits)));
  co_return ended.error() == std::errc::timed_out;
}

// Whatever fails before a program runs is told, with what was tried.
tandem::task<std::string> refusal() {
  try {
    auto none = co_await io::process::start(io::command_line("no-such-program"));
  } catch (const io::process_start_error& failure) {
    co_return failure.what();
  }
  co_return "";
}

tandem::task<bool> show() {
  const std::string words = co_await sorted_words("the quick brown fox and the lazy dog");
  const std::string greeted = co_await greeting();
  const bool in_time = co_await is_ended_in_time();
  const std::string refused = co_await refusal();
  std::printf("%s\n%s\n%s\n", words.c_str(), greeted.c_str(), refused.c_str());
  co_return words == "and brown dog fox lazy quick the the " &&
      in_time&& greeted == "hello from sh\noh\nexit code 3" &&
      refused.find("in no folder of PATH") != std::string::npos;
}

int main() { return tandem::run(show()) ? 0 : 1; }
