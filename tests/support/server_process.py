# server_process.py: what servers.py does with processes: nobody's, stopped, found, reaped, and none left however we end.
# SPDX-License-Identifier: MIT
"""Linux: /proc, and signals at the end of a parent."""
import ctypes
import fcntl
import glob
import os
import select
import shutil
import signal
import socket
import tempfile
import time
import traceback

NOBODY = 65534
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
PAUSE = 0.01  # between two looks at something that is under way
PREFIX = "tandem-servers-"


def is_root():
    return os.geteuid() == 0


def unprivileged(signal_at_parents_end):
    """What a child does before it becomes the server."""
    libc, parent = ctypes.CDLL(None), os.getpid()

    def become():
        os.setsid()
        if is_root():
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        # After that: a change of the user forgets it.
        libc.prctl(PR_SET_PDEATHSIG, signal_at_parents_end)
        if os.getppid() != parent:  # it has ended before that
            os._exit(127)
    return become


def state_and_parent(process):
    """As the kernel writes them, a letter and a number; None: it has ended."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as text:
            fields = text.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return fields[0], int(fields[1])


def children_of(process):
    """Their numbers; a server of many processes (PostgreSQL) gives each a group of its own."""
    found = []
    for path in glob.glob("/proc/[0-9]*"):
        one = state_and_parent(path[len("/proc/"):])
        if one and one[1] == process:
            found.append(int(path[len("/proc/"):]))
    return found


def held_port():
    """A socket that holds a port of 127.0.0.1 as long as it is open: nobody else is given it, and while no server that knows its number
    listens there, connections are refused."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    return holder


def new_folder():
    """A private one, and the lock that says that its owner lives. Those that were left by an owner that was killed outright are removed."""
    for left in glob.glob(os.path.join(tempfile.gettempdir(), PREFIX + "*", "lock")):
        try:
            with open(left, "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(os.path.dirname(left), ignore_errors=True)
        except OSError:  # it lives, has just gone, or is another user's
            pass
    folder = tempfile.mkdtemp(prefix=PREFIX)
    os.chmod(folder, 0o711)  # each server has its own in there
    lock = open(os.path.join(folder, "new-lock"), "wb")
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(lock.name, os.path.join(folder, "lock"))  # taken before anybody can see it
    return folder, lock


def send_to(process, number):
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pass


def until_it_stands_still(process):
    """It has been told; a signal is taken at the end of a call of the system's, or of a time slice."""
    while (one := state_and_parent(process)) and one[0] not in "TtZX":
        time.sleep(PAUSE / 10)


def reap(process):
    try:
        os.waitpid(process, 0)
    except ChildProcessError:
        pass


class Ending:
    """Of the program: SIGTERM and SIGINT are told by a pipe, so that nothing is left half done, its end included."""
    told = None

    @classmethod
    def listen(cls):
        cls.told, tells = os.pipe()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: os.write(tells, b"!"))

    @classmethod
    def is_told(cls):
        return cls.told is not None and bool(select.select([cls.told], [], [], 0)[0])


def in_a_child(work):
    """Exits as that does. Whoever kills this process outright kills a front: the child is told, and ends in order."""
    front = os.getpid()
    child = os.fork()
    if child:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: send_to(child, signal.SIGTERM))
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    Ending.listen()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    code = 130
    try:
        if os.getppid() == front:
            code = work()
    except SystemExit as why:
        code = why.code
    except BaseException:  # pylint: disable=broad-except
        traceback.print_exc()
        code = 1
    os._exit(code)
