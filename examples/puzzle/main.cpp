// main.cpp: the command line of puzzle.
// SPDX-License-Identifier: MIT
//
// Exit codes: 0 solved or proved unsolvable, 2 bad input, 3 a limit was reached, 1 anything else.
// stdout has the answer and nothing else; progress and complaints go to stderr.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <tandem/run.hpp>

#include "solve.hpp"

namespace {

using namespace puzzles;

constexpr int exit_bad_input = 2;
constexpr int exit_limit = 3;
constexpr unsigned most_threads = 1024;

/// What was asked for on the command line.
class command {
 public:
  command() : app("Solves sliding tiles, Klotski and n queens with tandem's parallel searches.") {
    app.require_subcommand(1);
    app.get_formatter()->column_width(36);
    add_sliding();
    add_klotski();
    add_queens();
  }

  /// The request, checked. @throws std::invalid_argument
  solve_request request() const {
    solve_request made(puzzle);
    if (!solver.empty()) made.solver = parse_solver_kind(solver);
    made.rows = rows;
    made.cols = cols;
    made.n = n;
    made.count = count;
    made.node_limit = node_limit;
    made.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(time_limit_s * 1000));
    if (puzzle == puzzle_kind::sliding) {
      made.start = parse_tiles("start", start);
      if (goal_option->count() > 0) {
        made.goal = parse_tiles("goal", goal);
        if (made.goal.empty()) throw std::invalid_argument("goal: no tiles given");
      }
    }
    if (!board_file.empty()) made.board = read_board();
    validate(made);
    return made;
  }

  CLI::App app;
  unsigned threads = 0;
  bool show = false;
  bool json = false;
  bool progress = false;

 private:
  void add_sliding() {
    CLI::App* sub = app.add_subcommand("sliding", "sliding tiles on a board of any size");
    sub->add_option("--rows", rows, "rows of the board")->required();
    sub->add_option("--cols", cols, "columns of the board")->required();
    sub->add_option("--start", start, "tiles row by row, 0 is the blank: \"8 6 7 2 5 4 3 0 1\"")
        ->required();
    goal_option = sub->add_option("--goal", goal, "tiles of the goal; default: 1 2 .. 0");
    add_common(sub, puzzle_kind::sliding);
  }

  void add_klotski() {
    CLI::App* sub = app.add_subcommand("klotski", "Klotski, 4 wide and 5 high");
    sub->add_option("--board", board_file,
                    "file with five rows separated by newlines or '/', a letter per piece, '.' "
                    "empty; - is stdin; default: Heng Dao Li Ma");
    add_common(sub, puzzle_kind::klotski);
  }

  void add_queens() {
    CLI::App* sub = app.add_subcommand("queens", "n queens that do not attack each other");
    sub->add_option("n", n, "size of the board, 1 to 32")->required();
    sub->add_flag("--count", count, "count all solutions");
    add_common(sub, puzzle_kind::queens);
  }

  void add_common(CLI::App* sub, puzzle_kind kind) {
    sub->add_option(
        "--solver", solver,
        "sequential, racing or breadth_first; default: breadth_first, for queens racing");
    sub->add_option("--threads", threads, "worker threads; 0 is one per CPU, and the default")
        ->check(CLI::Range(0U, most_threads));
    sub->add_option("--node-limit", node_limit, "positions to visit at most; 0 is no limit");
    sub->add_option("--time-limit", time_limit_s, "seconds to search at most; 0 is no limit")
        ->check(CLI::Range(0.0, 1e6));
    sub->add_flag("--show", show, "draw each position of the path");
    sub->add_flag("--json", json, "write one JSON object and nothing else to stdout");
    sub->add_flag("--progress", progress, "progress on stderr even if that is no terminal");
    sub->callback([this, kind] { puzzle = kind; });
  }

  std::string read_board() const {
    std::ifstream file;
    if (board_file != "-") {
      file.open(board_file);
      if (!file) throw std::invalid_argument("board: cannot open " + in_quotes(board_file));
    }
    std::istream& in = board_file == "-" ? std::cin : file;
    std::string text;
    // A board has some 25 bytes; of anything else enough is read to complain about it.
    constexpr std::size_t most = 4096;
    text.resize(most);
    in.read(text.data(), static_cast<std::streamsize>(most));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.empty()) throw std::invalid_argument("board: " + in_quotes(board_file) + " is empty");
    return text;
  }

  puzzle_kind puzzle = puzzle_kind::sliding;
  unsigned rows = 0;
  unsigned cols = 0;
  std::string start;
  std::string goal;
  const CLI::Option* goal_option = nullptr;
  std::string board_file;
  unsigned n = 0;
  bool count = false;
  std::string solver;
  std::uint64_t node_limit = 0;
  double time_limit_s = 0;
};

/// A line on stderr that is rewritten in place on a terminal.
class progress_line {
 public:
  explicit progress_line(bool forced)
      : in_place_(isatty(STDERR_FILENO) == 1), on_(in_place_ || forced) {}
  ~progress_line() {
    if (in_place_ && drawn_) std::fputs("\r\x1b[K", stderr);
  }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  bool is_on() const noexcept { return on_; }
  void draw(const tandem::search_progress& now) {
    const double seconds = std::chrono::duration<double>(now.elapsed).count();
    const std::string depth = now.depth != 0 ? fmt::format(", depth {}", now.depth) : "";
    const std::string line = fmt::format("{} positions{}, {:.1f} s, {:.0f} positions/s", now.nodes,
                                         depth, seconds, static_cast<double>(now.nodes) / seconds);
    std::fputs((in_place_ ? "\r\x1b[K" + line : line + "\n").c_str(), stderr);
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
    what = fmt::format("no answer: the {} limit was reached",
                       answer.outcome == tandem::search_outcome::node_limit ? "node" : "time");
    if (request.count) what += fmt::format(" after {} solutions", answer.solutions);
  } else if (request.count) {
    what = fmt::format("{} solutions", answer.solutions);
  } else if (answer.solved) {
    what = fmt::format("solved in {} moves", *answer.moves);
  } else {
    what = "no solution";
  }
  return fmt::format("{}: {} ({} positions, {:.1f} ms, {}, {} threads)\n", to_string(answer.puzzle),
                     what, answer.nodes, answer.milliseconds, to_string(answer.solver),
                     answer.threads);
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
  if (!asked.show || !answer.solved || request.count) return;
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
  return answer.hit_limit() ? exit_limit : 0;
}

/// The first line of a complaint, which is all that is shown.
int complain(std::string_view what) {
  what = what.substr(0, what.find('\n'));
  fmt::print(stderr, "puzzle: {}\n", what);
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
    fmt::print(stderr, "puzzle: {}\n", error.what());
    return 1;
  }
}
