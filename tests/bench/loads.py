#!/usr/bin/env python3
"""Loads on adaptive and on fixed pools by the real clock: a table, a .jsonl file, and what the figures have to be.

usage: tests/bench/loads.py [--build build/release] [--seconds 90] [--load NAME]... [--pool NAME]... [--cpus 0,1] [--check]
SPDX-License-Identifier: MIT

Each run of pool_loads (pool/loads.cpp) is a process of its own on the same two CPUs. --seconds is how long a saturated
load lasts: two thirds of it to settle in. --check ends with 1 unless the adaptive pool does what it has to; that needs a
machine that does nothing else. `tests/run.sh nightly` calls it so.
"""
import argparse, json, os, subprocess, sys

POOLS = ["adaptive", "2", "8", "22", "32"]
LOADS = {
    "cpu": "items of 10 ms CPU",
    "io": "items of 10 ms CPU and 100 ms of waiting: N* = 11 a CPU",
    "mixed": "9 of 10 items 0.2 ms CPU, the tenth blocks for 20 ms",
    "burst": "10,000 items at once that block for 10 ms each",
    "returning": "as io for half the time, nothing for 9 s, as io again",
    "nested": "2 items block for one that they have posted, 8 deep",
}
KEEP_ALIVE = 3  # of pool/loads.cpp
CPU_MS, WAIT_MS = 10, 100
NESTED_THREADS = 16  # of all levels: a fixed pool below that never ends
COLUMNS = ["items_per_s", "seconds", "goal_mean", "goal_most", "threads_most", "retired_s", "threads_between", "again_items_per_s"]


def measure(program, load, pool, seconds, cpus):
    """The figures of one run, or None if it has not ended: then every worker waits for an item that none is left for."""
    limit = 60 if load == "nested" else 2 * seconds + 700
    argv = ["taskset", "-c", cpus, program, load, pool, str(seconds)]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        sys.exit(f"{' '.join(argv)}: exit {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def wants(load, pool):
    if load == "nested":
        return pool == "adaptive" or int(pool) >= NESTED_THREADS
    return pool != "22" or load == "io"  # the best size for that one


def checks(found, cpus):
    """What the adaptive pool has to do, as (text, whether it does)."""
    best = cpus * (1 + WAIT_MS / CPU_MS)
    of = {(load, pool): row for (load, pool), row in found.items() if row is not None}

    def fixed(load, field):
        return max((row[field] for (name, pool), row in of.items() if name == load and pool != "adaptive"), default=None)

    if row := of.get(("cpu", "adaptive")):
        # CPU is saturated: at most starvation may add one, and slowly.
        yield f"cpu: {row['goal_mean']:.2f} threads on the mean, {cpus} wanted", row["goal_mean"] <= cpus + 1
    if row := of.get(("io", "adaptive")):
        low, high = best * 18 / 22, best * 30 / 22
        yield f"io: {row['goal_mean']:.1f} threads on the mean, {low:.0f} to {high:.0f} wanted", low <= row["goal_mean"] <= high
        if (most := fixed("io", "items_per_s")) is not None:
            share = row["items_per_s"] / most
            yield f"io: {share:.2f} of the throughput of the best fixed size, 0.90 wanted", share >= 0.9
        yield (f"io: surplus gone {row['retired_s']:.1f} s after the load, {2 * KEEP_ALIVE} wanted at most",
               0 <= row["retired_s"] <= 2 * KEEP_ALIVE)
    if ("nested", "adaptive") in found:
        row = found["nested", "adaptive"]
        yield "nested: resolved", row is not None
    if row := of.get(("returning", "adaptive")):
        yield f"returning: {row['threads_between']:.0f} threads in between, {cpus} wanted", row["threads_between"] <= cpus


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--load", action="append", choices=LOADS)
    parser.add_argument("--pool", action="append")
    parser.add_argument("--cpus", default=",".join(map(str, sorted(os.sched_getaffinity(0))[:2])))
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    program = f"{args.build}/bench/pool_loads"

    found = {}
    columns = ["load", "pool"] + COLUMNS
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns), flush=True)
    with open(f"{args.build}/bench/pool_loads.jsonl", "w") as out:
        for load in args.load or LOADS:
            for pool in [p for p in args.pool or POOLS if wants(load, p)]:
                row = found[load, pool] = measure(program, load, pool, args.seconds, args.cpus)
                out.write(json.dumps({"load": load, "pool": pool, "seconds_asked": args.seconds, **(row or {"ended": False})}) + "\n")
                cells = [f"{row[c]:.4g}" if row is not None and c in row else ("" if row is not None else "never") for c in COLUMNS]
                print("| " + " | ".join([load, pool] + cells) + " |", flush=True)
    for load in args.load or LOADS:
        print(f"{load}: {LOADS[load]}")
    results = list(checks(found, len(args.cpus.split(","))))
    for text, good in results:
        print(f"  {'reached' if good else 'MISSED ':8} {text}")
    sys.exit(1 if args.check and not (results and all(good for _, good in results)) else 0)


if __name__ == "__main__":
    main()
