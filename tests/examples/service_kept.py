#!/usr/bin/env python3
# service_kept.py: puzzle_service knows its answers again, whatever becomes of its database.
# SPDX-License-Identifier: MIT
"""service_kept.py PUZZLE_SERVICE [unittest arguments]

TANDEM_EXAMPLES_STORES says which databases it was built with: sqlite, postgres. Those that are not there are skipped."""
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import servers  # noqa: E402
from event_stream import EventStream  # noqa: E402
from service_process import PATIENCE, Service, request  # noqa: E402

SERVICE = ""
STORES = os.environ.get("TANDEM_EXAMPLES_STORES", "").split(",")
KLOTSKI = {"puzzle": "klotski"}
# Does not end by itself in the life of a test: whoever answers it knew the answer.
ENDLESS = {"puzzle": "queens", "n": 22, "count": True}
ENDLESS_REQUEST = '{"puzzle":"queens","solver":"racing","n":22,"count":true}'
ENDLESS_ANSWER = ('{"puzzle":"queens","solver":"racing","solved":true,"moves":null,"path":[],"nodes":7,"solutions":2691008701644,'
                  '"milliseconds":1.5,"threads":2,"outcome":"exhausted"}')
NO_CACHE = ["Cache-Control: no-cache"]


def key_of(text):
    """As question.cpp has it."""
    def fnv(data):
        found = 0xcbf29ce484222325
        for byte in data:
            found = (found ^ byte) * 0x100000001b3 % 2**64
        return found
    return f"{fnv(text.encode()):016x}{fnv(text.encode()[::-1]):016x}"


class Case(unittest.TestCase):
    def start(self, *options, grace="5", **more):
        service = Service(SERVICE, "--search-time", "0", "--grace", grace, *options, **more)
        self.addCleanup(service.__exit__, None, None, None)
        return service

    def solve(self, service, question, kept=None, headers=()):
        answer = service.request("POST", "/solve", json.dumps(question), headers)
        self.assertEqual(answer.status, 200, answer.body)
        found = answer.json()
        if kept is not None:
            self.assertIs(found["kept"], kept, question)
        return found

    def solved(self, service, **query):
        answer = service.request("GET", "/solved?" + urllib.parse.urlencode(query))
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()

    def titles(self, service, **query):
        return [entry["title"] for entry in self.solved(service, **query)["entries"]]

    def wait_for_database(self, service, words):
        service.wait_for(words, lambda stats: stats["answers"]["database"].startswith(words))

    def wait_for_kept(self, service, count):
        service.wait_for(f"{count} kept", lambda stats: stats["answers"]["kept"] == count)


class Asking(Case):
    def test_the_same_question_in_other_words_is_known(self):
        service = self.start()
        first = self.solve(service, {"puzzle": "sliding", "rows": 3, "cols": 3, "start": [8, 6, 7, 2, 5, 4, 3, 0, 1]}, False)
        for again in ({"start": "8 6 7 2 5 4 3 0 1", "goal": [1, 2, 3, 4, 5, 6, 7, 8, 0], "cols": 3, "rows": 3, "puzzle": "sliding"},
                      {"puzzle": "sliding", "rows": 3, "cols": 3, "start": [8, 6, 7, 2, 5, 4, 3, 0, 1], "threads": 1, "node_limit": 10,
                       "solver": "breadth_first"}):
            known = self.solve(service, again, True)
            self.assertEqual(list(known), list(first))
            for part in ("path", "moves", "nodes", "milliseconds", "outcome", "solved_at"):
                self.assertEqual(known[part], first[part])
        self.solve(service, {"puzzle": "sliding", "rows": 3, "cols": 3, "start": [8, 6, 7, 2, 5, 4, 3, 1, 0]}, False)
        stats = service.stats()
        self.assertEqual((stats["answers"]["from_memory"], stats["searches"]["total"]), (2, 2))

    def test_who_accepts_events_gets_a_known_answer_as_one(self):
        service = self.start()
        plain = self.solve(service, KLOTSKI, False)
        with service.connect() as client:
            for _ in range(2):
                client.send(request("POST", "/solve", json.dumps(KLOTSKI), ["Accept: text/event-stream"]))
                events = list(EventStream(client))
                self.assertEqual([name for name, _ in events], ["answer"])
                self.assertEqual((events[0][1]["path"], events[0][1]["kept"]), (plain["path"], True))

    def test_no_cache_asks_for_another_search(self):
        service = self.start()
        self.solve(service, KLOTSKI, False)
        self.solve(service, KLOTSKI, False, NO_CACHE)
        self.solve(service, KLOTSKI, False, ["Cache-Control: max-age=0, No-Cache"])
        self.solve(service, KLOTSKI, True, ["Cache-Control: max-age=0"])
        self.assertEqual(service.stats()["searches"]["total"], 3)

    def test_only_complete_answers_are_kept(self):
        service = self.start("--search-nodes", "100000")
        for _ in range(2):
            self.assertEqual(self.solve(service, {**KLOTSKI, "node_limit": 100}, False)["outcome"], "node_limit")
            self.assertEqual(self.solve(service, {**ENDLESS, "time_limit_ms": 50}, False)["outcome"], "time_limit")
            unsolvable = {"puzzle": "sliding", "rows": 3, "cols": 3, "start": [1, 2, 3, 4, 5, 6, 8, 7, 0]}
            self.assertEqual(service.solve(**unsolvable).status, 422)  # 181,440 positions
        self.solve(service, {"puzzle": "sliding", "rows": 2, "cols": 3, "start": [1, 2, 3, 5, 4, 0]}, False)  # has no solution: that is known
        self.wait_for_kept(service, 1)
        self.assertEqual([entry["result"] for entry in self.solved(service)["entries"]], ["no solution"])
        with service.connect() as leaving:
            leaving.send(request("POST", "/solve", json.dumps(ENDLESS)))
            service.wait_for("a search", lambda stats: stats["searches"]["running"] == 1)
        service.wait_for("its end", lambda stats: stats["searches"]["running"] == 0)
        self.assertEqual((self.solved(service)["total"], service.stats()["searches"]["stopped"]), (1, 1))

    def test_what_is_known_needs_no_search_where_there_is_no_room_for_one(self):
        service = self.start("--searches", "1", grace="0")
        self.solve(service, KLOTSKI, False)
        with service.connect() as busy:
            busy.send(request("POST", "/solve", json.dumps(ENDLESS)))
            service.wait_for("a search", lambda stats: stats["searches"]["running"] == 1)
            self.assertEqual(service.solve(puzzle="queens", n=8).status, 503)
            self.solve(service, KLOTSKI, True)

    def test_many_at_once_get_the_same_answers(self):
        service = self.start()
        questions = [{"puzzle": "queens", "n": n, "count": True} for n in range(4, 12)] + [KLOTSKI]
        found, lock = {}, threading.Lock()

        def ask():
            for question in questions:
                answer = service.request("POST", "/solve", json.dumps(question)).json()
                with lock:
                    found.setdefault(json.dumps(question), set()).add((answer["solutions"], answer["moves"], answer["outcome"]))
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual({text: len(answers) for text, answers in found.items()}, {json.dumps(each): 1 for each in questions})
        service.wait_for("all written", lambda stats: stats["answers"]["waiting"] == 0)
        self.assertEqual(self.solved(service)["total"], len(questions))

    def test_a_service_that_keeps_nothing_says_so(self):
        service = self.start("--database", "none")
        for _ in range(2):
            self.solve(service, KLOTSKI, False)
        for path in ("/solved", "/solved/" + "0" * 32):
            answer = service.request("GET", path)
            self.assertEqual((answer.status, "--database none" in answer.json()["error"]), (404, True))
        self.assertEqual(service.stats()["answers"]["database"], "none")


class Listing(Case):
    def setUp(self):
        self.service = self.start()

    def test_the_newest_is_first_and_pages_make_the_whole(self):
        for n in range(1, 22):
            self.solve(self.service, {"puzzle": "queens", "n": n})
        self.wait_for_kept(self.service, 21)
        whole = self.solved(self.service, count=100)
        self.assertEqual((whole["total"], whole["offset"]), (21, 0))
        self.assertEqual([entry["title"] for entry in whole["entries"]], [f"{n} queens, one way, racing" for n in range(21, 0, -1)])
        pages = [self.titles(self.service, offset=offset, count=5) for offset in range(0, 30, 5)]
        self.assertEqual([len(page) for page in pages], [5, 5, 5, 5, 1, 0])
        self.assertEqual(sum(pages, []), [entry["title"] for entry in whole["entries"]])
        self.assertEqual(len(self.titles(self.service)), 20)
        self.solve(self.service, {"puzzle": "queens", "n": 5}, False, NO_CACHE)  # is the newest now, and still one
        self.wait_for_kept(self.service, 22)
        self.assertEqual((self.titles(self.service)[0], self.solved(self.service)["total"]), ("5 queens, one way, racing", 21))

    def test_all_words_of_a_search_have_to_be_there_in_any_order_and_case(self):
        self.solve(self.service, KLOTSKI)
        self.solve(self.service, {**KLOTSKI, "metric": "moves"})
        self.solve(self.service, {"puzzle": "rush-hour", "board": "BBBoLoCCooLMIAAJoMIooJoMEEoKoooooKoo"})
        self.solve(self.service, {"puzzle": "uts", "tree": "T1", "seed": 3})
        self.wait_for_kept(self.service, 4)
        for words, count in (("", 4), ("klotski", 2), ("KLOTSKI  Steps", 1), ("116", 1), ("moves breadth", 2), ("rush-hour", 1), ("seed 3", 1),
                             ("klotski seed", 0), ("IAAJ.M", 1)):
            self.assertEqual(self.solved(self.service, search=words)["total"], count, words)

    def test_one_of_them_is_told_with_question_and_answer_and_the_question_can_be_asked_again(self):
        asked = self.solve(self.service, {**KLOTSKI, "threads": 1})
        self.wait_for_kept(self.service, 1)
        entry = self.solved(self.service)["entries"][0]
        one = self.service.request("GET", "/solved/" + entry["key"]).json()
        self.assertEqual({key: one[key] for key in entry}, entry)
        self.assertEqual((one["answer"]["path"], one["solved_at"]), (asked["path"], asked["solved_at"]))
        self.assertEqual(one["request"], {"puzzle": "klotski", "solver": "breadth_first", "board": "ABBC/ABBC/DEEF/DGHF/I..J", "metric": "steps"})
        self.solve(self.service, one["request"], True)
        head = self.service.request("HEAD", "/solved/" + entry["key"])
        self.assertEqual((head.status, head.body), (200, b""))

    def test_what_is_no_question_is_refused_in_words(self):
        service = self.service
        for query in ("x=1", "search=a&search=b", "offset=-1", "offset=x", "offset=", "offset=99999999999999999999", "count=0", "count=101",
                      "count=1.5", "count=+1", "search=%", "search=%4", "search=%zz", "search=%00", "search=a%0ab", "search=%ff", "search=%c0%80",
                      "search=%ed%a0%80", "search=" + "x" * 201, "search=a+b+c+d+e+f+g", "=1", "%73earch2=x", "search[]=x"):
            answer = service.request("GET", "/solved?" + query)
            self.assertEqual((answer.status, list(answer.json())), (422, ["error"]), query)
        for query in ("search='+OR+1=1+--", "search=%25", "search=_", "search=%5c", "search=%22;drop+table+puzzle_answer", "search=%f0%9f%98%80",
                      "search=" + "x" * 200):
            answer = service.request("GET", "/solved?" + query)
            self.assertEqual((answer.status, answer.json()["total"]), (200, 0), query)
        for query in ("", "&&", "search=", "search", "s%65arch=&count=1", "offset=1000000000"):
            self.assertEqual(service.request("GET", "/solved?" + query).status, 200, query)
        for path, status in (("/solved/", 422), ("/solved/x", 422), ("/solved/" + "g" * 32, 422), ("/solved/" + "A" * 32, 422),
                             ("/solved/../stats", 422), ("/solved/" + "0" * 32 + "?x", 422), ("/solved/" + "0" * 32, 404), ("/solvedx", 404)):
            answer = service.request("GET", path)
            self.assertEqual((answer.status, list(answer.json())), (status, ["error"]), path)
        for path in ("/solved", "/solved/" + "0" * 32):
            self.assertEqual(service.request("POST", path, "{}").headers["allow"], "GET, HEAD")

    def test_the_oldest_go_when_there_are_too_many(self):
        service = self.start("--database-limit", "3")
        for n in range(1, 8):
            self.solve(service, {"puzzle": "queens", "n": n})
        self.wait_for_kept(service, 7)
        self.assertEqual(self.titles(service), [f"{n} queens, one way, racing" for n in (7, 6, 5)])

    def test_metrics_and_events_tell_of_it(self):
        self.solve(self.service, KLOTSKI)
        self.solve(self.service, KLOTSKI)
        self.wait_for_kept(self.service, 1)
        text = self.service.request("GET", "/metrics").body.decode()
        for line in ("puzzle_answers_kept_total 1", "puzzle_answers_from_memory_total 1", "puzzle_answers_waiting 0", "puzzle_database_there 1"):
            self.assertIn("\n" + line + "\n", text)
        with self.service.connect() as client:
            client.send(request("GET", "/events"))
            _, stats = next(EventStream(client))
            self.assertEqual((stats["answers"]["kept"], stats["answers"]["database"]), (1, "there"))


class Databases:
    """What holds for each of them; a class below says how it is started and asked."""

    def test_a_service_that_was_restarted_knows_its_answers(self):
        service = self.start("--database", self.where())
        found = self.solve(service, KLOTSKI, False)
        for n in range(1, 12):
            self.solve(service, {"puzzle": "queens", "n": n, "count": True}, False)
        service.stop()  # at once: what waits is written at the end
        service = self.start("--database", self.where())
        self.wait_for_database(service, "there")
        listed = self.solved(service, count=100)
        self.assertEqual((listed["total"], listed["entries"][-1]["result"]), (12, "116 steps"))
        one = service.request("GET", "/solved/" + listed["entries"][-1]["key"]).json()
        self.assertEqual((one["answer"]["path"], one["solved_at"]), (found["path"], found["solved_at"]))
        known = self.solve(service, KLOTSKI, True)  # it is in memory again, for it was just shown
        self.assertEqual(known["path"], found["path"])

    def test_a_service_that_was_killed_knows_what_was_written(self):
        service = self.start("--database", self.where())
        self.solve(service, KLOTSKI, False)
        self.wait_for_kept(service, 1)
        service.process.kill()
        service.process.wait()
        service = self.start("--database", self.where())
        self.wait_for_database(service, "there")
        self.assertEqual(self.solved(service)["total"], 1)

    def test_the_store_is_asked_while_the_search_runs_and_stops_it(self):
        service = self.start("--database", self.where(), grace="0")
        self.wait_for_database(service, "there")
        self.insert(ENDLESS_REQUEST, ENDLESS_ANSWER)
        for headers in ([], ["Accept: text/event-stream"]):
            if headers:  # and again by a service that has not got it in memory
                service.stop()
                service = self.start("--database", self.where(), grace="0")
                self.wait_for_database(service, "there")
            with service.connect() as client:
                client.send(request("POST", "/solve", json.dumps(ENDLESS), headers))
                found = list(EventStream(client))[-1][1] if headers else client.answer().json()
            self.assertEqual((found["kept"], found["solutions"], found["solved_at"]), (True, 2691008701644, "2001-09-09T01:46:40Z"))
            service.wait_for("the search's end", lambda stats: stats["searches"]["running"] == 0)
            stats = service.stats()
            self.assertEqual((stats["answers"]["from_store"], stats["searches"]["total"], stats["searches"]["stopped"]), (1, 1, 0))
        self.solve(service, ENDLESS, True)
        self.assertEqual(service.stats()["answers"]["from_memory"], 1)

    def test_what_others_have_damaged_there_is_not_taken_for_an_answer(self):
        service = self.start("--database", self.where())
        self.wait_for_database(service, "there")
        text = '{"puzzle":"queens","solver":"racing","n":4,"count":true}'
        self.insert("not that question", ENDLESS_ANSWER, key=key_of(text))
        self.assertEqual(self.solve(service, {"puzzle": "queens", "n": 4, "count": True}, False)["solutions"], 2)
        self.insert("{", "[", key="0" * 32)
        answer = service.request("GET", "/solved/" + "0" * 32)
        self.assertEqual((answer.status, "damaged" in answer.json()["error"]), (500, True))

    def test_the_limit_of_answers_is_kept_there_too(self):
        service = self.start("--database", self.where(), "--database-limit", "3")
        for n in range(1, 8):
            self.solve(service, {"puzzle": "queens", "n": n})
        self.wait_for_kept(service, 7)
        self.assertEqual(self.titles(service), [f"{n} queens, one way, racing" for n in (7, 6, 5)])
        service.stop()
        service = self.start("--database", self.where(), "--database-limit", "2")
        self.wait_for_database(service, "there")
        self.assertEqual(self.solved(service)["total"], 2)


@unittest.skipUnless("sqlite" in STORES, "built without tandem::io_sqlite")
class Sqlite(Databases, Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "answers.db")

    def where(self):
        return self.path

    def insert(self, asked, answer, key=None):
        on = sqlite3.connect(self.path, timeout=PATIENCE)
        with on:
            on.execute("INSERT INTO puzzle_answer (key, puzzle, title, result, words, nodes, milliseconds, solved_at, request, answer)"
                       " VALUES (?, 'queens', 'by hand', '', 'by hand', 7, 1.5, 1000000000, ?, ?)", (key or key_of(asked), asked, answer))
        on.close()

    def test_without_an_option_it_keeps_in_memory_and_leaves_no_file(self):
        service = self.start()
        self.solve(service, KLOTSKI)
        self.wait_for_kept(service, 1)
        self.assertEqual(service.stats()["answers"]["where"], "SQLite in memory")
        self.assertEqual(os.listdir(os.path.dirname(self.path)), [])

    def test_a_file_that_is_no_database_is_left_alone_said_and_looked_at_again(self):
        garbage = b"neither a database nor empty\n" * 1000
        with open(self.path, "wb") as out:
            out.write(garbage)
        service = self.start("--database", self.path)
        self.wait_for_database(service, "away since ")
        self.assertIn("not a database", service.stats()["answers"]["database"])
        self.solve(service, KLOTSKI, False)
        self.solve(service, KLOTSKI, True)
        answer = service.request("GET", "/solved")
        self.assertEqual((answer.status, answer.headers["retry-after"]), (503, "1"))
        self.assertIn("away since", answer.json()["error"])
        key = key_of('{"puzzle":"klotski","solver":"breadth_first","board":"ABBC/ABBC/DEEF/DGHF/I..J","metric":"steps"}')
        self.assertEqual(service.request("GET", "/solved/" + key).status, 200)  # that one is in memory
        with open(self.path, "rb") as text:
            self.assertEqual(text.read(), garbage)
        os.remove(self.path)
        self.wait_for_kept(service, 1)
        self.assertEqual(self.solved(service)["total"], 1)
        self.assertIn("away, and tried again", service.errors())
        self.assertIn("is there again", service.errors())

    def test_a_connection_string_of_libpq_is_no_name_of_a_file(self):
        ended = subprocess.run([SERVICE, "--port", "0", "--database", "host=127.0.0.1"], capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("postgresql://USER@HOST/NAME", ended.stderr)

    def test_a_folder_that_is_not_there_is_waited_for(self):
        folder = os.path.join(os.path.dirname(self.path), "later")
        service = self.start("--database", os.path.join(folder, "answers.db"))
        self.solve(service, KLOTSKI, False)
        self.wait_for_database(service, "away since ")
        os.mkdir(folder)
        self.wait_for_kept(service, 1)

    def test_a_full_disk_delays_no_answer_and_ends_in_order(self):
        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (64 * 1024, 64 * 1024))
        service = self.start("--database", self.path, grace="0", before_exec=small_files)
        self.wait_for_database(service, "there")
        for n in range(1, 15):
            self.solve(service, {"puzzle": "queens", "n": n})
            self.solve(service, {"puzzle": "sliding", "rows": 3, "cols": 3, "start": [8, 6, 7, 2, 5, 4, 3, 0, 1], "solver": "sequential"},
                       headers=NO_CACHE)
        self.wait_for_database(service, "away since ")
        self.solve(service, {"puzzle": "queens", "n": 14}, True)
        service.stop()
        self.assertIn("were not written", service.errors())
        on = sqlite3.connect(self.path)
        self.assertEqual(on.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        on.close()

    def test_a_lock_of_somebody_else_is_waited_for_by_the_writer_only(self):
        service = self.start("--database", self.path)
        self.wait_for_database(service, "there")
        other = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        self.solve(service, KLOTSKI, False)
        self.assertEqual(self.solved(service)["total"], 0)  # readers go on
        self.wait_for_database(service, "away since ")
        self.assertEqual(service.stats()["answers"]["waiting"], 1)
        other.execute("ROLLBACK")
        self.wait_for_kept(service, 1)
        other.close()


@unittest.skipUnless("postgres" in STORES, "built without tandem::io_postgres")
class Postgresql(Databases, Case):
    @classmethod
    def setUpClass(cls):
        if not servers.KINDS["postgres"].program():
            if os.environ.get("TANDEM_TEST_REQUIRE_ALL") == "1":
                raise AssertionError("PostgreSQL is not installed (Debian: apt-get install postgresql)")
            raise unittest.SkipTest("PostgreSQL is not installed (Debian: apt-get install postgresql)")
        cls.servers = servers.Servers("postgres")
        cls.servers.__enter__()
        cls.addClassCleanup(cls.servers.__exit__)
        cls.server = cls.servers["postgres"]

    def setUp(self):
        self.sql("DROP TABLE IF EXISTS puzzle_answer")

    def where(self):
        return f"postgresql://tandem:secret@127.0.0.1:{self.server.port}/postgres"

    def sql(self, text):
        psql = servers.program("psql", "/usr/lib/postgresql/*/bin")
        done = subprocess.run([psql, "-h", "127.0.0.1", "-p", str(self.server.port), "-U", "tandem", "-d", "postgres", "-AtqX", "-v",
                               "ON_ERROR_STOP=1", "-c", text], capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def insert(self, asked, answer, key=None):
        self.sql("INSERT INTO puzzle_answer (key, puzzle, title, result, words, nodes, milliseconds, solved_at, request, answer)"
                 f" VALUES ('{key or key_of(asked)}', 'queens', 'by hand', '', 'by hand', 7, 1.5, 1000000000, '{asked}', '{answer}')")

    def test_a_password_is_not_told(self):
        service = self.start("--database", self.where())
        self.wait_for_database(service, "there")
        self.assertEqual(service.stats()["answers"]["where"], f"postgresql://127.0.0.1:{self.server.port}/postgres")

    def test_a_database_that_is_down_delays_neither_the_start_nor_an_answer(self):
        self.server.stop()
        try:
            service = self.start("--database", self.where())
            self.solve(service, KLOTSKI, False)
            self.solve(service, KLOTSKI, True)
            self.wait_for_database(service, "away since ")
            self.assertEqual(service.request("GET", "/solved").status, 503)
        finally:
            self.server.start()
        self.wait_for_kept(service, 1)
        self.assertEqual((self.sql("SELECT count(*) FROM puzzle_answer"), self.solved(service)["total"]), ("1", 1))

    def test_a_database_that_goes_away_again_and_again_has_everything_in_the_end(self):
        service = self.start("--database", self.where())
        self.wait_for_database(service, "there")
        count = 0
        for how in ("kill", "stop", "pause"):
            getattr(self.server, how)()
            try:
                for _ in range(5):
                    count += 1
                    self.solve(service, {"puzzle": "queens", "n": count}, False)
                self.wait_for_database(service, "away since ")
                self.solve(service, {"puzzle": "queens", "n": count}, True)
                self.assertEqual(service.request("GET", "/solved").status, 503)
            finally:
                getattr(self.server, "resume" if how == "pause" else "start")()
            self.wait_for_kept(service, count)
            self.assertEqual(self.sql("SELECT count(*) FROM puzzle_answer"), str(count))
        self.assertEqual(self.solved(service, count=100)["total"], count)
        self.assertEqual(service.stats()["answers"]["given_up"], 0)

    def test_answers_come_while_the_database_answers_nothing(self):
        service = self.start("--database", self.where(), grace="0")
        self.wait_for_database(service, "there")
        self.server.pause()
        try:
            began = time.monotonic()
            for n in range(1, 9):  # the store is asked for each, and is stopped for each
                self.solve(service, {"puzzle": "queens", "n": n}, False)
            print(f"8 answers beside a database that answers nothing: {1000 * (time.monotonic() - began):.0f} ms", file=sys.stderr)
            with service.connect() as leaving:
                leaving.send(request("POST", "/solve", json.dumps(ENDLESS)))
                service.wait_for("a search", lambda stats: stats["searches"]["running"] == 1)
            service.wait_for("its end", lambda stats: stats["searches"]["running"] == 0)
            service.send_signal(signal.SIGTERM)
            end = time.monotonic() + PATIENCE
            while "were not written" not in service.errors():
                self.assertLess(time.monotonic(), end, service.errors())
                time.sleep(0.01)
        finally:
            self.server.resume()
        self.assertEqual(service.wait_for_end(), 0)  # once PQcancel, which nobody can stop, has come back

    def test_a_table_that_was_dropped_is_made_again(self):
        service = self.start("--database", self.where())
        self.solve(service, KLOTSKI, False)
        self.wait_for_kept(service, 1)
        self.sql("DROP TABLE puzzle_answer")
        self.solve(service, {"puzzle": "queens", "n": 8}, False)
        self.wait_for_kept(service, 2)
        self.assertEqual(self.titles(service), ["8 queens, one way, racing"])

    def test_what_is_wrong_with_the_address_is_said(self):
        nobody = servers.held_port()  # nobody listens there, and nobody else can
        self.addCleanup(nobody.close)
        for url, words in ((f"postgresql://tandem@127.0.0.1:{self.server.port}/nowhere", "nowhere"),
                           (f"postgresql://tandem@127.0.0.1:{nobody.getsockname()[1]}/postgres", "127.0.0.1"),
                           ("postgresql://tandem@127.0.0.1:port/postgres", "port")):
            service = self.start("--database", url)
            self.wait_for_database(service, "away since ")
            self.assertIn(words, service.stats()["answers"]["database"])
            self.solve(service, {"puzzle": "queens", "n": 8}, False)
            service.stop()


@unittest.skipIf("sqlite" in STORES, "built with tandem::io_sqlite")
class Without(Case):
    def test_what_is_missing_and_how_to_get_it_is_said(self):
        for where, package in (("answers.db", "libsqlite3-dev"), *([] if "postgres" in STORES else [("postgresql://x/y", "libpq-dev")])):
            service = self.start("--database", where)
            self.solve(service, KLOTSKI, False)
            self.solve(service, KLOTSKI, True)
            self.assertEqual(service.stats()["answers"]["where"], "in memory")
            self.assertFalse(os.path.exists(where))
            service.stop()
            self.assertIn(package, service.errors())  # under wine it is shown at the end


if __name__ == "__main__":
    SERVICE = sys.argv.pop(1)
    unittest.main(verbosity=2)
