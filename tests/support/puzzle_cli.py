#!/usr/bin/env python3
# puzzle_cli.py: laws of the command line of puzzle; every path is played by replay.py.
# SPDX-License-Identifier: MIT
"""usage: puzzle_cli.py PUZZLE_EXECUTABLE [unittest arguments]"""
import json
import os
import pty
import subprocess
import sys
import tempfile
import unittest

PUZZLE = ""
REPLAY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "replay.py")
LIMIT_S = float(os.environ.get("TANDEM_TEST_LIMIT_SECONDS", "60"))
SOLVERS = ["sequential", "racing", "breadth_first"]
KEYS = ["puzzle", "solver", "solved", "moves", "path", "nodes", "solutions", "milliseconds", "threads"]
FARTHEST = "8 6 7 2 5 4 3 0 1"
UNSOLVABLE = "1 2 3 4 5 6 8 7 0"
# An easy 15-puzzle: some 78,000 positions are as near to it as its goal.
FIFTEEN = "1 2 7 3 5 6 11 4 13 9 8 12 10 0 14 15"
# Endless for every practical purpose: instance 12 of Korf's 15-puzzles, 45 moves.
HARD_FIFTEEN = "14 1 9 6 4 8 12 5 7 2 3 0 10 11 13 15"


def run(*args, stdin=None):
    return subprocess.run([PUZZLE, *map(str, args)], input=stdin, capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)


def sliding(start, *args, rows=3, cols=3):
    return ("sliding", "--rows", rows, "--cols", cols, "--start", start, *args)


class Case(unittest.TestCase):
    def answer(self, *args, code=0):
        done = run(*args, "--json")
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr, "")
        answer = json.loads(done.stdout)  # exactly one object: anything after it is an error
        self.assertEqual(list(answer), KEYS)
        self.assertIsInstance(answer["milliseconds"], float)
        self.assertGreaterEqual(answer["threads"], 1)
        return answer

    def replay(self, answer, *args):
        done = subprocess.run([sys.executable, REPLAY, *map(str, args)], input=json.dumps(answer),
                              capture_output=True, text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Answers(Case):
    def test_every_path_of_every_solver_can_be_played(self):
        for solver in SOLVERS:
            for threads in [0, 1, 2, 4]:
                with self.subTest(solver=solver, threads=threads):
                    common = ("--solver", solver, "--threads", threads)
                    self.replay(self.answer(*sliding(FARTHEST), *common), "sliding", 3, 3, FARTHEST)
                    self.replay(self.answer("klotski", *common), "klotski")
                    self.replay(self.answer("queens", 8, *common), "queens", 8)

    def test_shortest_paths_have_the_known_lengths(self):
        for threads in [1, 2, 4]:
            eight = self.answer(*sliding(FARTHEST), "--threads", threads)
            self.assertEqual((eight["moves"], eight["solver"]), (31, "breadth_first"))
            self.assertEqual(self.answer("klotski", "--threads", threads)["moves"], 116)
        fifteen = self.answer(*sliding(FIFTEEN, rows=4, cols=4))
        self.assertEqual(fifteen["moves"], 14)
        self.replay(fifteen, "sliding", 4, 4, FIFTEEN)

    def test_unsolvable_board_is_given_up_after_exactly_181440_positions(self):
        for solver in SOLVERS:
            for threads in [1, 2, 4]:
                answer = self.answer(*sliding(UNSOLVABLE), "--solver", solver, "--threads", threads)
                self.assertEqual((answer["solved"], answer["moves"], answer["path"]), (False, None, []))
                self.assertEqual((answer["nodes"], answer["solutions"]), (181440, 0))

    def test_queens_are_counted(self):
        known = [1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200]
        for solver in [None, "sequential", "racing", "breadth_first"]:
            extra = ["--solver", solver] if solver else []
            counts = [self.answer("queens", n, "--count", *extra)["solutions"] for n in range(1, 13)]
            self.assertEqual(counts, known)
        answer = self.answer("queens", 8, "--count")
        self.assertEqual((answer["solved"], answer["moves"], answer["path"]), (True, None, []))

    def test_queens_without_a_solution_are_no_error(self):
        for n in [2, 3]:
            for solver in SOLVERS:
                self.assertFalse(self.answer("queens", n, "--solver", solver)["solved"])

    def test_goal_board_threads_and_odd_sizes(self):
        goal = "0 1 2 3 4 5 6 7 8"
        start = "1 0 2 3 4 5 6 7 8"
        answer = self.answer(*sliding(start, "--goal", goal, "--threads", 3))
        self.assertEqual((answer["moves"], answer["path"], answer["threads"]), (1, [1], 3))
        self.assertEqual(self.answer(*sliding("0", rows=1, cols=1))["moves"], 0)
        self.assertEqual(self.answer(*sliding("1,2,0,3", rows=1, cols=4))["moves"], 1)
        five = " ".join(map(str, [*range(1, 20), 0, *range(21, 25), 20]))
        answer = self.answer(*sliding(five, rows=5, cols=5))
        self.assertEqual(answer["path"], [20])
        self.replay(answer, "sliding", 5, 5, five)

    def test_klotski_board_is_read_from_a_file_in_both_forms(self):
        for text in ["ABBC/ABBC/DEEF/DGHF/I..J", "ABBC\nABBC\nDEEF\nDGHF\nI..J\n",
                     "ABBC\r\nABBC\r\nDEEF\r\nDGHF\r\nI..J\r\n", "aBBc/aBBc/dEEf/dGHf/i..j\n"]:
            with tempfile.NamedTemporaryFile("w", newline="") as file:
                file.write(text)
                file.flush()
                answer = self.answer("klotski", "--board", file.name)
                self.assertEqual(answer["moves"], 116)
                self.replay(answer, "klotski", file.name)
        self.assertEqual(json.loads(run("klotski", "--board", "-", "--json",
                                        stdin="..../..../.AA./.AA./....").stdout)["path"], ["A down"])


class Limits(Case):
    def test_limit_exits_3_with_an_answer(self):
        for solver in SOLVERS:
            for limit in [("--node-limit", 1000), ("--time-limit", 0.05)]:
                for threads in [1, 2]:
                    args = sliding(HARD_FIFTEEN, "--solver", solver, *limit, "--threads", threads,
                                   rows=4, cols=4)
                    answer = self.answer(*args, code=3)
                    self.assertEqual((answer["solved"], answer["moves"]), (False, None))
                    self.assertGreaterEqual(answer["nodes"], 1000)
        for limit in [("--node-limit", 1000), ("--time-limit", 0.05)]:
            self.answer("queens", 16, "--count", *limit, code=3)

    def test_limit_is_said_in_words(self):
        done = run("queens", 16, "--count", "--node-limit", 1000)
        self.assertEqual(done.returncode, 3)
        self.assertIn("node limit", done.stdout)


class BadInput(unittest.TestCase):
    def refused(self, *args, stdin=None, says=""):
        done = run(*args, stdin=stdin)
        self.assertEqual(done.returncode, 2, (args, done.stdout, done.stderr))
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(says, done.stderr)

    def test_bad_input_exits_2_with_one_clear_line(self):
        self.refused(*sliding("1 2 3"), says="3 tiles given, the board has 9 cells")
        self.refused(*sliding("1 2 3 4 5 6 7 8 8"), says="tile 8 appears twice")
        self.refused(*sliding("1 2 3 4 5 6 7 9 0"), says="tile 9 is not in 0..8")
        self.refused(*sliding("1 2 3 4 5 6 7 -1 0"), says="tile -1 is not in 0..8")
        self.refused(*sliding("1 2 3 4 5 6 7 x 0"), says="'x' is no tile number")
        self.refused(*sliding("1 2 3 4 5 6 7 99999999999 0"), says="is no tile number")
        self.refused(*sliding("1 2 3 4 5 6 7 1\n2 0"), says="10 tiles given")
        self.refused(*sliding(""), says="0 tiles given")
        self.refused(*sliding(FARTHEST, "--goal", "1 2 3"), says="goal: 3 tiles")
        self.refused(*sliding(FARTHEST, "--goal", ""), says="goal")
        self.refused(*sliding(FARTHEST, rows=0), says="does not fit")
        self.refused(*sliding(FARTHEST, rows=65536, cols=65536), says="does not fit")
        self.refused(*sliding(FARTHEST, rows=-3), says="--rows")
        self.refused("sliding", "--rows", 3, "--start", FARTHEST, says="--cols")
        self.refused("queens", 0, says="n is 0")
        self.refused("queens", 33, says="n is 33")
        self.refused("queens", "eight")
        self.refused("queens", says="n is required")
        self.refused("queens", 8, "--solver", "magic", says="unknown solver 'magic'")
        self.refused("queens", 8, "--threads", "-1")
        self.refused("queens", 8, "--threads", "100000")
        self.refused("queens", 8, "--time-limit", "-1")
        self.refused("sudoku", says="unknown puzzle 'sudoku'")
        self.refused()
        self.refused("queens", 8, "--what", says="--what")

    def test_bad_klotski_boards_exit_2_with_one_clear_line(self):
        def board(text, says):
            self.refused("klotski", "--board", "-", stdin=text, says=says)
        board("ABBC/ABBC/DEEF/DGHF", "4 rows given, 5 are needed")
        board("ABBC/ABBC/DEEF/DGHF/I..J/....", "6 rows given")
        board("ABBC/ABBC/DEEF/DGHF/I..", "row 5 has 3 cells")
        board("ABBC/ABBC/DEEF/DGHF/I..?", "'?' in row 5")
        board("ABBC/ABBC/DEEF/DGHF/I.A.", "piece 'A' is broken")
        board("AAAC/.BBC/DBBF/DGHF/I..J", "piece 'A' is broken")
        board("ABBC/ABCC/DEEF/DGHF/I..J", "piece 'B' is broken")
        board("ABBC/ABDC/EFFG/EHIG/J..K", "piece 'B' is broken")
        board("ABCD/ABCD/..../..../....", "0 pieces are 2x2")
        board("AABB/AABB/..../..../....", "2 pieces are 2x2")
        board("", "is empty")
        self.refused("klotski", "--board", "/no/such/file", says="cannot open")


class Output(unittest.TestCase):
    def test_progress_is_silent_unless_asked_for(self):
        args = sliding(HARD_FIFTEEN, "--time-limit", 0.4, rows=4, cols=4)
        self.assertEqual(run(*args).stderr, "")
        told = run(*args, "--progress", "--json")
        self.assertIn("positions", told.stderr)
        self.assertEqual(list(json.loads(told.stdout)), KEYS)

    def test_progress_is_shown_on_a_terminal(self):
        ours, theirs = pty.openpty()
        args = sliding(HARD_FIFTEEN, "--time-limit", 0.4, rows=4, cols=4)
        done = subprocess.run([PUZZLE, *map(str, args)], stdout=subprocess.PIPE, stderr=theirs,
                              timeout=LIMIT_S, check=False)
        os.close(theirs)
        self.assertIn(b"positions", os.read(ours, 65536))
        self.assertNotIn(b"\x1b", done.stdout)
        os.close(ours)

    def test_show_draws_every_position(self):
        done = run(*sliding("1 2 3 4 5 6 0 7 8", "--show"))
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.endswith(
            "7, 8\n\n1 2 3\n4 5 6\n. 7 8\n\n1 2 3\n4 5 6\n7 . 8\n\n1 2 3\n4 5 6\n7 8 .\n"), done.stdout)
        drawn = run("klotski", "--show").stdout
        self.assertEqual(drawn.count("\n\n"), 117)
        self.assertIn("Q . . .", run("queens", 6, "--show").stdout + run("queens", 5, "--show").stdout)
        self.assertEqual(list(json.loads(run("queens", 6, "--show", "--json").stdout)), KEYS)

    def test_help_exits_0(self):
        for args in [("--help",), ("sliding", "--help"), ("klotski", "--help"), ("queens", "--help")]:
            self.assertEqual(run(*args).returncode, 0)


class Replay(unittest.TestCase):
    """The judge itself: it has to refuse what is wrong."""

    def judged(self, path, *args, moves=None, puzzle=None):
        answer = {"puzzle": puzzle or args[0], "solved": True, "path": path,
                  "moves": len(path) if moves is None else moves}
        done = subprocess.run([sys.executable, REPLAY, *map(str, args)], input=json.dumps(answer),
                              capture_output=True, text=True, timeout=LIMIT_S, check=False)
        return done.returncode

    def test_wrong_paths_are_refused(self):
        board = ("sliding", 3, 3, "1 2 3 4 5 6 0 7 8")
        self.assertEqual(self.judged([7, 8], *board), 0)
        self.assertEqual(self.judged([7], *board), 1)
        self.assertEqual(self.judged([8, 7], *board), 1)
        self.assertEqual(self.judged([7, 8], *board, moves=3), 1)
        self.assertEqual(self.judged([7, 8], *board, puzzle="queens"), 1)
        self.assertEqual(self.judged([1, 3, 0, 2], "queens", 4), 0)
        self.assertEqual(self.judged([1, 3, 0], "queens", 4), 1)
        self.assertEqual(self.judged([0, 1, 2, 3], "queens", 4), 1)
        self.assertEqual(self.judged(["I right"], "klotski"), 1)
        self.assertEqual(self.judged(["A down"], "klotski"), 1)
        self.assertEqual(self.judged(["I left"], "klotski"), 1)


if __name__ == "__main__":
    PUZZLE = sys.argv.pop(1)
    unittest.main()
