"""check_idle.py COMMAND...: no thread of an idle process wakes up.
SPDX-License-Identifier: MIT

COMMAND starts idle_process, for Windows by an emulator. Linux counts how often a thread gave up its CPU of itself: whoever
wakes up does so once more. That is looked at from outside, once the process says that it is idle and has had the time to
give back what it kept (0.5 s). Its first thread sleeps until the end. One look without a wake-up is enough: what wakes up by
itself does so in each, and on a machine that is busy something may be late.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

SETTLED = 1.5  # seconds after which nothing is due any more
LOOKED_AT = 2
LOOKS = 3


def switches(name):
    """{thread: how often it waited} of the processes whose command line names the file `name`, but for emulators' scripts."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            program = words[0].decode()
            if name not in b" ".join(words).decode() or program.split("/")[-1] in ("bash", "timeout", "python3"):
                continue
            if folder.name == str(os.getpid()) or b"check_idle.py" in b" ".join(words):
                continue
            for task in (folder / "task").iterdir():
                lines = (task / "status").read_text().splitlines()
                found[task.name] = int(next(line.split()[1] for line in lines if line.startswith("voluntary")))
        except (OSError, IndexError, UnicodeDecodeError):
            continue  # it has ended meanwhile
    return found


def main():
    with tempfile.TemporaryDirectory(dir=".") as folder:
        ready = pathlib.Path(os.path.relpath(folder), "idle")
        started = subprocess.Popen([*sys.argv[1:], str(ready), str(int(SETTLED + LOOKS * LOOKED_AT + 3))])
        while not ready.exists():
            if started.poll() is not None:
                sys.exit(f"it has ended with {started.returncode} before it was idle")
            time.sleep(0.05)
        time.sleep(SETTLED)
        for _ in range(LOOKS):
            before = switches(str(ready))
            time.sleep(LOOKED_AT)
            after = switches(str(ready))
            woke = {thread: after[thread] - count for thread, count in before.items() if after.get(thread) != count}
            print(f"{len(before)} threads; woke up in {LOOKED_AT} s: {woke or 'none'}")
            if not woke:
                break
        status = started.wait()
    # At least a worker, the thread of timers and the first one: workers begin when they are needed.
    sys.exit(status != 0 or bool(woke) or before.keys() != after.keys() or len(before) < 3)


if __name__ == "__main__":
    main()
