#!/usr/bin/env python3
"""examples_test.py ON_TANDEM OF_ASIO DH_FILE: Beast's and Asio's examples on tandem talk to those that are as they were.
SPDX-License-Identifier: MIT

Asio's own certificate has expired (2026-11-10), so a pair is made here.
"""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ON_TANDEM, OF_ASIO, DH_FILE = (os.path.abspath(each) for each in sys.argv[1:4])
PATIENCE = float(os.environ.get("TANDEM_TEST_LIMIT_SECONDS", "60"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """An example that serves until it is killed, which is how it ends."""

    def __init__(self, *words, folder=None, program=ON_TANDEM):
        self.port = free_port()
        self.process = subprocess.Popen([program, *(w.replace("PORT", str(self.port)) for w in words)],
                                        cwd=folder, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        # It says nothing when it listens.
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except OSError:
                time.sleep(0.01)
        self.process.kill()
        raise AssertionError(f"the server did not start: {self.process.communicate()[1]}")

    def __exit__(self, kind, error, trace):
        was_alive = self.process.poll() is None
        self.process.kill()
        said = self.process.communicate()[1]
        if kind is None and not was_alive:
            raise AssertionError(f"the server ended by itself, {self.process.returncode}: {said}")


def client(*words, folder=None, given="", program=OF_ASIO):
    done = subprocess.run([program, *words], cwd=folder, input=given.encode(), capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0 and not done.stderr, f"{words}: {done.returncode}: {done.stderr}"
    return done.stdout.decode()


class Examples(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def test_websocket(self):
        for threads in ("1", "3"):
            with Server("websocket_server_async", "127.0.0.1", "PORT", threads) as server:
                for message in ("Hello", "x" * 100_000):
                    self.assertEqual(client("websocket_client_async", "127.0.0.1", str(server.port), message),
                                     message + "\n")

    def test_many_websockets_at_once(self):
        with Server("websocket_server_async", "127.0.0.1", "PORT", "2") as server:
            words = [OF_ASIO, "websocket_client_async", "127.0.0.1", str(server.port)]
            several = [subprocess.Popen([*words, f"number {i}"], stdout=subprocess.PIPE, text=True) for i in range(20)]
            said = [each.communicate(timeout=PATIENCE)[0] for each in several]
            self.assertEqual(said, [f"number {i}\n" for i in range(20)])

    def test_http(self):
        self.ask_for_files(ON_TANDEM, "http_client_async", OF_ASIO)

    def test_http_client(self):
        self.ask_for_files(OF_ASIO, "http_client_awaitable", ON_TANDEM)

    def ask_for_files(self, server_program, client_name, client_program):
        def ask(*words):
            return client(client_name, "127.0.0.1", str(server.port), *words, program=client_program)

        pathlib.Path(self.folder, "index.html").write_text("<p>" + "text " * 50_000 + "</p>\n")
        pathlib.Path(self.folder, "small.txt").write_text("small\n")
        with Server("http_server_async", "127.0.0.1", "PORT", self.folder, "2", program=server_program) as server:
            for target, version, kind, body in (
                    ("/small.txt", "1.1", "text/plain", "small\n"),
                    ("/small.txt", "1.0", "text/plain", "small\n"),
                    ("/", "1.1", "text/html", "<p>" + "text " * 50_000 + "</p>\n")):
                answer = ask(target, version)
                head, _, rest = answer.partition("\r\n\r\n")
                self.assertTrue(head.startswith(f"HTTP/{version} 200 OK\r\n"), head)
                self.assertIn(f"Content-Type: {kind}", head)
                self.assertEqual(rest, body + "\n")
            answer = ask("/none", "1.1")
            self.assertTrue(answer.startswith("HTTP/1.1 404 Not Found\r\n"), answer)

    def test_tls(self):
        key, certificate = (os.path.join(self.folder, name) for name in ("key.pem", "ca.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                        "-days", "2", "-subj", "/CN=localhost"], check=True, capture_output=True)
        whole = pathlib.Path(certificate).read_text() + pathlib.Path(key).read_text()
        pathlib.Path(self.folder, "server.pem").write_text(whole)
        shutil.copy(DH_FILE, os.path.join(self.folder, "dh4096.pem"))
        with Server("tls_server", "PORT", folder=self.folder) as server:
            for message in ("Hello", "y" * 1000):
                said = client("tls_client", "localhost", str(server.port), folder=self.folder, given=message + "\n")
                self.assertIn("Verifying", said)
                self.assertTrue(said.endswith(f"Reply: {message}\n"), said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
