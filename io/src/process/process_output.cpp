// process_output.cpp: running a program for what it writes.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/process.hpp>
#include <tandem/when_all.hpp>

namespace tandem::inline v0::io {

namespace {

task<void> feed(pipe_writer& into, const std::string& input) {
  if (!into.is_open()) co_return;
  const auto written = co_await as_result(into.write_all(bytes_of(input)));
  into.close();
  // That it did not want all of it is its own affair.
  if (!written && written.error() != std::errc::broken_pipe) written.value();
}

task<void> collect(pipe_reader& from, std::string& all, std::size_t most, const char* name) {
  if (!from.is_open()) co_return;
  constexpr std::size_t least = 4096;
  std::size_t have = 0;
  while (true) {
    if (all.size() - have < least) all.resize(std::max(have + least, have * 2));
    const auto room = std::as_writable_bytes(std::span(all)).subspan(have);
    const std::size_t count = co_await from.read(room);
    have += count;
    if (have > most) {
      throw std::system_error(make_error_code(stream_errc::too_long),
                              std::string("process::output: ") + name + " has brought more than " +
                                  std::to_string(most) +
                                  " bytes (process_options::most_output_bytes)");
    }
    if (count == 0) break;
  }
  all.resize(have);
}

task<process_output> talk(process& child, const std::string& input, std::size_t most) {
  process_output got;
  co_await when_all(feed(child.standard_input(), input),
                    collect(child.standard_output(), got.standard_output, most, "standard output"),
                    collect(child.standard_error(), got.standard_error, most, "standard error"));
  got.exit = co_await child.wait();
  co_return got;
}

void choose_pipe(process_stdio& stream, bool is_wanted = true) noexcept {
  if (stream.what() != process_stdio::kind::inherited) return;
  stream = is_wanted ? process_stdio::pipe() : process_stdio::null();
}

}  // namespace

task<process_output> process::output(std::vector<std::string> argv, process_options options,
                                     std::string input) {
  choose_pipe(options.standard_input, !input.empty());
  choose_pipe(options.standard_output);
  choose_pipe(options.standard_error);
  const std::size_t most = options.most_output_bytes;
  auto body = [&](process& child) { return talk(child, input, most); };
  co_return co_await with_process(std::move(argv), std::move(options), body);
}

}  // namespace tandem::inline v0::io
