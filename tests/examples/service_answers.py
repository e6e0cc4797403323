#!/usr/bin/env python3
# service_answers.py: puzzle_service answers what it has to, and goes on when it should.
# SPDX-License-Identifier: MIT
"""service_answers.py PUZZLE_SERVICE [unittest arguments]"""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

SUPPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support")
sys.path.insert(0, SUPPORT)
import emulated  # noqa: E402
from service_process import PATIENCE, Service, request  # noqa: E402

SERVICE = ""
FARTHEST = [8, 6, 7, 2, 5, 4, 3, 0, 1]
UNSOLVABLE = [1, 2, 3, 4, 5, 6, 8, 7, 0]
# Neither of these ends by itself in the life of a test.
ENDLESS = {"puzzle": "queens", "n": 22, "count": True}


def eight(start, **more):
    return {"puzzle": "sliding", "rows": 3, "cols": 3, "start": start, "goal": [1, 2, 3, 4, 5, 6, 7, 8, 0], **more}


def replay(answer, *arguments):
    played = subprocess.run([sys.executable, os.path.join(SUPPORT, "replay.py"), *arguments],
                            input=json.dumps(answer), capture_output=True, text=True, check=False)
    if played.returncode != 0:
        raise AssertionError(played.stdout + played.stderr)


class Solving(unittest.TestCase):
    def setUp(self):
        self.service = Service(SERVICE, "--search-time", "0")  # a slow machine is no reason to give up
        self.addCleanup(self.service.__exit__, None, None, None)

    def solve(self, **question):
        answer = self.service.solve(**question)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()

    def test_every_solver_solves_the_farthest_eight_puzzle(self):
        start = " ".join(map(str, FARTHEST))
        for solver in ("breadth_first", "racing", "sequential"):
            answer = self.solve(**eight(FARTHEST, solver=solver))
            replay(answer, *(["--moves", "31"] if solver == "breadth_first" else []), "sliding", "3", "3", start)
            self.assertEqual(answer["solver"], solver)
            self.assertIs(type(answer["threads"]), int)
            self.assertTrue(answer["worker_threads"])
            self.assertTrue(answer["completion_threads"])
            self.assertFalse(set(answer["worker_threads"]) & set(answer["completion_threads"]))

    def test_every_solver_visits_half_of_all_positions_of_an_unsolvable_board(self):
        for solver in ("breadth_first", "racing", "sequential"):
            answer = self.solve(**eight(UNSOLVABLE, solver=solver))
            self.assertEqual((answer["solved"], answer["moves"], answer["nodes"], answer["outcome"]),
                             (False, None, 181440, "exhausted"))

    def test_klotski_takes_116_steps(self):
        answer = self.solve(puzzle="klotski", board="ABBC/ABBC/DEEF/DGHF/I..J")
        replay(answer, "--moves", "116", "klotski")

    def test_queens(self):
        replay(self.solve(puzzle="queens", n=8), "queens", "8")
        counts = [self.solve(puzzle="queens", n=n, count=True)["solutions"] for n in range(1, 11)]
        self.assertEqual(counts, [1, 0, 0, 2, 10, 4, 40, 92, 352, 724])

    def test_rush_hour_and_klotski_have_an_optimum_in_each_metric(self):
        board = "BBBoLoCCooLMIAAJoMIooJoMEEoKoooooKoo"
        for metric, rush_hour, klotski in (("moves", 3, 81), ("steps", 7, 116)):
            for solver in ("breadth_first", "bidirectional", "best_first"):
                answer = self.solve(puzzle="rush-hour", board=board, metric=metric, solver=solver)
                replay(answer, "--moves", str(rush_hour), "rush-hour", board, "--metric", metric)
            replay(self.solve(puzzle="klotski", metric=metric), "--moves", str(klotski), "klotski", "--metric", metric)

    def test_a_15_puzzle_of_korf_is_solved_in_41_moves(self):
        start, goal = "13 8 14 3 9 1 0 7 15 5 4 10 12 2 6 11", " ".join(map(str, range(16)))
        for solver in ("iterative_deepening", "best_first"):
            answer = self.solve(puzzle="sliding", rows=4, cols=4, start=start, goal=goal, solver=solver)
            replay(answer, "--moves", "41", "sliding", "4", "4", start, goal)

    def test_sudoku_and_unbalanced_trees(self):
        grid = "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4.."
        replay(self.solve(puzzle="sudoku", grid=grid), "sudoku", grid, "--box", "3x3")
        self.assertEqual(self.solve(puzzle="sudoku", box="2x2", count=True)["solutions"], 288)
        tree = self.solve(puzzle="uts", tree="T1")
        self.assertEqual([tree[key] for key in ("nodes", "depth", "leaves", "moves")], [4130071, 10, 3305118, None])

    def test_more_threads_than_there_are_search_as_all_of_them_do(self):
        for threads in (0, 1, 1000):
            answer = self.solve(puzzle="queens", n=10, count=True, threads=threads)
            self.assertEqual(answer["solutions"], 724)

    def test_a_limit_of_the_request_is_an_answer(self):
        answer = self.solve(puzzle="queens", n=16, count=True, node_limit=1000)
        self.assertEqual(answer["outcome"], "node_limit")
        answer = self.solve(**eight(UNSOLVABLE, memory_limit_bytes=1 << 20))
        self.assertEqual((answer["outcome"], answer["solved"]), ("memory_limit", False))


class Limits(unittest.TestCase):
    def test_a_limit_of_the_service_is_422(self):
        with Service(SERVICE, "--search-nodes", "1000") as service:
            answer = service.solve(**eight(UNSOLVABLE))
            self.assertEqual(answer.status, 422)
            self.assertIn("1000 positions", answer.json()["error"])
        with Service(SERVICE, "--search-memory", "1") as service:
            answer = service.solve(**eight(UNSOLVABLE))
            self.assertEqual(answer.status, 422)
            self.assertIn("1 MiB", answer.json()["error"])
        with Service(SERVICE, "--search-time", "0.05") as service:
            answer = service.solve(**ENDLESS)
            self.assertEqual(answer.status, 422)
            self.assertIn("50 ms", answer.json()["error"])

    def test_a_search_too_many_is_503(self):
        with Service(SERVICE, "--searches", "1", "--grace", "0") as service, service.connect() as first:
            first.send(request("POST", "/solve", json.dumps(ENDLESS)))
            service.wait_for("a search", lambda stats: stats["searches"]["running"] == 1)
            self.assertEqual(service.solve(**eight(FARTHEST)).status, 503)

    def test_a_connection_too_many_is_503_and_the_next_after_it_is_served(self):
        with Service(SERVICE, "--connections", "20") as service:
            clients = [service.connect() for _ in range(20)]
            for client in clients:
                client.send(request("GET", "/stats"))
                self.assertEqual(client.answer().status, 200)
            for _ in range(5):
                with service.connect() as late:
                    answer = late.answer()
                    self.assertEqual((answer.status, answer.headers["connection"], answer.headers["retry-after"]), (503, "close", "1"))
                    self.assertTrue(answer.json()["error"])
                    self.assertTrue(late.at_end())
            clients[0].socket.close()
            while True:  # until the service has noticed
                with service.connect() as late:
                    late.send(request("GET", "/stats"))
                    if late.answer().status == 200:
                        break
            for client in clients:
                client.socket.close()

    def test_past_the_second_limit_connections_are_closed_and_counted(self):
        with Service(SERVICE, "--connections", "1", "--turned-away", "0") as service, service.connect() as client:
            client.send(request("GET", "/stats"))
            self.assertEqual(client.answer().json()["connections"], {"open": 1, "total": 1, "refused": 0, "closed": 0})
            for _ in range(3):
                with service.connect() as late:
                    self.assertTrue(late.at_end())
            client.send(request("GET", "/stats"))
            self.assertEqual(client.answer().json()["connections"], {"open": 1, "total": 1, "refused": 0, "closed": 3})

    def test_the_1001st_connection_is_503(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < 2200:
            self.skipTest("fewer than 2200 descriptors allowed")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2200), hard))
        with Service(SERVICE) as service:
            clients = [service.connect() for _ in range(1000)]
            for client in (clients[0], clients[-1]):
                client.send(request("GET", "/stats"))
                self.assertEqual(client.answer().status, 200)
            with service.connect() as late:
                self.assertEqual(late.answer().status, 503)
            for client in clients:
                client.socket.close()

    def test_running_out_of_descriptors_ends_nothing(self):
        few = 64 if emulated.EMULATOR else 40  # each thread of wine has some of its own
        def few_descriptors():
            resource.setrlimit(resource.RLIMIT_NOFILE, (few, few))
        with Service(SERVICE, before_exec=few_descriptors) as service:
            clients = [service.connect() for _ in range(60)]  # some of them only in the backlog
            for client in clients:
                client.socket.close()
            self.assertEqual(service.request("GET", "/stats").status, 200)


SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{([a-z]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z]+="(?:[^"\\\n]|\\["\\n])*")*)\})? '
                    r'(-?[0-9.]+(?:e[+-][0-9]+)?|[+-]Inf|NaN)')


def read_metrics(text):
    """Samples by name and labels. Raises on what is not Prometheus' text format 0.0.4."""
    found, family, kind = {}, "", ""
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("# HELP "):
            family, kind = line.split(" ")[2], ""
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == family and kind in ("counter", "gauge", "histogram"), line
        else:
            sample = SAMPLE.fullmatch(line)
            assert sample and kind, line
            endings = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
            assert sample[1] in [family + ending for ending in endings], line
            assert (sample[1], sample[2]) not in found, line
            found[sample[1], sample[2]] = float(sample[3])
    return found


class Metrics(unittest.TestCase):
    def read(self, client):
        client.send(request("GET", "/metrics"))
        answer = client.answer()
        self.assertEqual((answer.status, answer.headers["content-type"]),
                         (200, "text/plain; version=0.0.4; charset=utf-8"))
        text = answer.body if isinstance(answer.body, str) else answer.body.decode()
        promtool = shutil.which("promtool")
        if promtool:
            subprocess.run([promtool, "check", "metrics"], input=text, text=True, check=True)
        return read_metrics(text)

    def test_metrics_are_well_formed_and_tell_of_both_pools_idle_and_under_load(self):
        with Service(SERVICE, "--grace", "0") as service, service.connect() as client, service.connect() as busy:
            idle = self.read(client)
            name = 'runtime="puzzle"'
            self.assertEqual(idle["puzzle_searches_running", None], 0)
            self.assertGreaterEqual(idle["tandem_completion_threads", name], 1)
            busy.send(request("POST", "/solve", json.dumps(ENDLESS)))
            service.wait_for("a search", lambda stats: stats["searches"]["running"] == 1)
            # A search counts as running before a worker has taken it.
            grow = ("tandem_items_total", "tandem_completions_total", "tandem_completion_batch_size_count",
                    "tandem_run_seconds_count", "tandem_queue_wait_seconds_count")
            end = time.monotonic() + PATIENCE
            while True:
                loaded = self.read(client)
                self.assertEqual(loaded["puzzle_searches_running", None], 1)
                still = [counter for counter in grow if loaded[counter, name] <= idle[counter, name]]
                if not any(value for (metric, _), value in loaded.items() if metric == "tandem_worker_thread_injections_total"):
                    still.append("injections")
                if not still:
                    break
                self.assertLess(time.monotonic(), end, f"never grew: {still}")
                time.sleep(0.01)


class Life(unittest.TestCase):
    def test_stats_are_answered_while_a_search_holds_all_workers(self):
        with Service(SERVICE, "--threads", "2", "--grace", "0") as service, service.connect() as busy:
            busy.send(request("POST", "/solve", json.dumps(ENDLESS)))
            service.wait_for("a search", lambda stats: stats["searches"]["running"] == 1)
            # The pool may have more threads than it lets work.
            service.wait_for("both workers", lambda stats: stats["workers"]["threads"] - stats["workers"]["idle"] >= 2)
            with service.connect() as client:
                for _ in range(200):
                    client.send(request("GET", "/stats"))
                    stats = client.answer().json()
                    self.assertEqual(stats["searches"]["running"], 1)

    def test_a_client_that_leaves_stops_its_search(self):
        for how in ("close", "reset", "end of stream"):
            with Service(SERVICE) as service:
                client = service.connect()
                client.send(request("POST", "/solve", json.dumps(ENDLESS)))
                service.wait_for("a search", lambda stats: stats["searches"]["running"] == 1)
                if how == "reset":
                    client.socket.setsockopt(1, 13, b"\1\0\0\0\0\0\0\0")  # SO_LINGER, 0 s
                if how == "end of stream":
                    client.socket.shutdown(1)
                else:
                    client.socket.close()
                service.wait_for("its end", lambda stats: stats["searches"]["running"] == 0)
                self.assertEqual(service.stats()["searches"]["stopped"], 1)
                client.socket.close()

    def test_requests_sent_during_a_search_are_answered_after_it(self):
        with Service(SERVICE, "--search-time", "4") as service, service.connect() as client:
            client.send(request("POST", "/solve", json.dumps(ENDLESS)))
            service.wait_for("a search", lambda stats: stats["searches"]["running"] == 1)
            for _ in range(3):
                client.send(request("GET", "/stats"))
            client.send(request("POST", "/solve", json.dumps({"puzzle": "queens", "n": 8})))
            self.assertEqual([client.answer().status for _ in range(5)], [422, 200, 200, 200, 200])

    def test_a_signal_closes_idle_connections_and_finishes_answers(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with Service(SERVICE, "--search-time", "4", "--grace", "60") as service:
                idle, half, busy = service.connect(), service.connect(), service.connect()
                idle.send(request("GET", "/stats"))
                idle.answer()
                half.send(b"GET /stats HT")
                busy.send(request("POST", "/solve", json.dumps(ENDLESS)))
                service.wait_for("a search", lambda stats: stats["searches"]["running"] == 1)
                service.send_signal(number)
                answer = busy.answer()
                self.assertEqual((answer.status, answer.headers["connection"]), (422, "close"))
                self.assertTrue(idle.at_end() and half.at_end() and busy.at_end())
                self.assertEqual(service.process.wait(60), 0, service.errors())
                for client in (idle, half, busy):
                    client.socket.close()

    def test_what_does_not_end_within_the_grace_time_is_stopped(self):
        with Service(SERVICE, "--grace", "0.1") as service, service.connect() as busy:
            busy.send(request("POST", "/solve", json.dumps(ENDLESS)))
            service.wait_for("a search", lambda stats: stats["searches"]["running"] == 1)
            service.stop()
            self.assertTrue(busy.at_end())

    def test_it_starts_and_ends_without_a_client(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with Service(SERVICE) as service:
                service.stop(number)


if __name__ == "__main__":
    SERVICE = sys.argv.pop(1)
    unittest.main(verbosity=2)
