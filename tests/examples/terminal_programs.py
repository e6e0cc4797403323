# terminal_programs.py NAME PROGRAM: uses an example from a terminal of its own, as a person would.
# SPDX-License-Identifier: MIT
"""NAME: keys. Exits with 0 if everything was as it has to be."""
import fcntl
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from service_process import PATIENCE  # noqa: E402
from example_servers import equal  # noqa: E402


class Session:
    """The program, in the foreground of a terminal of its own."""

    def __init__(self, program, columns, rows, user=None):
        self.child, self.person = pty.fork()
        if self.child == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            if user is not None:
                os.setresuid(user, user, user)
            os.execv(program, [program])
        self.shown = ""

    def resize(self, columns, rows):
        fcntl.ioctl(self.person, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def strike(self, keys):
        os.write(self.person, keys)

    def read(self):
        ready, _, _ = select.select([self.person], [], [], PATIENCE)
        assert ready, f"nothing more is shown after {self.shown!r}"
        try:
            text = os.read(self.person, 4096).decode()
        except OSError:  # the program has ended
            text = ""
        self.shown += text
        return text

    def expect(self, *texts):
        """Waits until each of them is shown, in whatever order, and forgets what came before the end of the last."""
        while missing := [text for text in texts if text not in self.shown]:
            assert self.read(), f"{missing!r} is not in {self.shown!r}"
        self.shown = self.shown[max(self.shown.index(text) + len(text) for text in texts):]

    def end(self):
        while self.read():
            pass
        _, status = os.waitpid(self.child, 0)
        os.close(self.person)
        return os.waitstatus_to_exitcode(status), self.shown


def mode_of(person):
    return termios.tcgetattr(person)


def keys_come_one_by_one(program):
    session = Session(program, 90, 30)
    before = mode_of(session.person)
    session.expect("q ends\r\n")
    assert mode_of(session.person) != before, "it is in no mode of its own"
    session.strike(b"a")
    session.expect("key 97\r\n")
    session.strike(b"\x1b")
    session.expect("key 27\r\n")
    session.strike(b"q")
    session.expect("bye\r\n")
    equal(mode_of(session.person), before, "the mode afterwards")
    equal(session.end(), (0, ""), "its end")


def a_change_of_size_is_shown(program):
    session = Session(program, 90, 30)
    session.expect("90 x 30\r\n")
    session.resize(132, 50)
    session.expect("132 x 50\r\n")
    session.strike(b"q")
    session.expect("bye\r\n")
    equal(session.end(), (0, ""), "its end")


def an_interrupt_leaves_the_terminal_as_it_was(program):
    session = Session(program, 90, 30)
    before = mode_of(session.person)
    session.expect("q ends\r\n", "90 x 30\r\n")  # two tasks say them, side by side
    session.strike(b"\x03")  # Ctrl-C
    session.expect("bye\r\n")
    equal(mode_of(session.person), before, "the mode afterwards")
    equal(session.end()[0], 0, "its exit status")


def without_a_terminal_it_counts(program):
    for given in (b"", b"x" * 100_000):
        done = subprocess.run([program], input=given, capture_output=True, timeout=PATIENCE, check=True)
        equal(done.stdout.decode(), f"{len(given)} bytes, and no terminal\n", "what it says")
    with open(os.path.abspath(__file__), "rb") as itself:
        done = subprocess.run([program], stdin=itself, capture_output=True, timeout=PATIENCE, check=True)
        equal(done.stdout.decode(), f"{os.fstat(itself.fileno()).st_size} bytes, and no terminal\n", "what it says of a file")


def as_another_user_it_does_the_same(program):
    """Who may not open anew what it was given: pipes of others, the terminal after su."""
    nobody = 65534
    if os.geteuid() != 0:
        print("  left out: only root can become another user")
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        copy = shutil.copy(program, folder)
        os.chmod(copy, 0o755)
        done = subprocess.run([copy], input=b"x" * 100_000, capture_output=True, timeout=PATIENCE, user=nobody, check=False)
        if done.returncode == 127:
            print("  left out: another user cannot load its libraries")
            return
        equal((done.returncode, done.stdout.decode()), (0, "100000 bytes, and no terminal\n"), "what it says")
        session = Session(copy, 90, 30, user=nobody)
        session.expect("q ends\r\n")
        session.strike(b"a")
        session.expect("key 97\r\n")
        session.strike(b"q")
        session.expect("bye\r\n")
        equal(session.end(), (0, ""), "its end")


KEYS = [keys_come_one_by_one, a_change_of_size_is_shown, an_interrupt_leaves_the_terminal_as_it_was,
        without_a_terminal_it_counts, as_another_user_it_does_the_same]


def main():
    name, program = sys.argv[1:]
    for each in {"keys": KEYS}[name]:
        print(f"{name}: {each.__name__.replace('_', ' ')}", flush=True)
        each(os.path.abspath(program))


if __name__ == "__main__":
    main()
