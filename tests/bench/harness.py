#!/usr/bin/env python3
"""Runs a benchmark suite: one process per sample, a fresh random order each round, a table and a .jsonl file.

usage: harness.py SUITE [--rounds N] [--filter REGEX] [--threads 1,2] [--cpus 0,1] [--all] [--no-peers] [--plot] -- PRESET...
SPDX-License-Identifier: MIT

Called by run.sh, which has built build/PRESET/bench/bench_SUITE and the peers: bench_SUITE_PEER beside it, those in
other languages in build/peers. Samples of all of them are interleaved, so that a machine whose speed drifts slows all
alike. A peer that could not be built has left bench_SUITE_PEER.missing with the reason.
"""
import argparse, glob, json, os, platform, random, re, statistics, subprocess, sys, time
import curl_cases, goals, io_cases, plot, postgres_cases, redis_cases, tls_cases, udp_cases

FIELDS = ["suite", "case", "impl", "role", "compiler", "threads", "unit", "better", "median", "min", "n", "reach", "rss_kb",
          "best", "times_serial", "version", "input", "machine", "date"]
# Suites whose samples use no more CPUs than they have threads. (In the others, threads of I/O run beside the workers.)
PINNED = {"fork_join", "sync", "search"}
# Suites of servers under load.
SERVED = {"io": io_cases, "postgres": postgres_cases, "redis": redis_cases, "curl": curl_cases, "tls": tls_cases, "udp": udp_cases}


def compiler_of(preset):
    """The compiler of a build and its version, as in 'g++ 12.2.0'."""
    with open(f"build/{preset}/CMakeCache.txt") as cache:
        path = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache.read(), re.M).group(1)
    version = subprocess.run([path, "-dumpfullversion", "-dumpversion"], capture_output=True, text=True).stdout.split()[0]
    return f"{os.path.basename(path)} {version}"


def machine():
    with open("/proc/cpuinfo") as info:
        model = re.search(r"^model name\s*: (.*)$", info.read(), re.M)
    return (f"{model.group(1) if model else platform.machine()}, {len(os.sched_getaffinity(0))} CPUs, "
            f"Linux {'.'.join(platform.release().split('.')[:2])}")


def rows_of(program, suite, threads, more):
    listing = subprocess.run([program, "--list", threads], capture_output=True, text=True, check=True).stdout
    return [{"suite": suite, "program": program, "values": [], "rss": []} | more | json.loads(line)
            for line in listing.splitlines()]


def collect(suite, presets, threads, peers):
    """All rows that can be measured, and why others cannot."""
    rows, missing = SERVED[suite].collect(presets, compiler_of, peers) if suite in SERVED else ([], [])
    places = [(f"build/{p}/bench", {"preset": p, "compiler": compiler_of(p)}) for p in presets]
    places.append(("build/peers", {"preset": None}))
    for folder, more in places:
        for program in sorted(glob.glob(f"{folder}/bench_{suite}") + glob.glob(f"{folder}/bench_{suite}_*")):
            name, extension = os.path.splitext(os.path.basename(program))
            if extension == ".missing":
                with open(program) as reason:
                    missing.append(f"{name} ({more.get('compiler', 'any compiler')}): {reason.read().strip()}")
            elif not extension and os.path.isfile(program) and os.access(program, os.X_OK):
                rows += rows_of(program, suite, threads, more)
    return rows, missing


def sample(row, cpus, limit=300):
    """One process, its CPUs chosen: fills in its figure and its peak memory. @returns  why not, or None"""
    if "run" in row:
        return io_cases.sample(row, cpus)
    where = ",".join(map(str, cpus[:row["threads"]] if row["suite"] in PINNED else cpus))
    argv = ["taskset", "-c", where, row["program"], row["case"], row["impl"], str(row["threads"])]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"not done after {limit} s"
    if done.returncode != 0:
        return f"exit {done.returncode}: {(done.stdout + done.stderr).strip()[-200:]}"
    result = json.loads(done.stdout.splitlines()[-1])
    row["values"].append(result["value"])
    row["rss"].append(result["rss_kb"])
    return None


def measure(rows, rounds, cpus):
    """Fills the rows; tells what gave no sample."""
    broken = set()
    for round_number in range(rounds):
        began = time.monotonic()
        # Figures that another row's sample brings along are not asked for; some cases want few rounds only.
        mine = [r for r in rows if r.get("filled_by") is None and round_number < (r.get("rounds") or rounds)]
        for number, row in enumerate(random.sample(mine, len(mine)), 1):
            if sys.stderr.isatty():
                print(f"\r\033[Kround {round_number + 1}, {number} of {len(mine)}: {row['case']} {row['impl']}", end="",
                      file=sys.stderr, flush=True)
            reason = sample(row, cpus)
            if reason is not None:
                broken.add(f"{row['case']} {row['impl']}, {row['compiler']}, {row['threads']} threads: {reason}")
        print(("\r\033[K" if sys.stderr.isatty() else "") + f"round {round_number + 1} of {rounds}: {time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f}",
              file=sys.stderr, flush=True)
    return sorted(broken)


def sum_up(rows):
    done = [r for r in rows if r["values"]]
    about = {"machine": machine(), "date": time.strftime("%Y-%m-%d")}
    for row in done:
        best = min if row["better"] == "lower" else max
        middle = statistics.mean if row.get("summed") == "mean" else statistics.median
        row |= about | {"median": middle(row["values"]), "min": min(row["values"]),
                        "best": best(row["values"]), "n": len(row["values"]), "rss_kb": int(statistics.median(row["rss"]))}
    for row in done:
        row["times_serial"] = goals.times_serial(row, done)
        row["reach"], row["reach_text"] = goals.reach(row, done)
    return done


def print_table(rows):
    def number(value, form):
        return "" if value is None else format(value, form)

    print(f"{'case':22} {'impl':20} {'role':5} {'compiler':17} {'thr':>3} {'median':>9} {'best':>9} {'unit':14} {'n':>3} "
          f"{'x serial':>8} {'speed-up':>8} {'rss MB':>7}  reach")
    last = None
    for r in sorted(rows, key=lambda r: (r["case"], r["threads"], r["median"] * (1 if r["better"] == "lower" else -1))):
        if last not in (None, r["case"]):
            print()
        last = r["case"]
        print(f"{r['case']:22} {r['impl']:20} {r['role']:5} {r['compiler']:17} {r['threads']:3d} {r['median']:9.2f} {r['best']:9.2f} "
              f"{r['unit']:14} {r['n']:3d} {number(r['times_serial'], '8.2f'):>8} "
              f"{number(goals.speed_up(r, rows, 'median'), '8.2f'):>8} {r['rss_kb'] / 1024:7.1f}  {r['reach_text']}".rstrip())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("suite")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--filter", default="")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--cpus", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--plot", action="store_true")
    parser.add_argument("presets", nargs="+")
    args = parser.parse_args()

    cpus = [int(c) for c in args.cpus.split(",")] if args.cpus else sorted(os.sched_getaffinity(0))
    rows, missing = collect(args.suite, args.presets, args.threads, not args.no_peers)
    rows = [r for r in rows
            if re.search(args.filter, f"{r.get('group') or r['case']} {r['impl']}") and (args.all or not r["extra"])]
    too_many = sorted({r["threads"] for r in rows if r["threads"] > len(cpus)})
    if too_many:
        missing.append(f"rows of {', '.join(map(str, too_many))} threads: there are {len(cpus)} CPUs")
    rows = [r for r in rows if r["threads"] <= len(cpus)]
    if not rows:
        sys.exit("no such case")
    print(f"{machine()}; load {os.getloadavg()[0]:.1f}; CPUs in order of use: {','.join(map(str, cpus))}")
    versions = sorted({r["compiler"] for r in rows} | {r["version"] for r in rows if r["version"]})
    print("; ".join(versions), flush=True)

    broken = measure(rows, args.rounds or getattr(SERVED.get(args.suite), "ROUNDS", 9), cpus)
    done = sum_up(rows)
    served = [r for r in done if r.get("group")]
    if served:
        io_cases.print_tables(served)
    if len(served) < len(done):
        print_table([r for r in done if not r.get("group")])
    for line in goals.report(args.suite, done):
        print(line)
    for preset in args.presets:
        folder = f"build/{preset}/bench"
        mine = [r for r in done if r["preset"] in (preset, None)]
        with open(f"{folder}/{args.suite}.jsonl", "w") as out:
            for r in mine:
                out.write(json.dumps({field: r[field] for field in FIELDS}) + "\n")
        print(f"{folder}/{args.suite}.jsonl")
    drawn = [r for r in done if args.suite not in SERVED or r["case"] in SERVED[args.suite].PLOTTED]
    if args.plot and drawn:
        for file in plot.draw(args.suite, drawn, f"build/{args.presets[0]}/bench"):
            print(file)
    for line in missing:
        print("missing:", line)
    for line in broken:
        print("no sample:", line)
    sys.exit(1 if broken or (missing and os.environ.get("TANDEM_TEST_REQUIRE_ALL") == "1") else 0)


if __name__ == "__main__":
    main()
