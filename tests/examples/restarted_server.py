# restarted_server.py NAME PROGRAM: replaces a running graceful_restart, while clients go on connecting.
# SPDX-License-Identifier: MIT
"""Exits with 0 if no client was refused, cut or left without an answer."""
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from example_servers import equal  # noqa: E402
from service_process import PATIENCE, Service, contents  # noqa: E402

# Enough that some are accepted while the server changes.
CLIENTS = 4


def connection(port):
    return socket.create_connection(("127.0.0.1", port), PATIENCE)


def ask(port, word="hello"):
    """The number of the process that answers a new connection."""
    with connection(port) as client:
        client.sendall(word.encode() + b"\n")
        heard = b""
        while not heard.endswith(b"\n"):
            more = client.recv(100)
            assert more, f"closed after {heard!r}"
            heard += more
    process, said = heard.decode().split()
    equal(said, word, "the echo")
    return int(process)


class Crowd:
    """Clients that connect, ask and go, one after the other, until the end."""

    def __init__(self, port):
        self.port, self.over = port, threading.Event()
        self.answered, self.failed = set(), []
        self.threads = [threading.Thread(target=self.go) for _ in range(CLIENTS)]
        for each in self.threads:
            each.start()

    def go(self):
        while not self.over.is_set():
            try:
                self.answered.add(ask(self.port))
            except Exception as error:  # noqa: BLE001: whatever it is, it is told
                self.failed.append(repr(error))
                return

    def end(self):
        self.over.set()
        for each in self.threads:
            each.join()
        equal(self.failed, [], "clients that failed")


def until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.002)


def takes_over_again_and_again(program, control):
    now = Service(program, "--control", control)
    crowd = Crowd(now.port)
    try:
        for _ in range(3):
            # Two of the old one's: one that has had its answer, and one that has not asked yet.
            with connection(now.port) as idle, connection(now.port) as late:
                idle.sendall(b"first\n")
                equal(idle.recv(100).decode(), f"{now.process.pid} first\n", "before the change")
                equal(ask(now.port), now.process.pid, "who answers: those that came before it are accepted, too")
                later = Service(program, "--control", control)
                equal(later.port, now.port, "the port of the next version")
                until(lambda: later.process.pid in crowd.answered, "an answer of the next version")  # noqa: B023
                equal(idle.recv(100), b"", "the end of a connection that asks no more")
                late.sendall(b"last\n")
                equal(late.recv(100).decode(), f"{now.process.pid} last\n", "after the change")
                equal(late.recv(100), b"", "the end of the last connection")
            equal(now.wait_for_end(), 0, now.errors() + "the old version's exit code")
            now = later
        equal(ask(now.port), now.process.pid, "who answers in the end")
    finally:
        crowd.end()
        now.stop()


def a_next_version_that_fails_changes_nothing(program, control):
    with Service(program, "--control", control) as server:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as failing:
            failing.connect(control)
            message, descriptors, _, _ = socket.recv_fds(failing, 1, 4)
            equal(len(descriptors), 2, f"what came with {message!r}")
            for each in descriptors:
                os.close(each)
        equal(ask(server.port), server.process.pid, "who answers")
        equal(ask(server.port), server.process.pid, "who answers")


def an_older_version_that_ends_after_the_hand_over_ends_nobody_else(program, control):
    with socket.socket(socket.AF_UNIX) as older, socket.create_server(("127.0.0.1", 0)) as web:
        older.bind(control)
        older.listen()
        port = web.getsockname()[1]
        later = subprocess.Popen([program, "--control", control], stdout=subprocess.PIPE, text=True)
        try:
            asking, _ = older.accept()
            socket.send_fds(asking, [b"x"], [web.fileno(), older.fileno()])
            asking.close()  # before it can hear that the next one is ready
            equal(later.stdout.readline(), f"listening on 127.0.0.1:{port}\n", "where it listens")
            equal(ask(port), later.pid, "who answers")
            equal(ask(port), later.pid, "who answers")
            later.send_signal(signal.SIGTERM)
            equal(later.wait(PATIENCE), 0, "its exit code")
        finally:
            later.kill()
            later.wait()
            later.stdout.close()


def who_has_no_descriptor_for_the_next_version_goes_on_and_gives_way_later(program, control):
    few = 40

    def with_few_descriptors():
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, few))

    now = Service(program, "--control", control, before_exec=with_few_descriptors)
    clients = [connection(now.port) for _ in range(few)]
    try:
        until(lambda: now.descriptors() == few, "a process that has all it may have")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
            asking.connect(control)
            until(lambda: "the next version has to wait" in contents(now.said), "a word that it has to wait")
            for each in clients:
                each.close()
            message, descriptors, _, _ = socket.recv_fds(asking, 1, 4)
            equal(len(descriptors), 2, f"what came with {message!r}")
            for each in descriptors:
                os.close(each)
        equal(ask(now.port), now.process.pid, "who answers")
    finally:
        for each in clients:
            each.close()
        now.stop()


def starts_with_what_a_manager_has_opened(program, control):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        # As systemd does it: descriptor 3, and the number of the process that it is for.
        script = 'LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=web exec "$@" 3<&0 0</dev/null'
        manager = subprocess.Popen(["/bin/sh", "-c", script, "sh", program, "--control", control], stdin=listener.fileno(),
                                   stdout=subprocess.PIPE, text=True)
    try:
        equal(manager.stdout.readline(), f"listening on 127.0.0.1:{port}\n", "where it listens")
        equal(ask(port), manager.pid, "who answers")
        manager.send_signal(signal.SIGTERM)
        equal(manager.wait(PATIENCE), 0, "its exit code")
    finally:
        manager.kill()
        manager.wait()
        manager.stdout.close()


def main():
    program = sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        takes_over_again_and_again(program, os.path.join(folder, "one"))
        a_next_version_that_fails_changes_nothing(program, os.path.join(folder, "two"))
        starts_with_what_a_manager_has_opened(program, os.path.join(folder, "three"))
        an_older_version_that_ends_after_the_hand_over_ends_nobody_else(program, os.path.join(folder, "four"))
        who_has_no_descriptor_for_the_next_version_goes_on_and_gives_way_later(program, os.path.join(folder, "five"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
