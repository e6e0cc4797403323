#!/usr/bin/env python3
"""Runs a benchmark suite: one process per sample, a fresh random order each round, a table and a .jsonl file.

usage: harness.py SUITE [--rounds N] [--filter REGEX] [--plot] -- PRESET...
SPDX-License-Identifier: MIT

Called by run.sh, which has built build/PRESET/bench/bench_SUITE. Samples of all presets are interleaved, so that
a machine whose speed drifts slows all of them alike.
"""
import argparse, json, os, random, re, statistics, subprocess, sys

FIELDS = ["suite", "case", "impl", "role", "compiler", "threads", "unit", "better", "median", "min", "n", "reach", "rss_kb"]


def compiler_of(preset):
    """The compiler of a build and its version, as in 'g++ 12.2.0'."""
    with open(f"build/{preset}/CMakeCache.txt") as cache:
        path = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache.read(), re.M).group(1)
    version = subprocess.run([path, "-dumpfullversion", "-dumpversion"], capture_output=True, text=True).stdout.split()[0]
    return f"{os.path.basename(path)} {version}"


def sample(row, limit=120):
    """One process: its figure and its peak memory, or None and the reason."""
    argv = [row["program"], row["case"], row["impl"], str(row["threads"])]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, f"not done after {limit} s"
    if done.returncode != 0:
        return None, f"exit {done.returncode}: {(done.stdout + done.stderr).strip()[-200:]}"
    result = json.loads(done.stdout.splitlines()[-1])
    return (result["value"], result["rss_kb"]), None


def plot(suite, rows, folder):
    """A bar for each row, the median with a line down to the minimum."""
    data = "\n".join(f'"{r["case"]} {r["impl"]} {r["threads"]}t {r["compiler"]}" {r["median"]} {r["min"]}' for r in rows)
    script = (f'set terminal pngcairo size 1000,600; set output "{folder}/{suite}.png"; set style data histograms\n'
              f'set style fill solid; set xtics rotate by -40 noenhanced; set yrange [0:*]; set title "{suite} ({rows[0]["unit"]})"\n'
              f'$d << END\n{data}\nEND\nplot $d using 2:xtic(1) title "median", "" using 3 title "min"\n')
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
    print(f"{folder}/{suite}.png")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("suite")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--filter", default="")
    parser.add_argument("--plot", action="store_true")
    parser.add_argument("presets", nargs="+")
    args = parser.parse_args()

    rows = []
    for preset in args.presets:
        program = f"build/{preset}/bench/bench_{args.suite}"
        listing = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
        for line in listing.splitlines():
            row = json.loads(line) | {"suite": args.suite, "program": program, "preset": preset,
                                      "compiler": compiler_of(preset), "values": [], "rss": []}
            if re.search(args.filter, f"{row['case']} {row['impl']}"):
                rows.append(row)
    if not rows:
        sys.exit("no such case")

    broken = []
    for round_number in range(args.rounds):
        print(f"\rround {round_number + 1} of {args.rounds}", end="", file=sys.stderr, flush=True)
        for row in random.sample(rows, len(rows)):
            result, reason = sample(row)
            if result is None:
                broken.append(f"{row['case']} {row['impl']} {row['threads']}: {reason}")
            else:
                row["values"].append(result[0])
                row["rss"].append(result[1])
    print(file=sys.stderr)

    done = [r for r in rows if r["values"]]
    for row in done:
        row |= {"median": statistics.median(row["values"]), "min": min(row["values"]), "n": len(row["values"]),
                "rss_kb": int(statistics.median(row["rss"]))}
    print(f"{'case':24} {'impl':16} {'role':5} {'compiler':18} {'thr':>3} {'median':>12} {'min':>12} {'unit':10} {'n':>3} {'rss MB':>7}")
    for r in sorted(done, key=lambda r: (r["case"], r["threads"], r["median"] * (1 if r["better"] == "lower" else -1))):
        print(f"{r['case']:24} {r['impl']:16} {r['role']:5} {r['compiler']:18} {r['threads']:3d} {r['median']:12.1f} {r['min']:12.1f} "
              f"{r['unit']:10} {r['n']:3d} {r['rss_kb'] / 1024:7.1f}")
    for preset in args.presets:
        folder = f"build/{preset}/bench"
        mine = [r for r in done if r["preset"] == preset]
        with open(f"{folder}/{args.suite}.jsonl", "w") as out:
            for r in mine:
                out.write(json.dumps({field: r[field] for field in FIELDS}) + "\n")
        print(f"{folder}/{args.suite}.jsonl")
        if args.plot and mine:
            plot(args.suite, mine, folder)
    for line in broken:
        print("no sample:", line)
    sys.exit(1 if broken else 0)


main()
