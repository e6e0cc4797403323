"""The cases of suite redis: clients of one Redis server: rows for harness.py.
SPDX-License-Identifier: MIT

Every sample is a client of its own on the first CPU; the server (tests/support/servers.py) runs on the last one, the same for
all. The clients time themselves (redis/redis_load.hpp), and their CPU time is that of their process.
"""
import atexit, functools, os, re, subprocess, sys
import io_cases
from servers import FIFO, Failed, pinned

SECONDS = float(os.environ.get("TANDEM_BENCH_SECONDS", "0.5"))  # of load in each sample, roughly
ROUNDS = 9
FIGURES = ["rate", "p50", "p99", "cpu"]
# case, requests a second (roughly), of what is timed, what
CASES = [
    ("single", 40_000, "one task, a GET of 64 bytes at a time"),
    ("shared", 500_000, "64 tasks on one connection, each a GET of 64 bytes at a time"),
    ("pipeline", 7_000, "one task, 100 GETs of 64 bytes at a time"),
]
# impl: role, executable, its last arguments, its environment
IMPLS = {
    "tandem": ("self", "redis_tandem", ["completions"], {}),
    "tandem_workers": ("self", "redis_tandem", ["workers"], {}),
    "tandem_asio": ("self", "redis_tandem", ["completions"], {"TANDEM_IO_BACKEND": "asio"}),
    "hiredis": ("floor", "redis_hiredis", [], {}),
    "redigo": ("peer", "redis_redigo", [], {}),
}
OF_NO_PRESET = ("redis_redigo",)
PLOTTED = [case for case, *_ in CASES]


@functools.cache
def server_port(cpu):
    """Of the one server, which ends with this process."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "servers.py")
    running = subprocess.Popen(pinned([cpu], [sys.executable, "-B", script, "redis"], FIFO), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(running.stdin.close)
    said = running.stdout.readline()
    found = re.search(r"port=(\d+)", said)
    if not found or running.stdout.readline().strip() != "ready":
        raise Failed(f"no Redis server: {said.strip()}")
    return int(found.group(1))


def measure(program, case, count, arguments, environment, cpus):
    argv = pinned(cpus[:1], [program, str(server_port(cpus[-1])), case, str(count), *arguments], FIFO)
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, env=os.environ | environment)
    if done.returncode != 0:
        raise Failed(f"exit {done.returncode}: {(done.stdout + done.stderr).strip()[-200:]}")
    got = {name: float(value) for name, value in re.findall(r"(\w+)=([\d.]+)", done.stdout)}
    return {"values": {"rate": got["requests_s"], "p50": got["p50_us"], "p99": got["p99_us"], "cpu": got["cpu_us"] * 1000}, "rss": int(got["rss_kb"])}


def collect(presets, compiler_of, peers=True):
    """Rows of all that can be measured, and why others cannot."""
    rows, missing = [], {}
    for preset, place, compiler in io_cases.places(presets, compiler_of):
        for impl, (role, program, arguments, environment) in IMPLS.items():
            if role == "peer" and not peers or (program in OF_NO_PRESET) != (preset is None):
                continue
            found = f"{place}/{program}"
            if not os.access(found, os.X_OK):
                missing[program] = io_cases.reason(place, program)
                continue
            for case, rate, text in CASES:
                about = {"suite": "redis", "impl": impl, "role": role, "compiler": compiler or program, "preset": preset, "threads": 1,
                         "version": "", "extra": False, "input": text}
                run = functools.partial(measure, found, case, max(100, int(rate * SECONDS)), arguments, environment)
                rows += io_cases.one_sample(about, case, FIGURES, run, 0)
    rows.sort(key=lambda row: PLOTTED.index(row["case"].split(".")[0]))
    return rows, [f"{program}: {why}" for program, why in missing.items()]
