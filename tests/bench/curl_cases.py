"""The cases of suite curl: many downloads from one nginx: rows for harness.py.
SPDX-License-Identifier: MIT

The server lives as long as the suite, on the first CPU; each sample is a client of its own on the last one, a process that fetches one URL so many
times over 64 connections and ends. What it costs is the CPU time of that process, its start and its end included.
"""
import atexit, functools, os, subprocess, time
import io_cases, servers

ROUNDS = 9  # unless --rounds says so
AT_ONCE = 64

FIGURES = ["rate", "cpu", "user"]
ALL = ["tandem", "tandem_asio", "ephiperfifo", "go"]
# case, path, downloads, impls, what
CASES = [
    ("small", "/100.bin", 1000, ALL + ["tandem_collect"], "1,000 downloads of 100 B over 64 connections"),
    ("small_20k", "/100.bin", 20000, ALL + ["tandem_collect"], "20,000 downloads of 100 B over 64 connections"),
    ("large", "/1M.bin", 1000, ALL + ["tandem_collect"], "1,000 downloads of 1 MiB over 64 connections"),
]
PLOTTED = ["small.cpu", "small_20k.cpu", "large.cpu"]

# impl: role, executable, its arguments after URL AT-ONCE COUNT, its environment
IMPLS = {
    "tandem": ("self", "curl_tandem", [], {}),
    "tandem_asio": ("self", "curl_tandem", [], {"TANDEM_IO_BACKEND": "asio"}),
    "tandem_collect": ("self", "curl_tandem", ["collect"], {}),
    "ephiperfifo": ("peer", "curl_ephiperfifo", [], {}),
    "go": ("peer", "curl_go", [], {}),
}
OF_NO_PRESET = ("curl_ephiperfifo", "curl_go")


@functools.cache
def version(name):
    asked = {"curl_ephiperfifo": ["pkg-config", "--modversion", "libcurl"], "curl_go": ["build/peers/curl_go", "--version"]}
    if name not in asked:
        return ""
    try:
        said = subprocess.run(asked[name], capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""
    return f"libcurl {said}" if name == "curl_ephiperfifo" else said


@functools.cache
def base(cpu):
    """Of an nginx on that CPU, which ends with this process."""
    from servers_of_tests import start
    server, end = start(cpu, "nginx")
    atexit.register(end)
    return f"http://127.0.0.1:{server.port}"


def collect(presets, compiler_of, peers=True):
    """Rows of all that can be measured, and why others cannot."""
    rows, missing = [], {}
    for preset, place, compiler in io_cases.places(presets, compiler_of):
        for impl, (role, program, *_) in IMPLS.items():
            if role == "peer" and not peers or (program in OF_NO_PRESET) != (preset is None):
                continue
            found = f"{place}/{program}"
            if not os.access(found, os.X_OK):
                missing[program] = io_cases.reason(place, program)
                continue
            about = {"suite": "curl", "impl": impl, "role": role, "compiler": compiler or version(program), "preset": preset, "threads": 1,
                     "version": version(program), "extra": False}
            for case, path, count, impls, text in CASES:
                if impl in impls:
                    rows += io_cases.one_sample(about | {"input": text}, case, FIGURES, functools.partial(measure, found, impl, path, count), 0)
    rows.sort(key=lambda row: [case[0] for case in CASES].index(row["case"].split(".")[0]))
    return rows, [f"{program}: {why}" for program, why in missing.items()]


def measure(found, impl, path, count, cpus):
    """One sample: what a client has cost."""
    *_, arguments, more = IMPLS[impl]
    argv = servers.pinned(cpus[-1:], [found, base(cpus[0]) + path, str(AT_ONCE), str(count), *arguments], servers.FIFO)
    begin = time.monotonic()
    client = subprocess.Popen(argv, env=os.environ | more, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(client.pid, 0)
    client.returncode = os.waitstatus_to_exitcode(status)
    took = time.monotonic() - begin
    if client.returncode:
        raise servers.Failed(f"{found}: exit {client.returncode}")
    values = {"rate": count / took, "cpu": (used.ru_utime + used.ru_stime) / count * 1e9, "user": used.ru_utime / count * 1e9}
    return {"values": values, "rss": used.ru_maxrss}
