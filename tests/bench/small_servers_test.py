#!/usr/bin/env python3
"""small_servers_test.py SUITE FOLDER: every case of suite tls or udp gives figures with the programs of FOLDER, in a twentieth of a second each.
SPDX-License-Identifier: MIT

So that the suite cannot rot between two runs. It says nothing about speed.
"""
import math, os, sys, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import goals, tls_cases, udp_cases  # noqa: E402

SUITES = {"tls": tls_cases, "udp": udp_cases}
suite = programs = None


def rows():
    """tandem's and the floor's."""
    found = []
    for impl, (role, program, _, _) in SUITES[suite].IMPLS.items():
        if role != "peer":
            about = {"suite": suite, "impl": impl, "role": role, "compiler": "", "preset": "", "threads": 1, "version": "",
                     "extra": False}
            found += SUITES[suite].rows_of(about, f"{programs}/{suite}_load", f"{programs}/{program}")
    return found


class served_bench(unittest.TestCase):
    def test_every_case_gives_figures_in_a_twentieth_of_a_second(self):
        SUITES[suite].SECONDS = 0.05
        cpus = sorted(os.sched_getaffinity(0))
        for row in rows():
            if "run" in row:
                with self.subTest(case=row["case"], impl=row["impl"]):
                    got = row["run"](cpus=cpus)["values"]
                    for filled in row["fills"]:
                        self.assertTrue(math.isfinite(got[filled["metric"]]))
                        # User time is counted in ticks, of which there may be none.
                        self.assertGreaterEqual(got[filled["metric"]], 0)
                    self.assertGreater(got[row["metric"]], 0)

    def test_no_two_rows_have_the_same_name(self):
        names = [(row["case"], row["impl"]) for row in rows()]
        self.assertEqual(len(names), len(set(names)))

    def test_every_goal_is_of_a_row_that_there_is(self):
        names = {(row["case"], row["impl"]) for row in rows()}
        self.assertEqual(set(), {goal[:2] for goal in goals.GOALS[suite]} - names)


if __name__ == "__main__":
    suite = sys.argv.pop(1)
    programs = os.path.abspath(sys.argv.pop(1))
    unittest.main(warnings="ignore")
