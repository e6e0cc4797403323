# service_process.py: starts puzzle_service, or another server, for a test, talks to it, and ends it.
# SPDX-License-Identifier: MIT
"""Shared by the service tests. The service is a process of its own on a free loopback port."""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import emulated

# Nothing here is timed: this is only when a test gives up on something that never comes.
PATIENCE = float(os.environ.get("TANDEM_TEST_LIMIT_SECONDS", "60"))


class Service:
    """`with Service(path, "--idle", "1") as service:` leaving it asserts a clean exit on SIGTERM.

    With a context of ssl's its clients speak TLS."""

    def __init__(self, path, *options, before_exec=None, context=None):
        self.context = context
        self.said, self.log = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = subprocess.Popen([*emulated.command(path), "--port", "0", *options], stdin=subprocess.DEVNULL, stdout=self.said,
                                        stderr=self.log, preexec_fn=before_exec, env=emulated.live_environment())
        line = self.first_line()
        found = re.match(r"listening on (?:https?://)?(?:127\.0\.0\.1|0\.0\.0\.0):(\d+)$", line.strip())
        if not found:
            self.process.kill()
            raise AssertionError(f"no address but {line!r}; stderr: {self.errors()}")
        self.port = int(found.group(1))

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.process.kill()
            self.process.wait()
            print(self.errors(), file=sys.stderr)
        else:
            self.stop()
        self.said.close()
        self.log.close()

    def first_line(self):
        """What it says first; what it has said by then if it ends without."""
        end = time.monotonic() + PATIENCE
        while True:
            has_ended = self.process.poll() is not None
            text = contents(self.said)
            if has_ended or "\n" in text or time.monotonic() > end:
                return text.split("\n", 1)[0]
            time.sleep(0.002)

    def errors(self):
        return contents(self.log)

    def send_signal(self, number):
        self.process.send_signal(emulated.signal_for(number))

    def wait_for_end(self):
        """Its exit code, once it has ended by itself; last_words is what it had to say after its address."""
        code = self.process.wait(PATIENCE)
        self.last_words = contents(self.said).split("\n", 1)[1]
        return code

    def stop(self, number=signal.SIGTERM):
        """Exit code 0 also says that no sanitizer had a complaint, LeakSanitizer included."""
        if self.process.returncode is not None:
            return
        self.send_signal(number)
        try:
            code = self.wait_for_end()
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"no end after signal {number}; stderr: {self.errors()}") from None
        assert code == 0, f"exit code {code}; stderr: {self.errors()}"

    def connect(self):
        return Client(self.port, self.context)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def request(self, method, path, body=None, headers=()):
        with self.connect() as client:
            client.send(request(method, path, body, headers))
            return client.answer(head=method == "HEAD")

    def solve(self, **question):
        return self.request("POST", "/solve", json.dumps(question))

    def stats(self):
        return self.request("GET", "/stats").json()

    def wait_for(self, what, condition):
        """Until condition(stats) holds; it need not hold at once."""
        end = time.monotonic() + PATIENCE
        while not condition(self.stats()):
            assert time.monotonic() < end, f"never came: {what}; {self.stats()}"
            time.sleep(0.01)


def contents(file):
    # The server shares the file's position, so that a seek would move what it writes.
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode(errors="replace").replace("\r\n", "\n")


def request(method, path, body=None, headers=()):
    lines = [f"{method} {path} HTTP/1.1", "Host: test", *headers]
    data = b"" if body is None else body.encode()
    if body is not None:
        lines.append(f"Content-Length: {len(data)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


class Client:
    """One connection, byte by byte under control. By TLS an end without close_notify is an error of its own."""

    def __init__(self, port, context=None):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        if context:
            try:
                self.socket = context.wrap_socket(self.socket, server_hostname="localhost", suppress_ragged_eofs=False)
            except OSError:
                self.socket.close()
                raise
        self.received = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def read_more(self):
        """False at the end of the stream."""
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        self.received += data
        return data != b""

    def until(self, mark):
        while mark not in self.received:
            if not self.read_more():
                raise EOFError(f"the connection ended after {self.received[:200]!r}")
        head, self.received = self.received.split(mark, 1)
        return head

    def answer(self, head=False):
        lines = self.until(b"\r\n\r\n").decode().split("\r\n")
        version, status, _ = lines[0].split(" ", 2)
        assert version == "HTTP/1.1", lines[0]
        headers = {}
        for line in lines[1:]:
            name, value = line.split(": ", 1)
            headers[name.lower()] = value
        if status == "100":
            return Answer(100, headers, b"")
        length = 0 if head else int(headers["content-length"])
        while len(self.received) < length:
            if not self.read_more():
                raise EOFError("the connection ended within a body")
        body, self.received = self.received[:length], self.received[length:]
        return Answer(int(status), headers, body)

    def at_end(self):
        """Whether the service closed the connection; waits for it."""
        while not self.received and self.read_more():
            pass
        return not self.received
