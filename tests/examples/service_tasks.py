#!/usr/bin/env python3
# service_tasks.py: puzzle_service tells whoever runs it what its tasks wait for.
# SPDX-License-Identifier: MIT
"""service_tasks.py PUZZLE_SERVICE [unittest arguments]"""
import json
import os
import re
import signal
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import emulated  # noqa: E402
from service_process import PATIENCE, Service, request  # noqa: E402

SERVICE = ""
# Does not end by itself in the life of a test.
ENDLESS = {"puzzle": "queens", "n": 22, "count": True}


def groups(dump):
    """(name, how many, the node) of each group of tasks, in whatever scope it is."""
    def walk(nodes, times):
        for node in nodes:
            count = times * node.get("count", 1)
            if "spawned_at" in node:
                yield node.get("name", ""), count, node
            yield from walk(node.get("children", []), count)
    return list(walk(dump["tasks"], 1))


def count_of(dump, name):
    return sum(count for each, count, _ in groups(dump) if each == name)


def waits_of(node):
    """Those of the task itself, with its scopes and time limits."""
    below = [wait for each in node.get("children", []) if "spawned_at" not in each for wait in waits_of(each)]
    return node.get("waits", []) + below


def all_wait(dump, expected):
    """Whether each task of one of these names waits for what it is expected to, and one can see where."""
    return all(any(expected[name] in wait["text"] and wait["frames"] for wait in waits_of(node))
               for name, _, node in groups(dump) if name in expected)


class Tasks(unittest.TestCase):
    def dump(self, service):
        answer = service.request("GET", "/debug/tasks")
        self.assertEqual((answer.status, answer.headers["content-type"]), (200, "application/json"))
        return answer.json()

    def dump_when(self, service, what, condition):
        end = time.monotonic() + PATIENCE
        while not condition(dump := self.dump(service)):
            self.assertLess(time.monotonic(), end, f"never came: {what}; {groups(dump)}")
            time.sleep(0.05)
        return dump

    def test_each_task_is_told_of_by_its_name_with_what_it_waits_for(self):
        with Service(SERVICE) as service:
            clients = [service.connect() for _ in range(5)]
            for client in clients:
                client.send(request("GET", "/stats"))
                client.answer()
            streams = [service.connect() for _ in range(2)]
            for stream in streams:
                stream.send(request("GET", "/events?interval_ms=60000"))
            expected = {"connection": "read", "GET /events": "an event", "watches a client": "read"}
            # A task that has been spawned may still be on its way to its wait.
            dump = self.dump_when(service, "all of them, each at its wait", lambda dump: count_of(dump, "connection") == 5 and
                                  count_of(dump, "GET /events") == 2 and count_of(dump, "watches a client") == 3 and
                                  all_wait(dump, expected))
            self.assertEqual(dump["runtime"], "puzzle")
            self.assertEqual(dump["process"] == service.process.pid, not emulated.EMULATOR)
            self.assertEqual(count_of(dump, "GET /debug/tasks"), 1)
            self.assertGreaterEqual(count_of(dump, "service"), 1)
            self.assertEqual([name for name, _, _ in groups(dump) if not name], [], "tasks without a name")
            text = service.request("GET", "/debug/tasks?format=text")
            self.assertEqual((text.status, text.headers["content-type"]), (200, "text/plain; charset=utf-8"))
            self.assertIn('"connection"', text.body.decode())
            for client in clients + streams:
                client.socket.close()

    def test_tasks_and_advice_are_told_while_a_search_holds_all_workers(self):
        with Service(SERVICE, "--threads", "2", "--grace", "0", "--search-time", "0") as service, service.connect() as busy:
            busy.send(request("POST", "/solve", json.dumps(ENDLESS)))
            service.wait_for("both workers", lambda stats: stats["workers"]["threads"] - stats["workers"]["idle"] >= 2)
            dump = self.dump_when(service, "the search", lambda dump: any(
                each["role"] == "worker" and each["state"] == "runs" and "task" in each for each in dump["threads"]))
            solving = {node["id"] for name, _, node in groups(dump) if name == "POST /solve"}
            self.assertEqual(len(solving), 1)
            running = {each["task"] for each in dump["threads"] if each["role"] == "worker" and "task" in each}
            self.assertEqual(running, solving)
            advice = service.request("GET", "/debug/advice")
            self.assertEqual((advice.status, list(advice.json())), (200, ["advice"]))
            self.assertTrue(all(isinstance(each, str) and each for each in advice.json()["advice"]))
            self.assertEqual(service.stats()["searches"]["running"], 1)

    def test_whoever_asks_at_the_same_time_gets_the_same(self):
        with Service(SERVICE) as service:
            clients = [service.connect() for _ in range(20)]
            for client in clients:
                client.send(request("GET", "/debug/advice"))  # takes a fifth of a second, on one thread after the other if it were made for each
                client.send(request("GET", "/debug/tasks"))
            self.assertEqual({client.answer().status for client in clients}, {200})
            dumps = {client.answer().body for client in clients}
            self.assertLess(len(dumps), len(clients))
            for client in clients:
                client.socket.close()

    def test_those_that_ask_are_not_what_the_advice_is_about(self):
        with Service(SERVICE) as service, service.connect() as client:
            is_over = threading.Event()

            def ask(path):
                with service.connect() as other:
                    while not is_over.is_set():
                        other.send(request("GET", path))
                        other.answer()
            others = [threading.Thread(target=ask, args=[path]) for path in 3 * ["/debug/tasks", "/debug/tasks?format=text", "/debug/advice"]]
            for each in others:
                each.start()
            try:
                end = time.monotonic() + 2  # some looks, each while others ask
                while time.monotonic() < end:
                    client.send(request("GET", "/debug/advice"))
                    for each in client.answer().json()["advice"]:
                        self.assertNotIn("/debug/", each)
            finally:
                is_over.set()
                for each in others:
                    each.join()

    def test_a_client_that_leaves_takes_no_answer_from_the_others(self):
        with Service(SERVICE) as service:
            for _ in range(5):
                leaving, staying = service.connect(), service.connect()
                leaving.send(request("GET", "/debug/advice"))
                staying.send(request("GET", "/debug/advice"))
                leaving.socket.close()
                self.assertEqual(staying.answer().status, 200)
                staying.socket.close()

    def test_what_is_no_such_request_is_told_so(self):
        with Service(SERVICE) as service, service.connect() as client:
            for method, path, status in (("POST", "/debug/tasks", 405), ("POST", "/debug/advice", 405), ("GET", "/debug/tasks?format=xml", 422),
                                         ("GET", "/debug/tasks?x=1", 422), ("GET", "/debug/advice?x=1", 422), ("GET", "/debug", 404),
                                         ("GET", "/debug/other", 404)):
                client.send(request(method, path))
                answer = client.answer()
                self.assertEqual(answer.status, status, path)
                self.assertTrue(answer.json()["error"])
                self.assertEqual(answer.headers.get("allow"), "GET, HEAD" if status == 405 else None)
            client.send(request("HEAD", "/debug/tasks?format=text"))
            head = client.answer(head=True)
            self.assertEqual((head.status, int(head.headers["content-length"]) > 100), (200, True))

    def test_nobody_is_told_where_others_than_this_machine_can_ask_unless_it_was_said(self):
        for options, status in ((("--no-debug",), 404), (("--debug",), 200)):
            with Service(SERVICE, *options) as service:
                self.assertEqual(service.request("GET", "/debug/tasks").status, status)
                self.assertEqual(service.request("GET", "/debug/advice").status, status)
        for options, status in (((), 404), (("--debug",), 200)):
            with Service(SERVICE, "--address", "0.0.0.0", *options) as service:
                answer = service.request("GET", "/debug/tasks")
                self.assertEqual(answer.status, status)
                if status == 404:
                    self.assertIn("--debug", answer.json()["error"])

    @unittest.skipIf(emulated.EMULATOR, "SIGQUIT reaches no program of another system")
    def test_the_same_is_written_on_a_signal_and_the_service_goes_on(self):
        with Service(SERVICE) as service, service.connect() as client:
            client.send(request("GET", "/stats"))
            client.answer()
            for _ in range(2):
                written = len(service.errors())
                service.process.send_signal(signal.SIGQUIT)
                end = time.monotonic() + PATIENCE
                while not re.search(r'dump of runtime "puzzle"(.|\n)*"connection"', service.errors()[written:]):
                    self.assertLess(time.monotonic(), end, f"no dump: {service.errors()}")
                    time.sleep(0.01)
                client.send(request("GET", "/stats"))
                self.assertEqual(client.answer().status, 200)

    def test_a_service_that_ends_does_not_wait_for_advice(self):
        with Service(SERVICE, "--grace", "0") as service:
            clients = [service.connect() for _ in range(3)]
            for client in clients:
                client.send(request("GET", "/debug/advice"))
            service.stop()
            for client in clients:
                client.socket.close()


if __name__ == "__main__":
    SERVICE = sys.argv.pop(1)
    unittest.main(verbosity=2)
