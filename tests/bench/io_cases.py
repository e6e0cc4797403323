"""The cases of suite io that are servers under load, and fio: rows for harness.py.
SPDX-License-Identifier: MIT

A case yields several figures at once. Each is a row of its own: CASE is the first one, CASE.NAME the others.
"""
import functools, json, os, shutil, subprocess
import servers
from servers import Failed

# name: unit, what is better, how the samples are summed up ("mean" where a clock counts ticks)
METRICS = {
    "rate": ("req/s", "higher", "median"),
    "p50": ("us", "lower", "median"),
    "p99": ("us", "lower", "median"),
    "cpu": ("ns cpu/req", "lower", "median"),
    "user": ("ns user/req", "lower", "mean"),
    "times": ("x p99 alone", "lower", "median"),
    "bytes": ("B/connection", "lower", "median"),
    "megabytes": ("MB", "lower", "median"),
    "wakes": ("wakes in 10 s", "lower", "median"),
    "idle_cpu": ("us cpu", "lower", "median"),
    "other": ("ms", "lower", "median"),
    "own": ("ms", "lower", "median"),
    "iops": ("reads/s", "higher", "median"),
    "mib": ("MiB/s", "higher", "median"),
    "cpu_kib": ("ns cpu/KiB", "lower", "median"),
    "user_kib": ("ns user/KiB", "lower", "mean"),
    "packets": ("datagrams/s", "higher", "median"),
    "cpu_packet": ("ns cpu/datagram", "lower", "median"),
    "user_packet": ("ns user/datagram", "lower", "mean"),
    "lost": ("% lost", "lower", "median"),
    "handshakes": ("handshakes/s", "higher", "median"),
    "cpu_handshake": ("us cpu/hs", "lower", "median"),
    "user_handshake": ("us user/hs", "lower", "mean"),
}
LOAD = ["rate", "p50", "p99", "cpu", "user"]

# case, threads, connections, how it is measured, its figures (the first one gives the case its name), in the first so many
# rounds only (0: all), impls, what it is
ALL_ECHO = ["tandem_read", "tandem_receive", "uring", "uring_inline", "epoll", "asio_callback", "asio_coroutine", "tokio",
            "tokio_current", "libuv", "go"]
CASES = [
    ("echo_1t_64", 1, 64, servers.measure_echo, LOAD, 0, ALL_ECHO, "64 B on 64 connections, 1 server thread"),
    ("echo_1t_512", 1, 512, servers.measure_echo, LOAD, 0, ALL_ECHO, "64 B on 512 connections, 1 server thread"),
    ("echo_1t_1", 1, 1, servers.measure_echo, LOAD, 0, ALL_ECHO, "64 B on 1 connection, 1 server thread"),
    ("echo_unix_1t_64", 1, 64, servers.measure_unix_echo, LOAD, 0, ["tandem_unix_read", "tandem_unix_receive", "asio_unix", "tokio_unix"],
     "64 B on 64 connections of a Unix socket, 1 server thread"),
    ("echo_2t_64", 2, 64, functools.partial(servers.measure_echo, shared=True), LOAD, 0,
     ["tandem_read", "tandem_receive", "tandem_stealable", "tandem_stealable_receive", "uring", "epoll", "asio_callback",
      "asio_coroutine", "tokio", "go"], "64 B on 64 connections, 2 server threads, which share a CPU with the generator"),
    ("echo_workers_1", 1, 1, functools.partial(servers.measure_echo, shared=True), LOAD, 0,
     ["tandem_workers", "tandem_workers_receive", "tokio", "go"], "64 B on 1 connection, tasks on 1 worker"),
    ("echo_workers_64", 1, 64, functools.partial(servers.measure_echo, shared=True), LOAD, 0,
     ["tandem_workers", "tandem_workers_fixed", "tandem_workers_receive", "tokio", "go"], "64 B on 64 connections, tasks on 1 worker"),
    ("http_hello", 1, 64, servers.measure_http, LOAD, 0, ["tandem_beast", "tandem_scan", "beast", "go_http", "nginx"],
     "13 B over HTTP/1.1, keep-alive, wrk -c64, 1 server thread"),
    ("greedy", 1, 63, servers.measure_greedy, ["times", "p99", "rate"], 0,
     ["tandem_read", "tandem_receive", "uring", "epoll", "tokio", "go"], "63 polite connections beside one with 64 KiB in flight"),
    ("spin200", 2, 16, servers.measure_spin, ["other", "own"], 3, ["tandem_spin"],
     "longest round trip on the other ring while a handler spins for 200 ms"),
    ("idle_connections", 1, 15000, servers.measure_idle_connections, ["bytes", "megabytes"], 3,
     ["tandem_read", "tandem_receive", "tandem_workers_receive", "asio_callback", "asio_coroutine", "tokio", "libuv", "go"],
     "resident memory of 15,000 idle connections, the handler's frame included"),
    ("idle_process", 1, 1000, servers.measure_idle_process, ["wakes", "idle_cpu"], 1,
     ["tandem_read", "tandem_receive", "tandem_workers_receive", "asio_callback", "tokio", "libuv", "go"],
     "1,000 idle connections, wake-ups in 10 s"),
]
PLOTTED = [f"{case}{figure}" for case in ("echo_1t_64", "echo_1t_512", "echo_2t_64", "echo_unix_1t_64", "echo_workers_64", "http_hello")
           for figure in ("", ".user")] + ["echo_1t_1.p50", "echo_2t_64.p99", "echo_workers_1.p50", "greedy", "idle_connections",
                                           "pread_cached", "direct_read"]

# impl: role, executable, its arguments after PORT THREADS
IMPLS = {
    "tandem_read": ("self", "io_tandem", ["thread_read"]),
    "tandem_receive": ("self", "io_tandem", ["thread_receive"]),
    "tandem_stealable": ("self", "io_tandem", ["pool_read"]),
    "tandem_stealable_receive": ("self", "io_tandem", ["pool_receive"]),
    "tandem_unix_read": ("self", "io_tandem", ["thread_read", "UNIX"]),
    "tandem_unix_receive": ("self", "io_tandem", ["thread_receive", "UNIX"]),
    "tandem_workers": ("self", "io_tandem", ["workers_read"]),
    "tandem_workers_fixed": ("self", "io_tandem", ["workers_read"]),
    "tandem_workers_receive": ("self", "io_tandem", ["workers_receive"]),
    "tandem_spin": ("self", "io_tandem", ["thread_spin"]),
    "tandem_beast": ("self", "io_tandem_http", ["beast"]),
    "tandem_scan": ("self", "io_tandem_http", ["scan"]),
    "uring": ("floor", "io_uring", ["3"]),
    "uring_inline": ("floor", "io_uring", ["19"]),
    "epoll": ("floor", "io_epoll", []),
    "asio_callback": ("peer", "io_asio", ["callback"]),
    "asio_coroutine": ("peer", "io_asio", ["coroutine"]),
    "asio_unix": ("peer", "io_asio", ["unix", "UNIX"]),
    "libuv": ("peer", "io_libuv", []),
    "beast": ("peer", "io_beast", []),
    "tokio": ("peer", "io_tokio", []),
    "tokio_current": ("peer", "io_tokio", ["current"]),
    "tokio_unix": ("peer", "io_tokio", ["unix", "UNIX"]),
    "go": ("peer", "io_go", ["echo"]),
    "go_http": ("peer", "io_go", ["http"]),
    "nginx": ("peer", "nginx", []),
}

ENVIRONMENT = {"tandem_workers_fixed": ["TANDEM_ADAPTIVE=off"]}


def version(name):
    """Of a peer: what its executable or its package says."""
    asked = {"io_tokio": ["build/peers/io_tokio", "--version"], "io_go": ["build/peers/io_go", "--version"],
             "nginx": ["nginx", "-v"], "fio": ["fio", "--version"],
             "io_asio": ["dpkg-query", "-W", "-f=Asio ${Version}", "libasio-dev"],
             "io_libuv": ["dpkg-query", "-W", "-f=libuv ${Version}", "libuv1-dev"],
             "io_beast": ["dpkg-query", "-W", "-f=Boost ${Version}", "libboost1.81-dev"]}
    if name not in asked:
        return ""
    try:
        done = subprocess.run(asked[name], capture_output=True, text=True)
        return (done.stdout + done.stderr).strip().replace("nginx version: nginx/", "nginx ")
    except OSError:
        return ""


def places(presets, compiler_of):
    """Where executables lie: those of each preset, and those of no compiler of ours."""
    return [(p, f"build/{p}/bench", compiler_of(p)) for p in presets] + [(None, "build/peers", "")]


def collect(presets, compiler_of, peers=True):
    """Rows of all that can be measured, and why others cannot."""
    rows, missing = [], {}
    tools = {"load": f"build/{presets[0]}/bench/io_load"}
    for preset, folder, compiler in places(presets, compiler_of):
        for case, threads, connections, how, names, rounds, impls, text in CASES:
            for impl in impls:
                role, program, arguments = IMPLS[impl]
                if program in ("io_tokio", "io_go", "nginx") and preset is not None or role == "peer" and not peers:
                    continue
                found = shutil.which("nginx") if program == "nginx" else f"{folder}/{program}"
                if found is None or not os.access(found, os.X_OK):
                    if (preset is None) == (program in ("io_tokio", "io_go", "nginx")):
                        missing[program] = reason(folder, program)
                    continue
                argv = servers.nginx("build/peers/nginx") if program == "nginx" else [found, "PORT", str(threads), *arguments]
                argv = ["env", *ENVIRONMENT[impl], *argv] if impl in ENVIRONMENT else argv
                about = {"suite": "io", "impl": impl, "role": role, "compiler": compiler or version(program).split("; ")[-1],
                         "preset": preset, "threads": threads, "input": text, "version": version(program), "extra": False}
                rows += one_sample(about, case, names, functools.partial(how, tools, argv, threads, connections=connections), rounds)
    if peers:
        rows += fio_rows(missing)
    return rows, [f"{program}: {why}" for program, why in missing.items()]


def one_sample(about, case, names, run, rounds):
    """A row for each figure. The first one of them runs the sample and fills in the others. (One that is alone is shown beside
    those of bench_io and bench_io_*.)"""
    rows = []
    for name in names:
        unit, better, how = METRICS[name]
        rows.append(about | {"case": case if not rows else f"{case}.{name}", "unit": unit, "better": better, "summed": how,
                             "values": [], "rss": [], "metric": name, "group": case if len(names) > 1 else None, "filled_by": rows[0] if rows else None})
    rows[0] |= {"run": run, "fills": rows, "rounds": rounds}
    return rows


def reason(folder, program):
    file = f"{folder}/{program}.missing"
    if os.path.exists(file):
        with open(file) as text:
            return text.read().strip()
    return "not built" if program != "nginx" else "no nginx (Debian: nginx)"


def sample(row, cpus):
    """Runs it and fills in all of its rows. @returns  why not, or None"""
    try:
        result = row["run"](cpus=cpus)
    except (Failed, OSError) as failure:
        return str(failure)
    for other in row["fills"]:
        other["values"].append(result["values"][other["metric"]])
        other["rss"].append(result["rss"])
    return None


FIO = {"pread_cached": ["--direct=0", "--iodepth=1"], "direct_read": ["--direct=1", "--iodepth=32"]}


def fio_rows(missing):
    """fio's io_uring engine with the reads that bench_io_files does through tandem."""
    if not shutil.which("fio"):
        missing["fio"] = "no fio (Debian: fio)"
        return []
    rows = []
    for case, options in FIO.items():
        about = {"suite": "io", "impl": "fio", "role": "peer", "compiler": version("fio"), "preset": None, "threads": 1,
                 "input": "4 KiB at random places of 256 MiB", "version": version("fio"), "extra": False}
        rows += one_sample(about, case, ["iops"], functools.partial(measure_fio, options), 0)
    return rows


def measure_fio(options, cpus):
    file = os.environ.get("TANDEM_BENCH_FILE", "build/bench_io.data")
    argv = ["taskset", "-c", str(cpus[0]), "fio", "--name=read", f"--filename={file}", "--size=256m", "--rw=randread", "--bs=4k",
            "--ioengine=io_uring", "--randrepeat=0", "--norandommap", "--time_based", f"--runtime={max(1, round(servers.SECONDS))}s",
            "--invalidate=0", "--output-format=json", *options]
    with open(file, "a+b") as data:  # fio would lay it out, but within the time that it measures
        if data.tell() < 256 << 20:
            data.truncate(0)
            for _ in range(256):
                data.write(os.urandom(1 << 20))
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"fio: {(done.stdout + done.stderr).strip()[-200:]}")
    read = json.loads(done.stdout[done.stdout.index("{"):])["jobs"][0]["read"]
    return {"values": {"iops": read["iops"]}, "rss": 0}


def print_tables(rows):
    """A line for each implementation, with all figures of its samples: medians (user/req: mean) and the best first figure."""
    for case in dict.fromkeys(r["group"] for r in rows):
        mine = [r for r in rows if r["group"] == case]
        names = list(dict.fromkeys(r["metric"] for r in mine))
        first = [r for r in mine if r["metric"] == names[0]]
        sign = 1 if first[0]["better"] == "lower" else -1
        print(f"\n{case}: {first[0]['input']}")
        print(f"  {'impl':24} {'role':5} {'compiler':17} {'n':>3} {'best':>10} " +
              " ".join(f"{METRICS[n][0]:>13}" for n in names) + f" {'rss MB':>7}  reach")
        for row in sorted(first, key=lambda r: sign * r["median"]):
            cells = []
            for name in names:
                same = [r for r in mine if r["metric"] == name and all(r[k] == row[k] for k in ("impl", "compiler", "threads"))]
                cells.append(f"{same[0]['median']:13.1f}" if same else " " * 13)
            print(f"  {row['impl']:24} {row['role']:5} {row['compiler']:17} {row['n']:3d} {row['best']:10.1f} " + " ".join(cells) +
                  f" {row['rss_kb'] / 1024:7.1f}  {row['reach_text']}".rstrip())
    print()
