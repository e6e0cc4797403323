#!/usr/bin/env python3
# compare.py BEFORE AFTER [ROUNDS CLIENTS TRANSFERS]: both programs do the same job; what they print has to be the same.
# SPDX-License-Identifier: MIT
"""Without more it is a test, which also counts the lines of README.md's table. With ROUNDS it measures instead: both in turn, in random
order, on a file in memory; medians of transfers a second and of CPU time, and of the rounds' ratios."""
import os
import pathlib
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def run(program, clients, transfers):
    """@returns what it prints, seconds, seconds of CPU"""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="tandem-bank-", dir=memory) as folder:
        begin, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([program, f"{folder}/bank.db", str(clients), str(transfers)], stdout=subprocess.PIPE, text=True, check=True)
        took, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, took, after.ru_utime - used.ru_utime + after.ru_stime - used.ru_stime


def count(file):
    return sum(1 for line in (HERE / file).read_text(encoding="utf-8").splitlines() if line.strip() and not line.strip().startswith("//"))


def check(before, after):
    for clients, transfers in ((1, 30), (8, 50)):
        said = [run(program, clients, transfers)[0] for program in (before, after)]
        end = f"{clients * transfers * 9 // 10} done, {clients * transfers // 10} refused, 0 looks at a balance below 0\n"
        assert said[0] == said[1], f"before:\n{said[0]}after:\n{said[1]}"
        assert said[0].endswith(end) and said[0].count("account") == clients, said[0]
    rows = re.findall(r"\]\((\w+\.[ch]pp)\) \| (\d+) \|", (HERE / "README.md").read_text(encoding="utf-8"))
    assert {name for name, _ in rows} == {"before_sqlite.cpp", "after_sqlite.cpp", "bank.hpp"}, rows
    for name, said in rows:
        assert count(name) == int(said), f"README.md: {name} has {count(name)} lines, not {said}"


def measure(programs, rounds, clients, transfers):
    samples = {program: [] for program in programs}
    for _ in range(rounds):
        for program in random.sample(programs, len(programs)):
            _, took, cpu = run(program, clients, transfers)
            samples[program].append((clients * transfers / took, cpu / (clients * transfers) * 1e6))
    for program in programs:
        rate, cpu = (statistics.median(column) for column in zip(*samples[program]))
        print(f"{os.path.basename(program)}: {rate:.0f} transfers a second, {cpu:.1f} us of CPU each")
    for at, name in enumerate(("rate", "CPU")):
        print(f"{name}, after / before: {statistics.median(b[at] / a[at] for a, b in zip(*(samples[p] for p in programs))):.2f}")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        check(*sys.argv[1:])
    else:
        measure(sys.argv[1:3], *map(int, sys.argv[3:]))
