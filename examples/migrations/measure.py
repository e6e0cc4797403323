#!/usr/bin/env python3
# measure.py BUILD [ROUNDS [SECONDS [WORDS]]] | measure.py lines PAGE...: the tables of README.md.
# SPDX-License-Identifier: MIT
"""BUILD is a build folder such as build/release. Each sample is a server of its own on the first CPU, loaded from the last one; in each
round every server has a turn, in random order, and medians over the rounds are printed, as rows of README.md's table.
WORDS: only loads whose name has them. TANDEM_BENCH_FIFO=1 as in tests/bench/servers.py: realtime priority, where others use the machine.
`lines PAGE...` counts lines that are neither empty nor a comment, and fails if a table of PAGE says something else, or no table has a file that is to be in one."""
import pathlib
import random
import re
import statistics
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "bench"))

LOADS = [("epoll_server", "64 connections, one request each", 64, "keys", 1), ("epoll_server", "64 connections, 16 requests each", 64, "keys", 16),
         ("epoll_server", "1,000 connections, one request each", 1000, "keys", 1), ("asio_server", "10 members, 2 speak", 10, "chat", 2),
         ("asio_server", "100 members, 10 speak", 100, "chat", 10)]


def lines(file):
    with open(file, encoding="utf-8") as source:
        return sum(1 for line in source if line.strip() and not line.strip().startswith("//"))


def check_lines(*pages):
    """Rows such as | [before.cpp](epoll_server/before.cpp) | 312 |"""
    named, wrong = set(), 0
    wanted = {HERE / server / f"{side}.cpp" for server, *_ in LOADS for side in ("before", "after")}
    for page in (pathlib.Path(page).resolve() for page in pages):
        if page.parent != HERE:
            wanted |= set(page.parent.glob("*.[ch]pp"))
        for file, said in re.findall(r"\[[^]]*\]\(([\w/]+\.(?:cpp|hpp))\) \| (\d+) \|", page.read_text(encoding="utf-8")):
            path = (page.parent / file).resolve()
            named.add(path)
            if lines(path) != int(said):
                print(f"{page}: {file} has {lines(path)} lines, not {said}")
                wrong += 1
    for path in sorted(wanted - named):
        print(f"{path} is in no row")
        wrong += 1
    return 1 if wrong else 0


def sample(build, server, side, connections, kind, depth, seconds):
    from servers import FIFO, Server, command
    programs = build / "examples" / "migrations"
    with Server([str(programs / f"{server}_{side}"), "--port", "PORT", "--queue", "1000"], [CPUS[0]], FIFO) as running:
        begin = running.cpu()
        text = command([str(programs / "migration_load"), str(running.port), str(connections), str(seconds), kind, str(depth)], CPUS[-1:], FIFO)
        end = running.cpu()
        count, took = re.match(r"lines=(\d+) seconds=([\d.]+)", text).groups()
        spent = [b - a for a, b in zip(begin, end)]
        user = spent[1] / max(1, spent[1] + spent[2])
        return {"rate": int(count) / float(took), "cpu": spent[0] / int(count) / 1000, "user": user, "rss": running.status("VmHWM")}


def measure(build, rounds=7, seconds=1, words=""):
    loads = [load for load in LOADS if words in f"{load[0]}: {load[1]}"]
    rows = [(load, side, []) for load in loads for side in ("before", "after")]
    for number in range(rounds):
        for (server, _, *how), side, samples in random.sample(rows, len(rows)):
            samples.append(sample(build, server, side, *how, seconds))
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    for load in loads:
        found = {side: {what: statistics.median(each[what] for each in samples) for what in samples[0]}
                 for each_load, side, samples in rows if each_load == load}
        before, after = found["before"], found["after"]
        ratios = [statistics.median(b[what] / a[what] for a, b in zip(*(s for l, _, s in rows if l == load))) for what in ("rate", "cpu")]
        print(f"| {load[0]}: {load[1]} | {before['rate'] / 1000:.0f}k / {after['rate'] / 1000:.0f}k | {ratios[0]:.2f} | "
              f"{before['cpu']:.2f} / {after['cpu']:.2f} | {ratios[1]:.2f} | {before['cpu'] * before['user']:.2f} / {after['cpu'] * after['user']:.2f} | "
              f"{before['rss'] / 1024:.1f} / {after['rss'] / 1024:.1f} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["lines"]:
        sys.exit(check_lines(*sys.argv[2:]))
    import os
    CPUS = sorted(os.sched_getaffinity(0))
    measure(pathlib.Path(sys.argv[1]).resolve(), *(kind(word) for kind, word in zip((int, float, str), sys.argv[2:])))
