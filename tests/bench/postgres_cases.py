"""The cases of suite postgres: clients of one PostgreSQL: rows for harness.py.
SPDX-License-Identifier: MIT

The server lives as long as the suite, on the first CPU; each sample is a client of its own on the last one, so what a client costs is
told by its CPU time (.cpu, .user) better than by the clock, which is mostly the server's. All clients prepare the same statement.
"""
import atexit, functools, json, os, subprocess
import io_cases, servers

SECONDS = float(os.environ.get("TANDEM_BENCH_SECONDS", "0.5"))  # of load in each sample
ROUNDS = 7  # unless --rounds says so

# case, kind, connections, impls, what
FIGURES = ["rate", "p50", "p99", "cpu", "user"]
SINGLE = ["tandem", "tandem_asio", "libpq", "tokio_postgres", "lib_pq"]
CASES = [
    ("single_1", "single", 1, SINGLE, "a prepared statement after the other on 1 connection"),
    ("single_64", "single", 64, SINGLE, "the same on 64 connections, a task each"),
    ("pipeline_100", "pipeline", 1, ["tandem", "tandem_asio", "libpq", "tokio_postgres"], "batches of 100 on 1 connection (p50, p99: of a batch)"),
]
PLOTTED = ["single_1", "single_64", "pipeline_100", "single_1.cpu", "single_64.cpu", "pipeline_100.cpu"]

# impl: role, executable, its environment
IMPLS = {
    "tandem": ("self", "postgres_tandem", {}),
    "tandem_asio": ("self", "postgres_tandem", {"TANDEM_IO_BACKEND": "asio"}),
    "libpq": ("floor", "postgres_libpq", {}),
    "tokio_postgres": ("peer", "postgres_tokio", {}),
    "lib_pq": ("peer", "postgres_go", {}),
}
OF_NO_PRESET = ("postgres_tokio", "postgres_go")


@functools.cache
def version(name):
    """Of a floor or peer: what its executable or its package says."""
    asked = {"postgres_libpq": ["pkg-config", "--modversion", "libpq"], "postgres_tokio": ["build/peers/postgres_tokio", "--version"],
             "postgres_go": ["build/peers/postgres_go", "--version"]}
    if name not in asked:
        return ""
    try:
        said = subprocess.run(asked[name], capture_output=True, text=True).stdout.strip()
        return f"libpq {said}" if name == "postgres_libpq" else said
    except OSError:
        return ""


@functools.cache
def conninfo(cpu):
    """Of a server on that CPU, which ends with this process."""
    from servers_of_tests import start
    server, end = start(cpu)
    atexit.register(end)
    return f"host=127.0.0.1 port={server.port} user=tandem dbname=postgres sslmode=disable"


def collect(presets, compiler_of, peers=True):
    """Rows of all that can be measured, and why others cannot."""
    rows, missing = [], {}
    for preset, place, compiler in io_cases.places(presets, compiler_of):
        for impl, (role, program, _) in IMPLS.items():
            if role == "peer" and not peers or (program in OF_NO_PRESET) != (preset is None):
                continue
            found = f"{place}/{program}"
            if not os.access(found, os.X_OK):
                missing[program] = io_cases.reason(place, program)
                continue
            about = {"suite": "postgres", "impl": impl, "role": role, "compiler": compiler or version(program).split("; ")[-1],
                     "preset": preset, "threads": 1, "version": version(program), "extra": False}
            for case, kind, connections, impls, text in CASES:
                if impl in impls:
                    run = functools.partial(measure, found, impl, kind, connections)
                    rows += io_cases.one_sample(about | {"input": text}, case, FIGURES, run, 0)
    rows.sort(key=lambda row: [case[0] for case in CASES].index(row["case"].split(".")[0]))
    return rows, [f"{program}: {why}" for program, why in missing.items()]


def measure(found, impl, kind, connections, cpus):
    """One sample: figures of a client."""
    setting = [f"{name}={value}" for name, value in IMPLS[impl][2].items()]
    argv = (["env", *setting] if setting else []) + [found, conninfo(cpus[0]), kind, str(connections), str(SECONDS)]
    got = json.loads(servers.command(argv, cpus[-1:], servers.FIFO))
    return {"values": got, "rss": got["rss"]}
