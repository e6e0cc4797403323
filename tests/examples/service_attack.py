#!/usr/bin/env python3
# service_attack.py: malformed, cut, oversized, slow and pipelined requests by the thousand.
# SPDX-License-Identifier: MIT
"""service_attack.py PUZZLE_SERVICE [--seed N] [--rounds N]

One service takes it all. At the end it has as many descriptors as at the start, still answers, and
exits with 0 on SIGTERM, so that under AddressSanitizer a leak is a failure.
"""
import argparse
import json
import os
import random
import socket
import sys
import threading

SUPPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support")
sys.path.insert(0, SUPPORT)
from event_stream import EventStream  # noqa: E402
from service_process import Service, request  # noqa: E402

SMALL = json.dumps({"puzzle": "queens", "n": 4})

# What is sent, and the status of the last answer.
MALFORMED = [
    (b"\x00\x01\x02\x03\r\n\r\n", 400),
    (b"hello\r\n\r\n", 400),
    (b"GET\r\n\r\n", 400),
    (b"GET /stats\r\n\r\n", 400),
    (b"GET /stats HTTP/2.0\r\nHost: x\r\n\r\n", 400),
    (b"GET /stats HTTP/1.2\r\nHost: x\r\n\r\n", 400),
    (b"GET /stats HTTP/1.1\r\n\r\n", 400),
    (b"GET /stats HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    (b"GET /stats HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400),
    (b"GET /stats HTTP/1.1\r\nHost: x\r\nbad name: 1\r\n\r\n", 400),
    (b"GET /st\x7fats HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (b"G@T /stats HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (b"GET  /stats HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (b"POST /solve HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
    (b"POST /solve HTTP/1.1\r\nHost: x\r\nContent-Length: 1x\r\n\r\n", 400),
    (b"POST /solve HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
    (b"POST /solve HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    (b"POST /solve HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
    (b"POST /solve HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400),
    (b"POST /solve HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
    (b"POST /solve HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}abc\r\n0\r\n\r\n", 400),
]
REFUSED = [
    (request("GET", "/nothing"), 404),
    (request("GET", "/solve"), 405),
    (request("DELETE", "/solve"), 405),
    (request("BREW", "/stats"), 405),
    (request("POST", "/stats", "{}"), 405),
    (request("POST", "/", "{}"), 405),
    (request("POST", "/events", "{}"), 405),
    (request("GET", "/events?interval_ms=1"), 422),
    (request("GET", "/solved?count=0"), 422),
    (request("GET", "/solved?search=%ff"), 422),
    (request("GET", "/solved/" + "../" * 1000), 422),
    (request("GET", "/solved/" + "0" * 32), 404),
    (request("POST", "/solve", ""), 400),
    (request("POST", "/solve", "{"), 400),
    (request("POST", "/solve", "[" * 30000), 400),
    (request("POST", "/solve", "[" * 30000 + "]" * 30000), 422),
    (request("POST", "/solve", "[]"), 422),
    (request("POST", "/solve", "{}"), 422),
    (request("POST", "/solve", '{"puzzle":"chess"}'), 422),
    (request("POST", "/solve", '{"puzzle":"queens"}'), 422),
    (request("POST", "/solve", '{"puzzle":"queens","n":0}'), 422),
    (request("POST", "/solve", '{"puzzle":"queens","n":-1}'), 422),
    (request("POST", "/solve", '{"puzzle":"queens","n":1e300}'), 422),
    (request("POST", "/solve", '{"puzzle":"queens","n":4,"solver":"magic"}'), 422),
    (request("POST", "/solve", '{"puzzle":"queens","n":4,"color":"red"}'), 422),
    (request("POST", "/solve", '{"puzzle":"sliding","rows":3,"cols":3,"start":[1,1,1,1,1,1,1,1,1]}'), 422),
    (request("POST", "/solve", '{"puzzle":"sliding","rows":200,"cols":200,"start":[0]}'), 422),
    (request("POST", "/solve", '{"puzzle":"sliding","rows":3,"cols":3,"start":"a b"}'), 422),
    (request("POST", "/solve", '{"puzzle":"klotski","board":"ABBC"}'), 422),
    (request("POST", "/solve", '{"puzzle":"klotski","board":"\\u0000\\ud83d\\ude00"}'), 422),
]
ENDLESS = json.dumps({"puzzle": "queens", "n": 22, "count": True})
STREAMS = [
    request("GET", "/events?interval_ms=10"),
    request("POST", "/solve", ENDLESS, ["Accept: text/event-stream"]),
]
SERVED = [
    (request("GET", "/stats"), 200),
    (request("GET", "/stats?a=b"), 200),
    (request("GET", "http://elsewhere/stats"), 200),
    (request("GET", "/solved?search='+or+1=1;--&offset=1&count=2"), 200),
    (b"\r\n" + request("GET", "/"), 200),
    (request("POST", "/solve", SMALL), 200),
    (b"POST /solve HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
     + b"".join(b"1\r\n%c\r\n" % byte for byte in SMALL.encode()) + b"0\r\n\r\n", 200),
]


def oversized(random_):
    filler = "x" * random_.choice([8300, 20000, 200000])
    many = b"".join(b"A%d: b\r\n" % i for i in range(2000))
    return random_.choice([
        (b"GET /stats HTTP/1.1\r\nHost: x\r\nFiller: " + filler.encode() + b"\r\n\r\n", 431),
        (b"GET /" + filler.encode() + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431),
        (b"GET /stats HTTP/1.1\r\nHost: x\r\n" + many + b"\r\n", 431),
        (request("POST", "/solve", " " * random_.choice([65537, 300000])), 413),
        (b"POST /solve HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000000\r\n\r\n", 413),
        (b"POST /solve HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
         + b"8000\r\n" + b" " * 0x8000 + b"\r\n8000\r\n" + b" " * 0x8000 + b"\r\n1\r\n \r\n0\r\n\r\n", 413),
        (b"POST /solve HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"e" * 30000, 400),
    ])


class Attack:
    def __init__(self, service, random_):
        self.service, self.random = service, random_
        self.sent = 0

    def send_in_pieces(self, client, data):
        """Whole, in a few pieces or byte by byte; the service may hang up in between."""
        if len(data) > 2000 or self.random.random() < 0.6:
            cuts = []
        elif self.random.random() < 0.9:
            cuts = sorted(self.random.sample(range(1, len(data)), min(3, len(data) - 1)))
        else:
            cuts = list(range(1, len(data)))
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for begin, end in zip([0, *cuts], [*cuts, len(data)]):
                client.send(data[begin:end])
        except (BrokenPipeError, ConnectionResetError):
            pass

    def expect(self, client, data, status, where):
        try:
            answer = client.answer()
        except EOFError as error:
            raise AssertionError(f"{where}: {data[:120]!r}: {error}") from None
        self.sent += 1
        assert answer.status == status, f"{where}: {data[:120]!r}: {answer.status}, not {status}: {answer.body[:200]!r}"
        if status >= 400:
            assert list(answer.json()) == ["error"], answer.body
        if status == 405:
            assert answer.headers["allow"]
        return answer

    def malformed(self):
        data, status = self.random.choice(MALFORMED)
        with self.service.connect() as client:
            self.send_in_pieces(client, data)
            answer = self.expect(client, data, status, "malformed")
            assert answer.headers["connection"] == "close"
            assert client.at_end()

    def oversized(self):
        data, status = oversized(self.random)
        with self.service.connect() as client:
            self.send_in_pieces(client, data)
            self.expect(client, data, status, "oversized")
            assert client.at_end()

    def refused(self):
        """Refusing a request does not end the connection."""
        with self.service.connect() as client:
            for data, status in self.random.sample(REFUSED + SERVED, 5):
                self.send_in_pieces(client, data)
                self.expect(client, data, status, "refused")

    def cut(self):
        """A request whose rest never comes: reset, closed, or the sending side closed."""
        data, _ = self.random.choice(SERVED)
        data = data[:self.random.randrange(1, len(data))]
        with self.service.connect() as client:
            self.send_in_pieces(client, data)
            how = self.random.choice(["close", "reset", "half"])
            if how == "reset":
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            if how == "half":
                client.socket.shutdown(socket.SHUT_WR)
                if data.strip(b"\r\n"):
                    self.expect(client, data, 400, "cut")
                    assert client.at_end()
        self.sent += 1

    def garbage(self):
        """Bytes without sense, or a request with a few of its bits turned over."""
        data, _ = self.random.choice(SERVED + REFUSED)
        if self.random.random() < 0.5:
            data = self.random.randbytes(self.random.randrange(1, 3000))
        else:
            data = bytearray(data[:4000])
            for _ in range(self.random.randrange(1, 6)):
                data[self.random.randrange(len(data))] ^= 1 << self.random.randrange(8)
        with self.service.connect() as client:
            self.send_in_pieces(client, bytes(data))
            try:
                client.socket.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            while client.read_more():  # whatever it is: the service has to come to an end
                pass
            assert client.received == b"" or client.received.startswith(b"HTTP/1.1 "), client.received[:100]
        self.sent += 1

    def slow(self):
        """A byte now and then does not keep a connection open (idle is 2 s here)."""
        data, _ = self.random.choice(SERVED)
        with self.service.connect() as client:
            if self.random.random() < 0.3:
                assert client.at_end()  # not even a byte
                return
            client.send(data[:10])
            client.socket.settimeout(0.1)
            for byte in b"x" * 10000:
                try:
                    client.send(bytes([byte]))
                    if not client.read_more() or client.received:
                        break
                except socket.timeout:
                    continue
                except OSError:
                    break
            else:
                raise AssertionError("a slow client is never sent away")
        self.sent += 1

    def pipelined(self):
        """Answers come in the order of the requests."""
        count = self.random.choice([10, 100, 400])
        chosen = [self.random.choice(SERVED + REFUSED[:8]) for _ in range(count)]
        chosen = [each for each in chosen if len(each[0]) < 1000]
        with self.service.connect() as client:
            data = b"".join(data for data, _ in chosen)
            writer = threading.Thread(target=self.send_in_pieces, args=(client, data))
            writer.start()
            for one, status in chosen:
                self.expect(client, one, status, "pipelined")
            writer.join()

    def streams(self):
        """A client of events that leaves after some of them, or before the first, whatever it has sent behind."""
        data = self.random.choice(STREAMS) + self.random.choice([b"", b"\0", request("GET", "/") * self.random.choice([1, 99, 999])])
        with self.service.connect() as client:
            self.send_in_pieces(client, data)
            if self.random.random() < 0.8:
                for event, _ in zip(EventStream(client), range(self.random.randrange(3))):
                    assert event[0] in ("stats", "progress", "error"), event  # error: the search took too long
            if self.random.random() < 0.5:
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.sent += 1

    def never_reading(self):
        """A client that asks and takes nothing is sent away when nothing has left for the idle time."""
        with self.service.connect() as client:
            client.socket.settimeout(20)
            try:
                while True:
                    client.send(request("GET", "/") * 100)
            except OSError as error:
                assert not isinstance(error, socket.timeout), "never sent away"
        self.sent += 1


def methods(service):
    """What can be said in a few exact cases."""
    for path in ("/", "/stats"):
        whole, head = service.request("GET", path), service.request("HEAD", path)
        assert head.status == 200 and head.body == b"" and int(head.headers["content-length"]) > 0
        assert whole.headers["content-type"] == head.headers["content-type"]
    assert service.request("GET", "/solve").headers["allow"] == "POST"
    assert service.request("POST", "/stats", "").headers["allow"] == "GET, HEAD"
    with service.connect() as client:  # HTTP/1.0 ends, unless asked not to
        client.send(b"GET /stats HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        assert client.answer().headers["connection"] == "keep-alive"
        client.send(b"GET /stats HTTP/1.0\r\n\r\n")
        assert client.answer().headers["connection"] == "close" and client.at_end()
    with service.connect() as client:
        client.send(request("GET", "/stats", headers=["Connection: close"]) + request("GET", "/stats"))
        assert client.answer().headers["connection"] == "close" and client.at_end()
    with service.connect() as client:  # Expect: 100-continue
        client.send(b"POST /solve HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                    b"Content-Length: %d\r\n\r\n" % len(SMALL))
        assert client.answer().status == 100
        client.send(SMALL.encode())
        assert client.answer().status == 200
        client.send(request("POST", "/solve", SMALL, ["Expect: 100-continue"]))
        answer = client.answer()
        assert (client.answer() if answer.status == 100 else answer).status == 200


def run(service, seed, kinds, rounds):
    attack = Attack(service, random.Random(seed))
    for kind in kinds:
        for _ in range(rounds[kind]):
            getattr(attack, kind)()
    return attack.sent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("service")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--rounds", type=int, default=300, help="of each cheap kind")
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    rounds = dict.fromkeys(["malformed", "oversized", "refused", "cut", "garbage"], args.rounds)
    rounds.update(pipelined=max(1, args.rounds // 15), slow=2, never_reading=1, streams=max(1, args.rounds // 20))
    os.environ["TANDEM_IO_ADAPTIVE"] = "off"  # another completion thread has descriptors of its own
    with Service(args.service, "--idle", "5", "--search-time", "5",
                 "--streams", "1000") as service:
        methods(service)
        service.wait_for("all connections closed", lambda stats: stats["connections"]["open"] == 1)
        before = service.descriptors()
        results, failures = [], []

        def thread(number, kinds):
            try:
                results.append((kinds, run(service, args.seed + number, kinds, rounds)))
            except BaseException as error:  # pylint: disable=broad-except
                failures.append((kinds, error))

        groups = [["malformed", "slow"], ["oversized", "cut"], ["refused", "garbage"], ["pipelined", "never_reading"]]
        threads = [threading.Thread(target=thread, args=each) for each in enumerate(groups)]
        # Searches that hold all CPUs would make a slow machine miss the idle time: they come by themselves.
        for phase in (threads, [threading.Thread(target=thread, args=(10 + i, ["streams"])) for i in range(4)]):
            for each in phase:
                each.start()
            for each in phase:
                each.join()
        for kinds, sent in results:
            print(f"{'+'.join(kinds)}: {sent} requests as expected")
        for kinds, error in failures:
            print(f"{'+'.join(kinds)}: {type(error).__name__}: {error}")
        assert not failures, f"seed {args.seed}"
        assert service.process.poll() is None
        service.wait_for("all connections closed", lambda stats: stats["connections"]["open"] == 1)
        service.wait_for("no search left", lambda stats: stats["searches"]["running"] == 0)
        # The connection of the last look at /stats may still be closing.
        assert service.descriptors() <= before + 1, f"{service.descriptors()} descriptors, {before} before"
        print(f"descriptors: {before} before, {service.descriptors()} after")


if __name__ == "__main__":
    main()
