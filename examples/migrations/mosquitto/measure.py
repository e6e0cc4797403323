#!/usr/bin/env python3
# measure.py BUILD [ROUNDS [WORDS]]: the figures of README.md: both programs beside a broker, in turn.
# SPDX-License-Identifier: MIT
"""BUILD is a build folder such as build/release. The broker is on the last CPU, the program on the first one; in each round each program does
each case once, in random order. Medians over the rounds are printed, as rows of README.md's table, and the medians of the rounds' ratios,
after / before. WORDS: only cases whose name has them. TANDEM_BENCH_FIFO=1: realtime priority for all of them, where others use the machine."""
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tests" / "support"))
from servers import PATIENCE, Servers  # noqa: E402

# Name, bytes, questions at once, questions in all.
CASES = [("64 bytes, one question at a time", 64, 1, 2_000), ("64 bytes, 16 questions at once", 64, 16, 10_000),
         ("64 bytes, 256 questions at once", 64, 256, 10_000), ("16 KiB, 16 questions at once", 16384, 16, 2_000)]
CPUS = sorted(os.sched_getaffinity(0))
FIFO = os.environ.get("TANDEM_BENCH_FIFO") == "1"


def sample(program, port, size, window, messages):
    def pinned():
        os.sched_setaffinity(0, CPUS[:1])
        if FIFO:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    words = [program, "--port", str(port), "--size", str(size), "--window", str(window), "--messages", str(messages), "--figures", "1"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=True, preexec_fn=pinned)
    found = {name: float(value) for name, value in re.findall(r"(\w+)=([\d.]+)", done.stdout)}
    return {"rate": messages / found["seconds"], "user": found["user"] / messages * 1e6, "cpu": (found["user"] + found["system"]) / messages * 1e6,
            "p50": found["p50_us"], "p99": found["p99_us"]}


def measure(build, rounds=9, words=""):
    programs = [str(build / "examples" / "migrations" / "mosquitto" / f"mosquitto_{side}") for side in ("before", "after")]
    cases = [case for case in CASES if words in case[0]]
    rows = [(case, program, []) for case in cases for program in programs]
    with Servers("mosquitto") as running:
        broker = running["mosquitto"]
        os.sched_setaffinity(broker.process.pid, CPUS[-1:])
        if FIFO:
            os.sched_setscheduler(broker.process.pid, os.SCHED_FIFO, os.sched_param(1))
        for number in range(rounds):
            for case, program, samples in random.sample(rows, len(rows)):
                samples.append(sample(program, broker.port, *case[1:]))
            print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    for case in cases:
        before, after = ([samples for each, other, samples in rows if each == case and other == program][0] for program in programs)

        def cell(what, form):
            middle = [statistics.median(each[what] for each in samples) for samples in (before, after)]
            ratio = statistics.median(b[what] / a[what] for a, b in zip(before, after))
            return f"{form(middle[0])} / {form(middle[1])} | {ratio:.2f}"
        print(f"| {case[0]} | {cell('rate', lambda x: f'{x / 1000:.1f}k')} | {cell('cpu', lambda x: f'{x:.1f}')} | {cell('user', lambda x: f'{x:.1f}')} | "
              f"{cell('p50', lambda x: f'{x:.0f}')} | {cell('p99', lambda x: f'{x:.0f}')} |")


if __name__ == "__main__":
    measure(pathlib.Path(sys.argv[1]).resolve(), *(kind(word) for kind, word in zip((int, str), sys.argv[2:])))
