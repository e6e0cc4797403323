# puzzle_case.py: what the groups of puzzle_cli.py share: running puzzle, checking answers, replaying paths.
# SPDX-License-Identifier: MIT
import json
import os
import subprocess
import sys
import unittest

import emulated

PUZZLE = os.environ.get("TANDEM_TEST_PUZZLE", "")
REPLAY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "replay.py")
LIMIT_S = float(os.environ.get("TANDEM_TEST_LIMIT_SECONDS", "60"))
# A sanitized build is some ten times slower: what is said to be large is left out there.
SANITIZED = bool(os.environ.get("TANDEM_TEST_SANITIZED"))
DEPTH_FIRST = ["sequential", "racing"]
SHORTEST = ["breadth_first", "bidirectional", "iterative_deepening", "best_first"]
SOLVERS = DEPTH_FIRST + SHORTEST
TREE_SOLVERS = [solver for solver in SOLVERS if solver != "bidirectional"]
KEYS = ["puzzle", "solver", "solved", "moves", "path", "nodes", "solutions", "milliseconds", "threads"]
FARTHEST = "8 6 7 2 5 4 3 0 1"
UNSOLVABLE = "1 2 3 4 5 6 8 7 0"
# An easy 15-puzzle: some 78,000 positions are as near to it as its goal.
FIFTEEN = "1 2 7 3 5 6 11 4 13 9 8 12 10 0 14 15"
# Instances 12 and 55 of Korf's 15-puzzles, 45 and 41 moves: endless without an estimate.
KORF_12 = "14 1 9 6 4 8 12 5 7 2 3 0 10 11 13 15"
KORF_55 = "13 8 14 3 9 1 0 7 15 5 4 10 12 2 6 11"
# Endless for every practical purpose: more than 60 moves, of which estimates know little.
HARD_FIFTEEN = "15 14 8 12 10 11 13 9 2 6 5 1 3 7 4 0"
KORF_GOAL = " ".join(map(str, range(16)))
# Cars; moves; steps.
RUSH_HOURS = [("BBBoLoCCooLMIAAJoMIooJoMEEoKoooooKoo", 3, 7),
              ("BBoKMxDDDKMoIAALooIoJLEEooJFFNoGGoxN", 58, 110)]
STUCK_RUSH_HOUR = "..B.../..B.../AAB.../..x.../....../......"
SUDOKU = "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4.."


def run(*args, stdin=None):
    return subprocess.run([*emulated.command(PUZZLE), *map(str, args)], input=stdin, capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)


def sliding(start, *args, rows=3, cols=3):
    return ("sliding", "--rows", rows, "--cols", cols, "--start", start, *args)


class Case(unittest.TestCase):
    def answer(self, *args, code=0, keys=None):
        done = run(*args, "--json")
        self.assertEqual(done.returncode, code, (args, done.stderr))
        self.assertEqual(done.stderr, "")
        answer = json.loads(done.stdout)  # exactly one object: anything after it is an error
        self.assertEqual(list(answer), keys or KEYS)
        self.assertIsInstance(answer["milliseconds"], float)
        self.assertGreaterEqual(answer["threads"], 1)
        return answer

    def replay(self, answer, *args):
        done = subprocess.run([sys.executable, REPLAY, *map(str, args)], input=json.dumps(answer),
                              capture_output=True, text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
