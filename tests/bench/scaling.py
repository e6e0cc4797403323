#!/usr/bin/env python3
"""Suite scaling: how figures grow with the number of CPUs; or, where there are few, counts that say what would not.

usage: scaling.py [--rounds N] [--filter REGEX] [--cpus 0,1,...] [--plot] [--counts] -- PRESET
SPDX-License-Identifier: MIT

Called by run.sh, which has built what is run. Rows that compute are those of suites fork_join, sync and search, on 1, 2, 4,
... CPUs; echo servers have nothing set but their CPUs (taskset), and the load comes from the other ones. A row's efficiency
is its figure on n CPUs, divided by n times that on one. All samples of a round are in random order. All rows take less than
ten minutes: as many rounds as fit, at most --rounds.

--counts takes no time for a figure: echo servers are run with as many threads as 1, 2, 4, 8 CPUs would have (TANDEM_CPUS), on
the CPUs that there are, and what is counted is a request's part of wakes, context switches, system calls (if there is
strace), posts, steals, and compare-and-exchange operations that failed (a server of the build build/counts). What grows there with the number of threads would not scale.
"""
import argparse, json, os, random, re, shutil, signal, statistics, subprocess, sys, time
import harness, servers

LIMIT = 540  # seconds
COUNTING = "build/counts/bench/scaling_server"  # its atomics are calls that count what failed
HOMES = ["thread", "pool", "workers"]
CONNECTIONS = [64, 512]
COMPUTE = [("fork_join", "fib_36", "tandem"), ("fork_join", "uts_t1", "tandem"), ("sync", "lock_handover", "tandem"),
           ("sync", "channel_4_4", "tandem"), ("search", "korf_12", "tandem"), ("search", "eight_graph", "tandem")]


def steps(most):
    """1, 2, 4, ... and all."""
    counts, n = [], 1
    while n < most:
        counts.append(n)
        n *= 2
    return [*counts, most]


def compute_rows(folder, cpus):
    rows = []
    for suite, case, impl in COMPUTE:
        program = f"{folder}/bench_{suite}"
        if not os.access(program, os.X_OK):
            continue
        for threads in steps(len(cpus)):
            listed = harness.rows_of(program, suite, str(threads), {"preset": None, "compiler": ""})
            rows += [row | {"name": f"{row['case']} {impl}"} for row in listed if row["case"].startswith(case) and row["impl"] == impl]
    return rows


def echo_rows(folder, cpus):
    """The load needs CPUs of its own: with one CPU it shares that one."""
    most = max(1, len(cpus) - max(1, len(cpus) // 2)) if len(cpus) > 1 else 1
    programs = [(f"tandem, home {home}", [f"{folder}/scaling_server", "PORT", home], {}) for home in HOMES]
    programs += [(f"tandem on Asio, home {home}", [f"{folder}/scaling_server", "PORT", home], {"TANDEM_IO_BACKEND": "asio"})
                 for home in HOMES]
    programs += [("io_uring (floor)", [f"{folder}/io_uring", "PORT", "THREADS", "3"], {}),
                 ("epoll (floor)", [f"{folder}/io_epoll", "PORT", "THREADS"], {}),
                 ("Tokio", ["build/peers/io_tokio", "PORT", "THREADS"], {})]
    rows = []
    for name, argv, environment in programs:
        if not os.access(argv[0], os.X_OK):
            continue
        for connections in CONNECTIONS:
            for threads in steps(most):
                rows.append({"name": f"echo, {connections} connections: {name}", "case": f"echo_{connections}", "threads": threads,
                             "argv": [a.replace("THREADS", str(threads)) for a in argv], "environment": environment,
                             "connections": connections, "unit": "req/s", "better": "higher", "values": [], "p99": []})
    return rows


def beside_rows(folder):
    """An echo beside a fork/join that keeps all workers: what its slowest requests wait."""
    return [{"name": f"echo beside fork/join: home {home}", "case": "fairness", "threads": 1, "connections": 16,
             "argv": [f"{folder}/scaling_server", "PORT", home, *busy], "environment": {}, "unit": "req/s", "better": "higher",
             "values": [], "p99": [], "beside": bool(busy)} for home in HOMES for busy in ([], ["busy"])]


def load_on(row, tools, server_cpus, load_cpus):
    argv = ["env", *[f"{k}={v}" for k, v in row["environment"].items()], *row["argv"]]
    with servers.Server(argv, server_cpus) as server:
        got = servers.echo(tools, server, load_cpus, row["connections"])
    row["values"].append(got["rate"])
    row["p99"].append(got["p99"])


def take(row, tools, cpus):
    """@returns  why there is no figure, or None"""
    if "argv" not in row:
        return harness.sample(row, cpus)
    try:
        mine = cpus[:row["threads"]]
        load_on(row, tools, mine, [c for c in cpus if c not in mine] or cpus)
    except (servers.Failed, OSError) as failure:
        return str(failure)
    return None


def measure(rows, tools, cpus, rounds):
    began, broken = time.monotonic(), set()
    for number in range(rounds):
        started = time.monotonic()
        for place, row in enumerate(random.sample(rows, len(rows)), 1):
            if sys.stderr.isatty():
                print(f"\r\033[Kround {number + 1}, {place} of {len(rows)}: {row['name']}, {row['threads']}", end="", file=sys.stderr, flush=True)
            reason = take(row, tools, cpus)
            if reason:
                broken.add(f"{row['name']}, {row['threads']} CPUs: {reason}")
        took = time.monotonic() - started
        print(("\r\033[K" if sys.stderr.isatty() else "") + f"round {number + 1}: {took:.0f} s", file=sys.stderr, flush=True)
        if time.monotonic() - began + took > LIMIT:
            break
    return sorted(broken)


def print_efficiency(rows):
    names = dict.fromkeys(row["name"] for row in rows if row["values"] and row["case"] != "fairness")
    print(f"\n{'row':52} {'CPUs':>4} {'median':>12} {'unit':14} {'p99 us':>9} {'efficiency':>10}")
    table = []
    for name in names:
        mine = sorted((r for r in rows if r["name"] == name and r["values"]), key=lambda r: r["threads"])
        first = next((r for r in mine if r["threads"] == 1), None)
        for row in mine:
            middle = statistics.median(row["values"])
            share = None
            if first is not None:
                alone = statistics.median(first["values"])
                share = (alone / middle if row["better"] == "lower" else middle / alone) / row["threads"]
            p99 = f"{statistics.median(row['p99']):9.0f}" if row.get("p99") else " " * 9
            print(f"{name:52} {row['threads']:4d} {middle:12.1f} {row['unit']:14} {p99} {share if share is None else format(share, '10.2f')}")
            table.append({"name": name, "threads": row["threads"], "median": middle, "unit": row["unit"], "efficiency": share})
    beside = [r for r in rows if r["case"] == "fairness" and r["values"]]
    if beside:
        print(f"\n{'an echo beside a fork/join on all workers, 1 CPU':52} {'req/s':>12} {'p99 us':>9}")
        for row in beside:
            print(f"{row['name'] + (' (busy)' if row['beside'] else ' (alone)'):52} {statistics.median(row['values']):12.0f} {statistics.median(row['p99']):9.0f}")
    return table


def plot(table, file):
    """Efficiency over CPUs, a line a row."""
    names = [n for n in dict.fromkeys(r["name"] for r in table) if sum(r["name"] == n and r["efficiency"] is not None for r in table) > 1]
    if not names:
        return  # one CPU: there is no line to draw
    script = [f"set terminal svg size 900,{420 + 14 * len(names)} font 'sans,11' background '#ffffff'", f"set output '{file}'",
              "set title 'Efficiency: a figure on n CPUs over n times that on one'", "set xlabel 'CPUs'", "set logscale x 2", "set yrange [0:1.3]",
              "set key outside bottom center vertical maxrows 20", "set grid ytics lc rgb '#dddddd'", "set ylabel 'efficiency'"]
    script.append("plot " + ", ".join(f"'-' with linespoints title {harness.plot.quoted(n)} noenhanced" for n in names))
    for name in names:
        script += [f"{r['threads']} {r['efficiency']}" for r in table if r["name"] == name and r["efficiency"] is not None] + ["e"]
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)


def ended(server):
    """@returns  what the server says of itself when it is told to end"""
    server.process.send_signal(signal.SIGTERM)
    server.process.wait(20)
    server.log.seek(0)
    return json.loads(server.log.read().splitlines()[-1])


def counted(tools, folder, home, threads, connections, cpus):
    """A request's part of what is counted, with as many threads as that number of CPUs would bring."""
    of_program = ["env", f"TANDEM_CPUS={threads}"], ["PORT", home]
    with servers.Server(of_program[0] + [f"{folder}/scaling_server"] + of_program[1], cpus) as server:
        before = server.switches()
        got = servers.echo(tools, server, cpus[-1:], connections)
        switches = server.switches() - before
        calls = system_calls(server, tools, cpus, connections)
        inside = ended(server)
    each = max(1, inside["requests"])
    failed = None
    if os.access(COUNTING, os.X_OK):
        with servers.Server(of_program[0] + [COUNTING] + of_program[1], cpus) as server:
            servers.echo(tools, server, cpus[-1:], connections)
            told = ended(server)
            failed = told["failed_cas"] / max(1, told["requests"])
    row = {"home": home, "threads": threads, "connections": connections, "switches": switches / max(1, got["answered"]), "calls": calls,
           "failed_cas": failed}
    return row | {name: inside[name] / each for name in ("wakes", "posts", "steals", "by_ring", "by_workers")} | {
        "completion_threads": inside["completion_threads"]}


def system_calls(server, tools, cpus, connections):
    """Of each request, by strace, which makes all slow: only the count is taken, that of connecting with it. None: there is no strace."""
    if not shutil.which("strace"):
        return None
    log = f"build/scaling.{server.pid}.calls"
    trace = subprocess.Popen(["strace", "-f", "-c", "-p", str(server.pid), "-o", log], stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        got = servers.echo(tools, server, cpus[-1:], connections)
    finally:
        trace.send_signal(signal.SIGINT)
        trace.wait(20)
    with open(log) as text:
        total = re.search(r"^\s*100\.00\s+[\d.]+\s+\d*\s+(\d+)", text.read(), re.M)
    os.unlink(log)
    return int(total.group(1)) / got["answered"] if total else None


def print_counts(folder, tools, cpus):
    print(f"\n{'a request of an echo':34} {'threads':>7} {'threads of I/O':>14} {'wakes':>7} {'switches':>8} {'calls':>6} {'posts':>7} {'steals':>7} {'by ring':>7} {'by workers':>10} {'failed CAS':>10}")
    rows = []
    for home in HOMES:
        for connections in CONNECTIONS:
            for threads in (1, 2, 4, 8):
                row = counted(tools, folder, home, threads, connections, cpus)
                rows.append(row)
                calls = "" if row["calls"] is None else f"{row['calls']:.2f}"
                failed = "" if row["failed_cas"] is None else f"{row['failed_cas']:.3f}"
                print(f"{home + ', ' + str(connections) + ' connections':34} {threads:7d} {row['completion_threads']:14d} {row['wakes']:7.3f} {row['switches']:8.3f} "
                      f"{calls:>6} {row['posts']:7.3f} {row['steals']:7.3f} {row['by_ring']:7.3f} {row['by_workers']:10.3f} {failed:>10}", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--filter", default="")
    parser.add_argument("--cpus", default="")
    parser.add_argument("--plot", action="store_true")
    parser.add_argument("--counts", action="store_true")
    parser.add_argument("preset")
    args = parser.parse_args()
    cpus = [int(c) for c in args.cpus.split(",")] if args.cpus else sorted(os.sched_getaffinity(0))
    folder = f"build/{args.preset}/bench"
    tools = {"load": f"{folder}/io_load"}
    print(f"{harness.machine()}; {len(cpus)} of them are used; load {os.getloadavg()[0]:.1f}", flush=True)
    if args.counts:
        rows, broken = print_counts(folder, tools, cpus), []
    else:
        rows = [r for r in compute_rows(folder, cpus) + echo_rows(folder, cpus) + beside_rows(folder) if re.search(args.filter, r["name"])]
        if not rows:
            sys.exit("no such row")
        broken = measure(rows, tools, cpus, args.rounds)
        rows = print_efficiency(rows)
    with open(f"{folder}/scaling{'_counts' if args.counts else ''}.jsonl", "w") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    if args.plot and not args.counts:
        plot(rows, f"{folder}/scaling.svg")
        print(f"{folder}/scaling.svg")
    for line in broken:
        print("no sample:", line)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
