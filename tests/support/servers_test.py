#!/usr/bin/env python3
# servers_test.py NAME [WORD...]: servers.py with one real server: what its orders do, and that nothing is left, however it ends.
# SPDX-License-Identifier: MIT
"""NAME as servers.py has it; WORD: only laws whose name has one of them. Exits with 77 if that is not installed (a failure with TANDEM_TEST_REQUIRE_ALL=1)."""
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from server_process import PAUSE, children_of, send_to, state_and_parent  # noqa: E402
from servers import PATIENCE  # noqa: E402

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "servers.py")


class Run:
    """A servers.py of its own, whose folder lies in `home`."""

    def __init__(self, name, home):
        self.name, self.home = name, home
        self.process = subprocess.Popen([sys.executable, "-B", SCRIPT, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "TMPDIR": home})

    def until_ready(self):
        told = self.process.stdout.readline().split()
        assert told and told[0] == self.name.partition("+")[0], told
        values = dict(word.split("=", 1) for word in told[1:])
        self.port, self.folder = int(values["port"]), values["folder"]
        assert self.process.stdout.readline() == "ready\n"

    def order(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def does(self, verb):
        answer = self.order(f"{verb} {self.name.partition('+')[0]}")
        assert answer == "done", answer

    def refuses(self, verb, why):
        answer = self.order(f"{verb} {self.name.partition('+')[0]}")
        assert answer.startswith("failed: ") and why in answer, answer

    def processes(self):
        """Those that work in its folder, wherever they hang."""
        found = []
        for each in filter(str.isdigit, os.listdir("/proc")):
            try:
                where = os.readlink(f"/proc/{each}/cwd")
            except OSError:
                continue
            one = state_and_parent(each)
            if where.startswith(self.home) and one and one[0] not in "ZX":
                found.append(int(each))
        return found

    def segment(self):
        """Of PostgreSQL's shared memory, which belongs to no process."""
        try:
            with open(os.path.join(self.folder, "data", "postmaster.pid"), encoding="utf-8") as text:
                return text.read().split("\n")[6].split()[1]
        except (OSError, IndexError):
            return None

    def leaves_nothing(self, segment=None):
        self.process.communicate(timeout=PATIENCE)  # whoever holds its output has ended
        end = time.monotonic() + PATIENCE
        while (left := self.processes()) and time.monotonic() < end:
            time.sleep(PAUSE)
        assert not left, f"processes: {left}"
        assert not os.listdir(self.home), subprocess.run(["find", self.home], capture_output=True, text=True).stdout
        if segment:
            with open("/proc/sysvipc/shm", encoding="utf-8") as text:
                assert segment not in [line.split()[1] for line in text], f"segment {segment}"


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), PATIENCE):
            return True
    except ConnectionRefusedError:
        return False


def orders_are_obeyed(run):
    run.until_ready()
    segments = {run.segment()}
    for _ in range(2):
        assert answers(run.port)
        run.refuses("start", "runs already")
        run.does("pause")
        states = {state_and_parent(each)[0] for each in run.processes()}
        assert states == {"T"}, states
        run.does("resume")
        assert answers(run.port)
        run.does("pause")
        run.does("kill")
        assert not run.processes() and not answers(run.port)
        for verb in ("kill", "stop", "pause", "resume"):
            run.refuses(verb, "does not run")
        run.does("start")
        segments.add(run.segment())
        assert answers(run.port)
        run.does("pause")
        run.does("stop")
        assert not run.processes() and not answers(run.port)
        run.does("start")
        segments.add(run.segment())
    assert run.order("sing").startswith("failed: unknown")
    assert run.order("kill nobody").startswith("failed: unknown")
    run.process.stdin.close()
    assert run.process.wait(PATIENCE) == 0
    run.process.stdin = None
    for each in segments:
        run.leaves_nothing(each)


def a_server_that_crashes_is_started_again(run):
    run.until_ready()
    before = run.processes()
    for each in before:
        send_to(each, signal.SIGKILL)
    while set(run.processes()) & set(before):
        time.sleep(PAUSE)
    run.does("kill")
    run.does("start")
    assert answers(run.port)
    run.process.terminate()
    run.leaves_nothing(run.segment())


def ended_by(signal_number, *verbs):
    def law(run):
        run.until_ready()
        for verb in verbs:
            run.does(verb)
        segment = run.segment()
        run.process.send_signal(signal_number)
        run.leaves_nothing(segment)
    law.__name__ = "_".join(["ended_by", signal.Signals(signal_number).name, *("after_" + each for each in verbs)])
    return law


def killed_at_any_moment_of_its_start(run):
    """Until it has printed where it is, and a little later."""
    seeds = 3 if run.name.startswith("postgres") else 8
    for seed in range(seeds):
        chance = random.Random(seed)
        time.sleep(chance.random() * (1.0 if run.name.startswith("postgres") else 0.2))
        run.process.kill()
        run.leaves_nothing()
        if seed < seeds - 1:
            run.__init__(run.name, run.home)


def what_one_leaves_that_is_killed_outright_the_next_one_removes(run):
    """Front, child and servers: nobody is left to clean up."""
    run.until_ready()
    child = children_of(run.process.pid)[0]
    doomed = [run.process.pid, child, *run.processes()]
    for each in doomed:
        send_to(each, signal.SIGSTOP)
    for each in doomed:
        send_to(each, signal.SIGKILL)
    run.process.communicate(timeout=PATIENCE)
    assert len(os.listdir(run.home)) == 1
    run.__init__(run.name, run.home)
    run.until_ready()
    assert len(os.listdir(run.home)) == 1
    run.process.kill()
    run.leaves_nothing(run.segment())


LAWS = [orders_are_obeyed, a_server_that_crashes_is_started_again, killed_at_any_moment_of_its_start,
        what_one_leaves_that_is_killed_outright_the_next_one_removes, ended_by(signal.SIGTERM), ended_by(signal.SIGINT, "pause"),
        ended_by(signal.SIGTERM, "kill"), ended_by(signal.SIGKILL), ended_by(signal.SIGKILL, "pause"), ended_by(signal.SIGKILL, "kill"),
        ended_by(signal.SIGKILL, "stop")]


def main():
    name, only = sys.argv[1], sys.argv[2:]
    missing = subprocess.run([sys.executable, "-B", SCRIPT, "--installed", name], check=False).returncode
    if missing:
        return missing
    for law in LAWS:
        if only and not any(word in law.__name__ for word in only):
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="tandem-test-") as home:
            os.chmod(home, 0o711)
            run = Run(name, home)
            try:
                law(run)
            finally:
                run.process.kill()
        print(f"{law.__name__} ({time.monotonic() - began:.2f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
