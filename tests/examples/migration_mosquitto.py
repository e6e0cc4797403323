# migration_mosquitto.py NAME BEFORE AFTER [LAW...]: both programs of examples/migrations/mosquitto beside a broker, and what they say, compared.
# SPDX-License-Identifier: MIT
"""A law runs one program beside the broker, and returns what it said and its exit code. Exits with 0 if every law holds for both programs,
and both have said the same; with 77 if there is no broker."""
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from servers import PATIENCE, Servers  # noqa: E402

MANY = "1000000"  # more than there is time for
# The last one is what a question is told that comes when the loss was already seen.
LOST = ("The connection was lost.", "Connection reset by peer", "Broken pipe", "The client is not currently connected.")


class Program:
    def __init__(self, path, broker, *options):
        self.process = subprocess.Popen([path, "--port", str(broker.port), *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def until_first_answer(self):
        line = self.process.stdout.readline()
        assert line == "the first answer has come\n", line + self.process.communicate(timeout=PATIENCE)[1]

    def end(self):
        """Its exit code, the rest of what it said, and why it failed; a stall that is reported is none."""
        try:
            said, complained = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"it does not end: {self.process.communicate()}") from None
        return self.process.returncode, said, "".join(line for line in complained.splitlines() if line.startswith("failed: "))


def answered(ended, count):
    code, said, complained = ended
    assert code == 0 and f"{count} answers, checksum " in said and not complained, ended
    return ended


def failed(ended, *why):
    code, said, complained = ended
    assert code == 1 and not said and complained in {"failed: " + each for each in why}, ended
    return code


def all_are_answered(path, broker):
    return [answered(Program(path, broker, "--messages", count, "--size", size, "--window", window).end(), count)
            for count, size, window in (("1", "24", "1"), ("100", "24", "1"), ("1000", "64", "16"), ("300", "1000", "500"), ("20", "1000000", "4"))]


def a_broker_that_is_not_there_is_told(path, broker):
    broker.kill()
    ended = Program(path, broker).end()
    broker.start()
    return failed(ended, "Connection refused")


def a_broker_that_is_killed_is_told(path, broker):
    program = Program(path, broker, "--messages", MANY)
    program.until_first_answer()
    broker.kill()
    failed(program.end(), *LOST)
    broker.start()
    return answered(Program(path, broker, "--messages", "100").end(), 100)


def a_broker_that_ends_in_order_is_told(path, broker):
    program = Program(path, broker, "--messages", MANY)
    program.until_first_answer()
    broker.stop()
    failed(program.end(), *LOST)
    broker.start()
    return answered(Program(path, broker, "--messages", "100").end(), 100)


def a_broker_that_pauses_loses_nothing(path, broker):
    program = Program(path, broker, "--messages", "3000")
    program.until_first_answer()
    broker.pause()
    broker.resume()
    return answered(program.end(), 3000)


def a_broker_that_says_nothing_is_given_up(path, broker):
    broker.pause()
    ended = Program(path, broker, "--limit", "0.1").end()
    broker.resume()
    return failed(ended, "no answer in time")


LAWS = [all_are_answered, a_broker_that_is_not_there_is_told, a_broker_that_is_killed_is_told, a_broker_that_ends_in_order_is_told,
        a_broker_that_pauses_loses_nothing, a_broker_that_says_nothing_is_given_up]

if __name__ == "__main__":
    name, before, after = sys.argv[1:4]
    only = sys.argv[4:]
    with Servers("mosquitto") as running:
        for law in LAWS:
            if only and law.__name__ not in only:
                continue
            began = time.monotonic()
            said = [law(path, running["mosquitto"]) for path in (before, after)]
            assert said[0] == said[1], f"{law.__name__}: before and after have said different things: {said}"
            print(f"{law.__name__} ({time.monotonic() - began:.2f} s)", flush=True)
