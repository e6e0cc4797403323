# puzzle_refusals.py: groups of puzzle_cli.py: what puzzle refuses as input, and replay.py as a path.
# SPDX-License-Identifier: MIT
import json
import subprocess
import sys
import tempfile
import unittest

from puzzle_case import FARTHEST, LIMIT_S, REPLAY, SUDOKU, run, sliding


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
        self.refused("chess", says="unknown puzzle 'chess'")
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

    def test_bad_rush_hour_boards_exit_2_with_one_clear_line(self):
        def board(text, says):
            self.refused("rush-hour", text, says=says)
        board("AA", "2 cells given, 36 are needed")
        board("o" * 36, "the red car, A, is missing")
        board("o" * 37, "37 cells given")
        board("", "0 cells given")
        board("......" * 2 + "AA...?" + "......" * 3, "'?' in cell 18")
        board("BC....B....." + "AA...." + "......" * 3, "car 'C' has one cell")
        board("BB...BB....." + "AA...." + "......" * 3, "car 'B' is no straight row")
        board("B.B........." + "AA...." + "......" * 3, "car 'B'")
        board("AA...." + "......" * 5, "A, does not lie in the third row")
        board("A.....A....." + "......" * 4, "A, does not lie in the third row")
        board("....../....../AA..../......", "4 rows given, 6 are needed")
        board("....../...../AA..../....../....../......", "row 2 has 5 cells")
        self.refused("rush-hour", says="board is required")
        self.refused("rush-hour", "-", stdin="", says="is empty")

    def test_bad_grids_exit_2_with_one_clear_line(self):
        def grid(text, *args, says):
            self.refused("sudoku", text, *args, says=says)
        grid("123", says="3 cells given, 81 are needed for boxes of 3x3")
        grid("1" * 82, says="82 cells given")
        grid("x" + "." * 80, says="'x' in r1c1 is neither empty nor in 1..9")
        grid("5" + "." * 15, "--box", "2x2", says="'5' in r1c1 is neither empty nor in 1..4")
        grid("11" + "." * 79, says="impossible, 1 is twice in a row: r1c1 and r1c2")
        grid("2" + "." * 8 + "2" + "." * 71, says="twice in a column: r1c1 and r2c1")
        grid("3" + "." * 9 + "3" + "." * 70, says="twice in a box: r1c1 and r2c2")
        for box in ["", "3", "3x", "x3", "0x3", "3x0", "-3x3", "axb", "3x3x3", "3 x 3"]:
            grid("." * 81, "--box", box, says="box")
        grid("." * 81, "--box", "6x5", says="30 cells in a box, 25 are possible")
        self.refused("sudoku", says="grid: it is missing")
        self.refused("sudoku", "", says="grid: it is empty")
        self.refused("sudoku", "--box", "2x2", says="grid: it is missing")

    def test_bad_trees_exit_2_with_one_clear_line(self):
        self.refused("uts", says="tree is required")
        self.refused("uts", "T6", says="unknown tree 'T6' (T1, T2, T3, T4, T5)")
        self.refused("uts", "T1", "--seed", "-1", says="--seed")
        self.refused("uts", "T1", "--seed", "one", says="--seed")

    def test_limits_of_0_and_below_exit_2_with_one_clear_line(self):
        for limit in ["--node-limit", "--time-limit", "--memory-limit"]:
            for value in ["0", "-1"]:
                self.refused("queens", 8, limit, value, says=f"{limit}: {value} is not above 0")
            self.refused("queens", 8, limit, "many", says=limit)

    def test_solvers_and_metrics_that_do_not_fit_exit_2_with_one_clear_line(self):
        self.refused("queens", 8, "--solver", "bidirectional", says="queens cannot name its goals")
        self.refused("sudoku", SUDOKU, "--solver", "bidirectional", says="sudoku cannot name its goals")
        self.refused("klotski", "--metric", "miles", says="unknown metric 'miles' (steps, moves)")
        self.refused("queens", 8, "--metric", "steps", says="--metric")


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

    def test_wrong_moves_of_cars_and_blocks_are_refused(self):
        board = "....../....../AA..B./....B./....../......"
        self.assertEqual(self.judged(["B down", "A right right right right"], "rush-hour", board), 0)
        steps = ["B down", *["A right"] * 4]
        self.assertEqual(self.judged(steps, "rush-hour", board, "--metric", "steps"), 0)
        for wrong in [[], ["B down"], ["A right right right right"], ["B down", "A right right right"],
                      ["B left", "A right right right right"], ["C down"], ["B"], ["B sideways"],
                      ["B down up down", "A right right right right"]]:
            self.assertEqual(self.judged(wrong, "rush-hour", board), 1, wrong)
        self.assertEqual(self.judged(["B down", "A right right right right"], "rush-hour", board,
                                     "--metric", "steps"), 1)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("..../..A./.BB./.BB./....")
            file.flush()
            self.assertEqual(self.judged(["B down"], "klotski", file.name), 0)
            self.assertEqual(self.judged(["A up left left", "B down"], "klotski", file.name), 1)
            self.assertEqual(self.judged(["A up left left", "B down"], "klotski", file.name,
                                         "--metric", "moves"), 0)
            self.assertEqual(self.judged(["A down", "B down"], "klotski", file.name), 1)

    def test_wrong_fills_are_refused(self):
        grid = "12343412214343.1"
        box = ("--box", "2x2")
        self.assertEqual(self.judged(["r4c3=2"], "sudoku", grid, *box), 0)
        for wrong in [[], ["r4c3=1"], ["r4c4=2"], ["r4c3"], ["r5c3=2"], ["r4c3=2", "r4c3=2"]]:
            self.assertEqual(self.judged(wrong, "sudoku", grid, *box), 1, wrong)

    def test_numbers_of_moves_and_counts_are_looked_at(self):
        answer = {"puzzle": "queens", "solved": True, "path": [], "moves": None}
        done = subprocess.run([sys.executable, REPLAY, "queens", "8"], input=json.dumps(answer),
                              capture_output=True, text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.judged([1, 3, 0, 2], "--moves", 4, "queens", 4, puzzle="queens"), 0)
        self.assertEqual(self.judged([1, 3, 0, 2], "--moves", 3, "queens", 4, puzzle="queens"), 1)
