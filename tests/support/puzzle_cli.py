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

os.environ["TANDEM_TEST_PUZZLE"] = sys.argv[1] if len(sys.argv) > 1 else ""

import emulated  # noqa: E402
from puzzle_case import (DEPTH_FIRST, FARTHEST, FIFTEEN, HARD_FIFTEEN, KEYS, KORF_12, KORF_55, KORF_GOAL,  # noqa: E402
                         LIMIT_S, PUZZLE, RUSH_HOURS, SANITIZED, SHORTEST, SOLVERS, STUCK_RUSH_HOUR,
                         SUDOKU, TREE_SOLVERS, UNSOLVABLE, Case, run, sliding)
from puzzle_refusals import BadInput, Replay  # noqa: E402,F401



class Answers(Case):
    def test_every_path_of_every_solver_can_be_played(self):
        for solver in SOLVERS:
            for threads in [0, 1, 2, 4]:
                with self.subTest(solver=solver, threads=threads):
                    common = ("--solver", solver, "--threads", threads)
                    self.replay(self.answer(*sliding(FARTHEST), *common), "sliding", 3, 3, FARTHEST)
                    for board, _, _ in RUSH_HOURS[:1]:
                        self.replay(self.answer("rush-hour", board, *common), "rush-hour", board)
                    if solver != "iterative_deepening":
                        self.replay(self.answer("klotski", *common), "klotski")
                    if solver != "bidirectional":
                        self.replay(self.answer("queens", 8, *common), "queens", 8)
                        self.replay(self.answer("sudoku", SUDOKU, *common), "sudoku", SUDOKU)

    def test_shortest_paths_have_the_known_lengths(self):
        for threads in [1, 2, 4]:
            for solver in SHORTEST:
                common = ("--threads", threads, "--solver", solver)
                eight = self.answer(*sliding(FARTHEST), *common)
                self.assertEqual((eight["moves"], eight["solver"]), (31, solver))
                fifteen = self.answer(*sliding(FIFTEEN, rows=4, cols=4), *common)
                self.assertEqual(fifteen["moves"], 14)
                self.replay(fifteen, "sliding", 4, 4, FIFTEEN)
                if solver != "iterative_deepening":
                    for metric, moves in [("steps", 116), ("moves", 81)]:
                        klotski = self.answer("klotski", "--metric", metric, *common)
                        self.assertEqual(klotski["moves"], moves, solver)
                        self.replay(klotski, "--moves", moves, "klotski", "--metric", metric)

    def test_rush_hour_boards_need_the_known_numbers_of_moves_and_steps(self):
        for board, moves, steps in RUSH_HOURS:
            for solver in SHORTEST:
                if solver == "iterative_deepening" and moves > 10:
                    continue  # minutes
                for metric, cost in [("moves", moves), ("steps", steps)]:
                    answer = self.answer("rush-hour", board, "--metric", metric, "--solver", solver)
                    self.assertEqual(answer["moves"], cost, (board, solver, metric))
                    self.replay(answer, "--moves", cost, "rush-hour", board, "--metric", metric)
        for solver in SOLVERS:
            stuck = self.answer("rush-hour", STUCK_RUSH_HOUR, "--solver", solver)
            self.assertEqual((stuck["solved"], stuck["moves"], stuck["path"]), (False, None, []))
        done = run("rush-hour", "-", stdin="\n".join(RUSH_HOURS[0][0][i:i + 6] for i in range(0, 36, 6)))
        self.assertIn("solved in 3 moves", done.stdout)

    @unittest.skipIf(SANITIZED, "some minutes under a sanitizer")
    def test_korf_instances_12_and_55_need_45_and_41_moves(self):
        for start, moves in [(KORF_12, 45), (KORF_55, 41)]:
            for solver in ["iterative_deepening", "best_first"]:
                answer = self.answer(*sliding(start, "--goal", KORF_GOAL, "--solver", solver, rows=4, cols=4))
                self.assertEqual((answer["moves"], answer["solver"]), (moves, solver))
                self.replay(answer, "--moves", moves, "sliding", 4, 4, start, KORF_GOAL)

    def test_unbalanced_trees_have_the_known_nodes_depths_and_leaves(self):
        known = {"T1": (4130071, 10, 3305118), "T2": (4117769, 81, 2342762), "T3": (4112897, 1572, 3599034),
                 "T4": (4132453, 134, 3108986), "T5": (4147582, 20, 2181318)}
        for tree in ["T1"] if SANITIZED else known:
            answer = self.answer("uts", tree, keys=KEYS + ["depth", "leaves"])
            self.assertEqual((answer["nodes"], answer["depth"], answer["leaves"]), known[tree])
            self.assertEqual((answer["solved"], answer["moves"], answer["path"]), (True, None, []))
        alike = [self.answer("uts", "T3", "--seed", 7, *extra, keys=KEYS + ["depth", "leaves"])
                 for extra in [(), ("--solver", "sequential")]]
        self.assertEqual(alike[0]["nodes"], alike[1]["nodes"])
        self.assertEqual(alike[0]["leaves"], alike[1]["leaves"])
        self.assertNotEqual(alike[0]["nodes"], known["T3"][0])

    def test_sudokus_are_solved_and_counted(self):
        for solver in TREE_SOLVERS:
            answer = self.answer("sudoku", SUDOKU, "--solver", solver)
            self.assertEqual(answer["moves"], SUDOKU.count("."))
            self.replay(answer, "--moves", SUDOKU.count("."), "sudoku", SUDOKU)
            self.assertFalse(self.answer("sudoku", "123....4........", "--box", "2x2",
                                         "--solver", solver)["solved"])
        for box, grids in [("1x1", 1), ("2x2", 288), ("2x3", 28200960), ("3x2", 28200960), ("1x4", 576)]:
            for solver in ["racing", "sequential"]:
                answer = self.answer("sudoku", "--count", "--box", box, "--solver", solver)
                self.assertEqual((answer["solutions"], answer["moves"]), (grids, None))
        self.assertEqual(self.answer("sudoku", SUDOKU, "--count")["solutions"], 1)
        self.assertEqual(self.answer("sudoku", "123....4........", "--box", "2x2", "--count")["solutions"], 0)
        empty = "0" * 256
        self.replay(self.answer("sudoku", empty, "--box", "4x4"), "sudoku", empty, "--box", "4x4")
        filled = self.answer("sudoku", "1234341221434321", "--box", "2x2")
        self.assertEqual((filled["solved"], filled["moves"], filled["path"]), (True, 0, []))

    def test_unsolvable_board_is_given_up_after_exactly_181440_positions(self):
        for solver in DEPTH_FIRST + ["breadth_first"]:
            for threads in [1, 2, 4]:
                answer = self.answer(*sliding(UNSOLVABLE), "--solver", solver, "--threads", threads)
                self.assertEqual((answer["solved"], answer["moves"], answer["path"]), (False, None, []))
                self.assertEqual((answer["nodes"], answer["solutions"]), (181440, 0))

    def test_estimate_tells_of_an_unsolvable_board_at_once(self):
        for solver in ["iterative_deepening", "best_first"]:
            for board, rows, cols in [(UNSOLVABLE, 3, 3), ("2 1 0 3", 1, 4), ("2 1 0 3", 4, 1),
                                      (" ".join(map(str, [*range(1, 14), 15, 14, 0])), 4, 4)]:
                answer = self.answer(*sliding(board, "--solver", solver, rows=rows, cols=cols))
                self.assertFalse(answer["solved"])
                self.assertLessEqual(answer["nodes"], 1)

    def test_queens_are_counted(self):
        known = [1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200]
        for solver in [None, "sequential", "best_first"]:
            extra = ["--solver", solver] if solver else []
            counts = [self.answer("queens", n, "--count", *extra)["solutions"] for n in range(1, 13)]
            self.assertEqual(counts, known)
        answer = self.answer("queens", 8, "--count")
        self.assertEqual((answer["solved"], answer["moves"], answer["path"]), (True, None, []))

    def test_queens_without_a_solution_are_no_error(self):
        for n in [2, 3]:
            for solver in TREE_SOLVERS:
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
                    self.assertGreaterEqual(answer["nodes"], 1)
        for limit in [("--node-limit", 1000), ("--time-limit", 0.05)]:
            self.answer("queens", 16, "--count", *limit, code=3)
            self.answer("sudoku", "--count", *limit, code=3)
            self.answer("uts", "T1", *limit, code=3, keys=KEYS + ["depth", "leaves"])
            self.answer("klotski", "--node-limit", 1000, code=3)

    def test_memory_limit_exits_3_for_solvers_that_keep_positions(self):
        for solver in SOLVERS:
            if solver != "iterative_deepening":
                args = sliding(HARD_FIFTEEN, "--solver", solver, "--memory-limit", 4, rows=4, cols=4)
                self.assertFalse(self.answer(*args, code=3)["solved"])
        done = run(*sliding(HARD_FIFTEEN, "--solver", "racing", "--memory-limit", 4, rows=4, cols=4))
        self.assertIn("memory limit", done.stdout)

    def test_limit_is_said_in_words(self):
        done = run("queens", 16, "--count", "--node-limit", 1000)
        self.assertEqual(done.returncode, 3)
        self.assertIn("node limit", done.stdout)


class Output(unittest.TestCase):
    def test_progress_is_silent_unless_asked_for(self):
        args = sliding(HARD_FIFTEEN, "--time-limit", 2, "--solver", "breadth_first", rows=4, cols=4)
        self.assertEqual(run(*args).stderr, "")
        told = run(*args, "--progress", "--json")
        self.assertIn("positions", told.stderr)
        self.assertEqual(list(json.loads(told.stdout)), KEYS)

    @unittest.skipIf(emulated.EMULATOR, "to a program for Windows a terminal of this system is none")
    def test_progress_is_shown_on_a_terminal(self):
        ours, theirs = pty.openpty()
        args = sliding(HARD_FIFTEEN, "--time-limit", 2, "--solver", "breadth_first", rows=4, cols=4)
        done = subprocess.run([*emulated.command(PUZZLE), *map(str, args)], stdout=subprocess.PIPE, stderr=theirs,
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
        self.assertEqual(run("klotski", "--metric", "moves", "--show").stdout.count("\n\n"), 82)
        cars = run("rush-hour", RUSH_HOURS[0][0], "--show").stdout
        self.assertEqual(cars.count("\n\n"), 4)
        self.assertTrue(cars.endswith("BBBJL.\nCC.JL.\nI...AA\nI....M\nEE.K.M\n...K.M\n"), cars)
        grid = run("sudoku", "12343412214343..", "--box", "2x2", "--show").stdout
        self.assertTrue(grid.endswith("1 2  3 4\n3 4  1 2\n\n2 1  4 3\n4 3  2 1\n"), grid)
        self.assertIn("Q . . .", run("queens", 6, "--show").stdout + run("queens", 5, "--show").stdout)
        self.assertEqual(list(json.loads(run("queens", 6, "--show", "--json").stdout)), KEYS)

    def test_help_exits_0(self):
        for args in [("--help",)] + [(puzzle, "--help") for puzzle in
                                     ["sliding", "klotski", "rush-hour", "queens", "sudoku", "uts"]]:
            self.assertEqual(run(*args).returncode, 0)


if __name__ == "__main__":
    sys.argv.pop(1)
    unittest.main()
