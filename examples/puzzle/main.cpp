// main.cpp: the command line of puzzle.
// SPDX-License-Identifier: MIT
//
// Exit codes: 0 solved or proved unsolvable, 2 bad input, 3 a limit was reached, 1 anything else.
// stdout has the answer and nothing else; progress and complaints go to stderr.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tandem/run.hpp>

#include "command.hpp"
#include "solve.hpp"
#include "system.hpp"

namespace {

using namespace puzzles;

constexpr int exit_bad_input = 2;
constexpr int exit_limit = 3;

/// A line on stderr that is rewritten in place on a terminal.
class progress_line {
 public:
  explicit progress_line(bool forced) : in_place_(stderr_is_terminal()), on_(in_place_ || forced) {}
  ~progress_line() {
    if (in_place_ && drawn_) std::fputs("\r\x1b[K", stderr);
  }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  bool is_on() const noexcept { return on_; }
  void draw(const tandem::search_progress& now) {
    const std::string depth = now.depth != 0 ? fmt::format(", depth {}", now.depth) : "";
    const std::string line =
        fmt::format("{} positions{}, {:.1f} s, {:.0f} positions/s, {:.1f} MiB", now.nodes, depth,
                    std::chrono::duration<double>(now.elapsed).count(), now.nodes_per_second,
                    static_cast<double>(now.memory_bytes) / (1 << 20));
    fmt::print(stderr, "{}{}{}", in_place_ ? "\r\x1b[K" : "", line, in_place_ ? "" : "\n");
    std::fflush(stderr);
    drawn_ = true;
  }

 private:
  bool in_place_;
  bool on_;
  bool drawn_ = false;
};

std::string summary(const solve_request& request, const solve_answer& answer) {
  std::string what;
  if (answer.hit_limit()) {
    what = fmt::format("no answer: {}", answer.end);
    if (request.count) what += fmt::format(", {} solutions until then", answer.solutions);
  } else if (answer.puzzle == puzzle_kind::uts) {
    what = fmt::format("{} nodes, depth {}, {} leaves", answer.nodes, answer.depth, answer.leaves);
  } else if (request.count) {
    what = fmt::format("{} solutions", answer.solutions);
  } else if (answer.solved) {
    what = fmt::format("solved in {} {}", *answer.moves,
                       request.counted ? to_string(*request.counted) : "moves");
  } else {
    what = "no solution";
  }
  std::string kept;
  if (answer.bytes_per_position > 0) {
    kept = fmt::format("{:.1f} bytes each, ", answer.bytes_per_position);
  }
  return fmt::format("{}: {} ({} positions, {:.1f} ms, {:.0f} positions/s, {}{}, {} threads)\n",
                     to_string(answer.puzzle), what, answer.nodes, answer.milliseconds,
                     answer.nodes_per_second, kept, to_string(answer.solver), answer.threads);
}

std::string path_line(const solve_answer& answer) {
  return std::visit([](const auto& path) { return fmt::format("{}", fmt::join(path, ", ")); },
                    answer.path);
}

void print(const command& asked, const solve_request& request, const solve_answer& answer) {
  if (asked.json) {
    // The drawing is for people: with --json it goes to stderr.
    fmt::print("{}\n", to_json(answer).dump());
  } else {
    fmt::print("{}", summary(request, answer));
    if (answer.moves.value_or(0) > 0) fmt::print("{}\n", path_line(answer));
  }
  if (!asked.show || !answer.solved || request.is_count()) return;
  std::FILE* to = asked.json ? stderr : stdout;
  for (const std::string& drawing : draw(request, answer)) fmt::print(to, "\n{}", drawing);
}

int solve_command(const command& asked) {
  solve_request request = asked.request();
  solve_answer answer;
  {
    progress_line line(asked.progress);
    if (line.is_on()) {
      request.progress = [&](const tandem::search_progress& now) { line.draw(now); };
    }
    tandem::runtime_options options;
    options.name = "puzzle";
    if (asked.threads != 0) options.min_threads = asked.threads;
    answer = tandem::run(solve(request), options);
  }
  print(asked, request, answer);
  if (std::fflush(stdout) != 0) throw std::runtime_error("the answer cannot be written to stdout");
  return answer.hit_limit() ? exit_limit : 0;
}

/// To stderr, if that can be written to: where it cannot, the exit code has to do.
void tell(std::string_view what) {
  const std::string line = fmt::format("puzzle: {}\n", what);
  (void)std::fwrite(line.data(), 1, line.size(), stderr);
}

/// The first line of a complaint, which is all that is shown.
int complain(std::string_view what) {
  what = what.substr(0, what.find('\n'));
  tell(what);
  return exit_bad_input;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    command asked;
    // CLI11 knows no unknown puzzle, only an unexpected word.
    if (argc > 1 && argv[1][0] != '-') (void)parse_puzzle_kind(argv[1]);
    try {
      asked.app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) return asked.app.exit(error);  // --help
      return complain(error.what());
    }
    return solve_command(asked);
  } catch (const std::invalid_argument& error) {
    return complain(error.what());
  } catch (const std::exception& error) {
    tell(error.what());
    return 1;
  }
}
