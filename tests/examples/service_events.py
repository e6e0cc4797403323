#!/usr/bin/env python3
# service_events.py: puzzle_service tells how it goes on by server-sent events, and ends them when it should.
# SPDX-License-Identifier: MIT
"""service_events.py PUZZLE_SERVICE [unittest arguments]"""
import itertools
import json
import os
import signal
import socket
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from event_stream import EventStream  # noqa: E402
from service_process import Client, PATIENCE, Service, request  # noqa: E402

SERVICE = ""
QUEENS = {"puzzle": "queens", "n": 8}
# Does not end by itself in the life of a test.
ENDLESS = {"puzzle": "queens", "n": 22, "count": True}
PROGRESS = ["nodes", "depth", "nodes_per_second", "elapsed_ms", "memory_bytes"]


def solve_request(question, accept="text/event-stream"):
    return request("POST", "/solve", json.dumps(question), [f"Accept: {accept}"])


def begin(client, data):
    client.send(data)
    return EventStream(client)


def leave(client, how):
    if how == "reset":
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    if how == "end of stream":
        client.socket.shutdown(socket.SHUT_WR)
    else:
        client.socket.close()


def is_quiet(stats):
    return stats["searches"]["running"] == 0 and stats["event_streams"] == 0 and stats["connections"]["open"] == 1


class Solving(unittest.TestCase):
    def test_progress_grows_while_a_search_runs(self):
        with Service(SERVICE, "--search-time", "0", "--grace", "0") as service, service.connect() as client:
            stream = begin(client, solve_request(ENDLESS))
            seen = list(itertools.islice(stream, 4))
            self.assertEqual({name for name, _ in seen}, {"progress"})
            for (_, before), (_, after) in zip(seen, seen[1:]):
                self.assertEqual(list(after), PROGRESS)
                self.assertGreaterEqual(after["nodes"], before["nodes"])
                self.assertGreater(after["elapsed_ms"], before["elapsed_ms"])
            self.assertGreater(seen[-1][1]["nodes"], seen[0][1]["nodes"])
            self.assertGreater(max(data["nodes_per_second"] for _, data in seen), 0)

    def test_the_last_event_is_the_answer_and_the_same_as_without_events(self):
        with Service(SERVICE) as service:
            for question in (QUEENS, {"puzzle": "klotski"}, {"puzzle": "queens", "n": 11, "count": True},
                             {"puzzle": "queens", "n": 20, "count": True, "time_limit_ms": 600}):
                with service.connect() as client:
                    events = list(begin(client, solve_request(question)))
                    plain = service.solve(**question).json()
                    self.assertEqual([name for name, _ in events], ["progress"] * (len(events) - 1) + ["answer"])
                    answer = events[-1][1]
                    self.assertEqual(list(answer), list(plain))
                    for key in ("puzzle", "solver", "solved", "moves", "outcome"):
                        self.assertEqual(answer[key], plain[key])

    def test_a_limit_of_the_service_is_an_error_event(self):
        with Service(SERVICE, "--search-time", "0.05") as service, service.connect() as client:
            stream = begin(client, solve_request(ENDLESS))
            name, data = list(stream)[-1]
            self.assertEqual((name, data["status"], stream.complete), ("error", 422, True))
            self.assertIn("50 ms", data["error"])

    def test_what_is_refused_before_the_search_is_no_stream(self):
        with Service(SERVICE, "--searches", "1", "--grace", "0") as service, service.connect() as client:
            for body, status in (("{", 400), ('{"puzzle":"chess"}', 422), ('{"puzzle":"queens","n":0}', 422)):
                client.send(request("POST", "/solve", body, ["Accept: text/event-stream"]))
                answer = client.answer()
                self.assertEqual((answer.status, list(answer.json())), (status, ["error"]))
            with service.connect() as busy:
                next(begin(busy, solve_request(ENDLESS)))
                client.send(solve_request(QUEENS))
                self.assertEqual(client.answer().status, 503)

    def test_only_who_accepts_events_gets_them(self):
        with Service(SERVICE) as service, service.connect() as client:
            for accept in ("text/event-stream", "application/json, Text/Event-Stream ; q=0.5", "*/*,text/event-stream"):
                self.assertEqual(list(begin(client, solve_request(QUEENS, accept)))[-1][0], "answer")
            for accept in ("*/*", "text/*", "application/json", "text/event-streams", ",, ;", ""):
                client.send(solve_request(QUEENS, accept))
                self.assertEqual(client.answer().headers["content-type"], "application/json")

    def test_a_client_that_leaves_in_the_middle_stops_its_search_and_leaves_nothing_behind(self):
        with Service(SERVICE) as service:
            for count, how in enumerate(("close", "reset", "end of stream"), 1):
                with service.connect() as client:
                    stream = begin(client, solve_request(ENDLESS))
                    self.assertEqual(next(stream)[0], "progress")
                    leave(client, how)
                    service.wait_for("the end of the search", is_quiet)
                    self.assertEqual(service.stats()["searches"]["stopped"], count)

    def test_the_connection_goes_on_after_a_stream_and_pipelined_requests_are_answered_behind_it(self):
        with Service(SERVICE, "--search-time", "1") as service, service.connect() as client:
            for _ in range(3):
                client.send(solve_request(QUEENS) + request("GET", "/stats") + solve_request(ENDLESS)
                            + request("HEAD", "/events") + request("GET", "/nothing"))
                for last in ("answer", None, "error"):
                    if last is None:
                        self.assertEqual(client.answer().status, 200)
                        continue
                    stream = EventStream(client)
                    self.assertEqual(list(stream)[-1][0], last)
                    self.assertTrue(stream.complete)
                self.assertEqual(EventStream(client).headers["connection"], "keep-alive")  # of HEAD: no body
                self.assertEqual(client.answer().status, 404)

    def test_http_1_0_gets_no_chunks_and_the_end_of_the_connection(self):
        body = json.dumps(QUEENS).encode()
        with Service(SERVICE) as service, service.connect() as client:
            client.send(b"POST /solve HTTP/1.0\r\nConnection: keep-alive\r\nAccept: text/event-stream\r\n"
                        b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            stream = EventStream(client)
            self.assertFalse(stream.is_chunked)
            self.assertEqual(list(stream)[-1][0], "answer")
            self.assertTrue(client.at_end())


class Watching(unittest.TestCase):
    def test_statistics_come_again_and_again_and_tell_of_searches(self):
        with Service(SERVICE, "--grace", "0") as service, service.connect() as client, service.connect() as busy:
            stream = begin(client, request("GET", "/events?interval_ms=20"))
            name, first = next(stream)
            self.assertEqual((name, first["event_streams"], first["nodes_per_second"]), ("stats", 1, 0))
            self.assertEqual(set(first) - set(service.stats()), {"nodes_per_second"})
            search = begin(busy, solve_request(ENDLESS))
            uptime = first["uptime_seconds"]
            for _, stats in stream:
                self.assertGreater(stats["uptime_seconds"], uptime)
                uptime = stats["uptime_seconds"]
                if stats["nodes_per_second"] > 0:
                    break
            self.assertEqual((stats["searches"]["running"], next(search)[0]), (1, "progress"))

    def test_a_client_that_leaves_ends_its_stream(self):
        with Service(SERVICE) as service:
            for how in ("close", "reset", "end of stream"):
                with service.connect() as client:
                    next(begin(client, request("GET", "/events?interval_ms=60000")))
                    self.assertEqual(service.stats()["event_streams"], 1)
                    leave(client, how)
                    service.wait_for("the end of the stream", is_quiet)

    def test_a_client_that_reads_nothing_is_sent_away_after_the_idle_time(self):
        with Service(SERVICE, "--idle", "1") as service:
            client = Client.__new__(Client)
            client.socket, client.received = socket.socket(), b""
            client.socket.settimeout(PATIENCE)
            # Small segments, small buffers: on both sides they are full after some events.
            client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.socket.connect(("127.0.0.1", service.port))
            with client:
                stream = begin(client, request("GET", "/events?interval_ms=10"))
                service.wait_for("the end of the stream", is_quiet)
                self.assertFalse(sum(1 for _ in stream) == 0 or stream.complete)

    def test_a_stream_too_many_is_503_and_the_next_after_it_is_served(self):
        with Service(SERVICE, "--streams", "2") as service, service.connect() as client:
            watching = [service.connect() for _ in range(2)]
            for each in watching:
                next(begin(each, request("GET", "/events")))
            for method in ("GET", "HEAD"):
                client.send(request(method, "/events"))
                self.assertEqual(client.answer(head=method == "HEAD").status, 503)
            watching[0].socket.close()
            service.wait_for("a free place", lambda stats: stats["event_streams"] == 1)
            self.assertEqual(next(begin(client, request("GET", "/events")))[0], "stats")
            watching[1].socket.close()

    def test_head_has_the_header_only(self):
        with Service(SERVICE) as service, service.connect() as client:
            client.send(request("HEAD", "/events"))
            self.assertEqual(EventStream(client).headers["connection"], "keep-alive")
            client.send(request("GET", "/stats"))
            self.assertEqual(client.answer().json()["event_streams"], 0)

    def test_a_query_that_is_no_interval_is_422(self):
        with Service(SERVICE) as service:
            for query in ("interval_ms=", "interval_ms=9", "interval_ms=60001", "interval_ms=ten", "interval_ms=10x",
                          "interval_ms=99999999999", "x=1"):
                answer = service.request("GET", f"/events?{query}")
                self.assertEqual((answer.status, list(answer.json())), (422, ["error"]), query)


class Ending(unittest.TestCase):
    def test_a_stream_without_end_does_not_hold_up_the_shutdown(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with Service(SERVICE, "--grace", "86400") as service, service.connect() as client:
                stream = begin(client, request("GET", "/events?interval_ms=60000"))
                next(stream)
                service.stop(number)
                self.assertEqual((list(stream), stream.complete), ([], True))
                self.assertTrue(client.at_end())

    def test_a_search_gets_its_grace_time_and_its_answer_is_sent(self):
        with Service(SERVICE, "--search-time", "4", "--grace", "86400") as service, service.connect() as client:
            stream = begin(client, solve_request(ENDLESS))
            service.wait_for("a search", lambda stats: stats["searches"]["running"] == 1)
            service.send_signal(signal.SIGTERM)
            self.assertEqual(list(stream)[-1][0], "error")
            self.assertTrue(stream.complete and client.at_end())
            service.stop()

    def test_after_the_grace_time_an_answer_is_broken_off_so_that_the_client_can_tell(self):
        with Service(SERVICE, "--search-time", "0", "--grace", "0.1") as service, service.connect() as client:
            stream = begin(client, solve_request(ENDLESS))
            next(stream)
            service.stop()
            self.assertEqual({name for name, _ in stream} - {"progress"}, set())
            self.assertFalse(stream.complete)


if __name__ == "__main__":
    SERVICE = sys.argv.pop(1)
    unittest.main(verbosity=2)
