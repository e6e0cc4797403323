# example_servers.py NAME PROGRAM: talks to a server of the examples from outside.
# SPDX-License-Identifier: MIT
"""NAME: echo_server, port_forwarder or static_file_server. Exits with 0 if everything was as it has to be."""
import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import emulated  # noqa: E402
from service_process import PATIENCE, Client, Service, request  # noqa: E402


def equal(got, expected, what):
    assert got == expected, f"{what}: {got!r} instead of {expected!r}"


def read_to_end(connection):
    data = b""
    while True:
        try:
            piece = connection.recv(65536)
        except ConnectionResetError:
            return data, "reset"
        if not piece:
            return data, "end"
        data += piece


def exactly(connection, count):
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        assert piece, f"the connection ended after {data[:100]!r}"
        data += piece
    return data


# echo_server


def echoes_from_every_home(program):
    for home in ("thread", "pool", "workers"):
        for more in ([], ["--receive"]):
            with Service(program, "--home", home, "--io-threads", "2", *more) as server:
                for size in (1, 5000):
                    with server.connect() as client:
                        client.send(b"x" * size)
                        equal(exactly(client.socket, size), b"x" * size, f"{home} {more} {size}")
                        client.socket.shutdown(socket.SHUT_WR)
                        equal(read_to_end(client.socket), (b"", "end"), "after our end")
                server.stop()
                assert re.search(r"^served 2 connections and 5001 bytes over (io_uring|asio|iocp); 0 were idle", server.last_words), server.last_words


def says_which_backend_was_chosen(program):
    backend = "iocp" if emulated.EMULATOR else "asio"
    with Service(program, "--backend", backend) as server:
        server.stop()
        assert f"over {backend}" in server.last_words, server.last_words


def silence_ends_a_connection(program):
    for more in ([], ["--receive"]):
        with Service(program, "--idle", "0.05", *more) as server:
            with server.connect() as client:
                equal(read_to_end(client.socket)[0], b"", "from a server whose patience is over")
            server.stop()
            assert "1 were idle for too long" in server.last_words, server.last_words


def further_connections_wait_for_a_place(program):
    with Service(program, "--connections", "1") as server:
        with server.connect() as first:
            first.send(b"a")
            equal(exactly(first.socket, 1), b"a", "the first one")
            with server.connect() as second:
                second.send(b"b")  # the kernel keeps it
                first.send(b"c")
                equal(exactly(first.socket, 1), b"c", "the first one, still")
                first.socket.close()
                equal(exactly(second.socket, 1), b"b", "the second one, at last")


def a_drain_ends_who_says_nothing(program):
    with Service(program, "--grace", str(PATIENCE)) as server, server.connect() as client:
        client.send(b"a")
        equal(exactly(client.socket, 1), b"a", "before")
        server.stop()  # long before the grace period is over
        equal(read_to_end(client.socket)[0], b"", "after")


# port_forwarder


class Target:
    """A server that sends everything back in capitals, and ends its direction when the client ends his."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    @staticmethod
    def serve(connection):
        with connection, contextlib.suppress(ConnectionResetError):  # what a grace period's end does
            while data := connection.recv(65536):
                connection.sendall(data.upper())


def five_clients_send_all_and_hear_all(server, text):
    clients = [server.connect() for _ in range(5)]
    for client in clients:
        threading.Thread(target=lambda c=client: (c.send(text), c.socket.shutdown(socket.SHUT_WR)), daemon=True).start()
    for client in clients:
        heard, end = read_to_end(client.socket)
        assert (heard == text.upper(), end) == (True, "end"), f"{len(heard)} bytes of {len(text)}, then {end}"
        client.socket.close()


def passes_bytes_on_both_ways(program):
    target = Target()
    text = b"".join(b"line %d\n" % i for i in range(100_000))
    with Service(program, "--to", f"localhost:{target.port}") as server:
        five_clients_send_all_and_hear_all(server, text)
        server.stop()
        equal(server.last_words.strip(),
              f"0 open, 5 ended, 0 unreachable, {5 * len(text)} bytes up, {5 * len(text)} down", "its counts")


def who_cannot_be_reached_is_a_reset(program):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with Service(program, "--to", f"127.0.0.1:{free.getsockname()[1]}") as server:
            try:
                with server.connect() as client:
                    equal(read_to_end(client.socket), (b"", "reset"), "instead of a connection")
            except ConnectionResetError:
                pass  # it came before connect() had looked
            server.stop()
            assert "1 unreachable" in server.last_words, server.last_words


def a_connection_may_end_after_the_signal(program):
    target = Target()
    with Service(program, "--to", f"127.0.0.1:{target.port}", "--grace", str(PATIENCE)) as server, server.connect() as client:
        client.send(b"a")
        equal(exactly(client.socket, 1), b"A", "before")
        server.send_signal(signal.SIGTERM)
        while "finishing" not in server.errors():
            time.sleep(0.01)
        client.send(b"b")
        equal(exactly(client.socket, 1), b"B", "while it drains")
        client.socket.shutdown(socket.SHUT_WR)
        equal(read_to_end(client.socket), (b"", "end"), "at the end")
        equal(server.wait_for_end(), 0, "exit code")
        assert server.last_words.startswith("0 open, 1 ended"), server.last_words


def a_grace_period_ends(program):
    target = Target()
    with Service(program, "--to", f"127.0.0.1:{target.port}", "--grace", "0.05") as server, server.connect() as client:
        client.send(b"a")
        equal(exactly(client.socket, 1), b"A", "before")
        server.stop()


# static_file_server


def tree(folder):
    root = pathlib.Path(folder) / "root"
    (root / "sub").mkdir(parents=True)
    (root / "hello.txt").write_bytes(b"Hello, World!")
    (root / "sub" / "a b.html").write_bytes(b"<p>")
    (root / "empty").write_bytes(b"")
    (root / "large.bin").write_bytes(bytes(i % 251 for i in range(1_000_000)))
    (root / ".hidden").write_bytes(b"secret")
    (root.parent / "secret").write_bytes(b"secret")
    (root / "outside").symlink_to(root.parent / "secret")
    (root / "inside").symlink_to("hello.txt")
    return root


def files_and_their_heads(program):
    with tempfile.TemporaryDirectory() as folder, Service(program, str(tree(folder))) as server, server.connect() as client:
        for target, body, kind in [("/hello.txt", b"Hello, World!", "text/plain; charset=utf-8"),
                                   ("/sub/a%20b.html?x=1", b"<p>", "text/html; charset=utf-8"),
                                   ("//sub//a%20b.html", b"<p>", "text/html; charset=utf-8"),
                                   ("/empty", b"", "application/octet-stream"),
                                   ("/inside", b"Hello, World!", "application/octet-stream"),
                                   ("/large.bin", bytes(i % 251 for i in range(1_000_000)), "application/octet-stream")]:
            client.send(request("GET", target))
            answer = client.answer()
            equal((answer.status, answer.headers["content-type"]), (200, kind), target)
            assert answer.body == body, f"another body: {target}"
            client.send(request("HEAD", target))
            head = client.answer(head=True)
            equal(head.status, 200, target)
            equal(head.headers, answer.headers, target)
            client.send(request("GET", target, headers=[f"If-None-Match: {answer.headers['etag']}"]))
            equal(client.until(b"\r\n\r\n").split(b"\r\n")[0], b"HTTP/1.1 304 Not Modified", target)


def nothing_outside_of_the_root(program):
    with tempfile.TemporaryDirectory() as folder, Service(program, str(tree(folder))) as server, server.connect() as client:
        for target in ["/../secret", "/sub/../../secret", "/%2e%2e/secret", "/..%2fsecret", "/sub/..%5c..%5csecret", "/outside",
                       "/.hidden", "/%2ehidden", "/sub/.", "/hello.txt%00", "/hello%", "/hello%zz", "hello.txt", "*",
                       "http://test/hello.txt", "http://test", "http://test/../secret", "/", "/sub", "/sub/", "/missing", "/hello.txt/", "/hello.txt/x", "/" + "a" * 4000]:
            expected = 200 if target in ("/hello.txt/", "http://test/hello.txt") else 404
            client.send(request("GET", target))
            answer = client.answer()
            equal(answer.status, expected, target)
            assert b"secret" not in answer.body, target


SWAP = """
import os
while True:
    os.link("hello.txt", "spare")
    os.replace("spare", "file")
    os.symlink("../secret", "spare")
    os.replace("spare", "file")
    os.rename("sub", "folder")
    os.rename("folder", "sub")
    os.symlink("../other", "folder")
    os.unlink("folder")
"""


def nothing_outside_while_links_are_swapped(program):
    """Somebody puts links to the outside in the place of files and folders: what was there when it was looked at need not be what is opened."""
    with tempfile.TemporaryDirectory() as folder:
        root = tree(folder)
        (root.parent / "other").mkdir()
        (root.parent / "other" / "page").write_bytes(b"secret")
        (root / "sub" / "page").write_bytes(b"Hello, World!")
        with Service(program, str(root)) as server, server.connect() as client, \
                subprocess.Popen([sys.executable, "-c", SWAP], cwd=root) as swapping:
            try:
                seen = {200: 0, 404: 0}
                while min(seen.values()) < 2000:
                    client.send((request("GET", "/file") + request("GET", "/folder/page")) * 20)
                    for _ in range(40):
                        answer = client.answer()
                        seen[answer.status] += 1
                        assert b"secret" not in answer.body, f"after {seen}"
            finally:
                swapping.kill()


def parts_of_a_file(program):
    with tempfile.TemporaryDirectory() as folder, Service(program, str(tree(folder))) as server, server.connect() as client:
        whole = b"Hello, World!"
        for field, status, part, where in [
                ("bytes=0-4", 206, b"Hello", "bytes 0-4/13"), ("bytes=7-", 206, b"World!", "bytes 7-12/13"),
                ("bytes=-6", 206, b"World!", "bytes 7-12/13"), ("bytes=0-99", 206, whole, "bytes 0-12/13"),
                ("bytes=-99", 206, whole, "bytes 0-12/13"), ("bytes=12-12", 206, b"!", "bytes 12-12/13"),
                ("bytes=13-", 416, b"", "bytes */13"), ("bytes=-0", 416, b"", "bytes */13"),
                ("bytes=5-4", 200, whole, None), ("bytes=0-1,3-4", 200, whole, None), ("lines=1-2", 200, whole, None),
                ("bytes=a-b", 200, whole, None), ("bytes=99999999999999999999-", 200, whole, None)]:
            client.send(request("GET", "/hello.txt", headers=[f"Range: {field}"]))
            answer = client.answer()
            equal((answer.status, answer.body, answer.headers.get("content-range")), (status, part, where), field)
        client.send(request("GET", "/large.bin", headers=["Range: bytes=65530-200000"]))
        answer = client.answer()
        equal(answer.status, 206, "a large part")
        assert answer.body == bytes(i % 251 for i in range(65530, 200001)), "a large part is another one"
        client.send(request("GET", "/empty", headers=["Range: bytes=0-"]))
        equal(client.answer().status, 416, "of an empty file")


def connections_stay_open_or_close(program):
    with tempfile.TemporaryDirectory() as folder, Service(program, str(tree(folder)), "--idle", "2") as server:
        with server.connect() as client:  # pipelined, in pieces
            for byte in request("GET", "/hello.txt") * 2 + request("GET", "/missing") + request("HEAD", "/hello.txt"):
                client.socket.send(bytes([byte]))
            equal([client.answer().status for _ in range(3)], [200, 200, 404], "pipelined")
            equal(client.answer(head=True).status, 200, "pipelined")
            client.send(request("DELETE", "/hello.txt"))
            answer = client.answer()
            equal((answer.status, answer.headers["allow"]), (405, "GET, HEAD"), "another method")
            client.send(request("GET", "/hello.txt", headers=["Connection: close"]))
            equal(client.answer().headers["connection"], "close", "asked for")
            assert client.at_end()
        for data, status in [(b"nonsense\r\n\r\n", 400), (b"GET / HTTP/1.1\r\n\r\n", 400), (request("POST", "/hello.txt", "body"), 413),
                             (b"GET / HTTP/1.1\r\nHost: test\r\nX: " + b"x" * 9000 + b"\r\n\r\n", 431), (b"GET / HTT", 408)]:
            with server.connect() as client:
                client.send(data)
                equal(client.answer().status, status, repr(data[:40]))
                assert client.at_end()
        with server.connect() as client:
            assert client.at_end(), "silence"
        server.stop()
        assert re.match(r"answered \d+ requests with 39 bytes", server.last_words), server.last_words


def a_client_too_many_is_told_when_to_come_again(program):
    with tempfile.TemporaryDirectory() as folder, \
            Service(program, str(tree(folder)), "--connections", "1", "--turned-away", "1") as server:
        with server.connect() as client:
            client.send(request("GET", "/hello.txt"))
            equal(client.answer().status, 200, "the first one")
            with server.connect() as second:
                answer = second.answer()  # without a request, too
                equal((answer.status, answer.headers["retry-after"], answer.headers["connection"], answer.body),
                      (503, "1", "close", b"503 Service Unavailable\n"), "the second one")
                with server.connect() as third:  # while the second one has not said goodbye
                    read_to_end(third.socket)
            client.send(request("GET", "/hello.txt"))
            equal(client.answer().status, 200, "the first one, still")
        server.stop()
        words = re.search(r"; turned away (\d+) clients, closed (\d+)$", server.last_words.strip())
        equal(sum(map(int, words.groups())), 2, server.last_words)


LAWS = {
    "echo_server": [echoes_from_every_home, says_which_backend_was_chosen, silence_ends_a_connection, further_connections_wait_for_a_place,
                    a_drain_ends_who_says_nothing],
    "port_forwarder": [passes_bytes_on_both_ways, who_cannot_be_reached_is_a_reset, a_connection_may_end_after_the_signal,
                       a_grace_period_ends],
    "static_file_server": [files_and_their_heads, nothing_outside_of_the_root, nothing_outside_while_links_are_swapped, parts_of_a_file, connections_stay_open_or_close,
                           a_client_too_many_is_told_when_to_come_again],
}

if __name__ == "__main__":
    name, program = sys.argv[1:3]
    for law in LAWS[name]:
        law(program)
        print(law.__name__, flush=True)
