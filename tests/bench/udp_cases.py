"""The cases of suite udp: echo of datagrams under load: rows for harness.py.
SPDX-License-Identifier: MIT

Every sample is a server of its own on the first CPU, loaded from the last one by the kit's generator (kit/udpload.c), and
killed. What a server can do is told by its CPU time (.cpu_packet): the generator takes as much as it does.
"""
import contextlib, functools, json, os, socket
import io_cases, servers

SECONDS = float(os.environ.get("TANDEM_BENCH_SECONDS", "0.5"))  # of load in each sample
ROUNDS = 9  # unless --rounds says so
FIGURES = ["packets", "cpu_packet", "user_packet", "lost"]

# case, what the generator is told, impls, what it is
CASES = [
    ("echo", ["-n", "64"], ["tandem", "tandem_bare", "tandem_asio", "tandem_one", "mmsg", "asio_callback", "asio_coroutine", "tokio"],
     "1,200 B, 64 in flight, each datagram by itself"),
    ("trains", ["-n", "200", "-t", "50"], ["tandem_trains", "tandem_trains_asio", "gso"],
     "1,200 B, 4 trains of 50 in flight, cut and gathered by the kernel"),
]
PLOTTED = ["echo", "echo.cpu_packet", "trains", "trains.cpu_packet"]

# impl: role, executable, its arguments after PORT THREADS, its environment
ASIO = {"TANDEM_IO_BACKEND": "asio"}
IMPLS = {
    "tandem": ("self", "udp_tandem", ["single"], {}),
    "tandem_bare": ("self", "udp_tandem", ["bare"], {}),
    "tandem_asio": ("self", "udp_tandem", ["single"], ASIO),
    "tandem_one": ("self", "udp_tandem", ["one"], {}),
    "tandem_trains": ("self", "udp_tandem", ["trains"], {}),
    "tandem_trains_asio": ("self", "udp_tandem", ["trains"], ASIO),
    "mmsg": ("floor", "udp_plain", ["single"], {}),
    "gso": ("floor", "udp_plain", ["trains"], {}),
    "asio_callback": ("peer", "udp_asio", ["callback"], {}),
    "asio_coroutine": ("peer", "udp_asio", ["coroutine"], {}),
    "tokio": ("peer", "io_tokio", ["udp"], {}),
}


class DatagramServer(servers.Server):
    """It is there when it answers a datagram."""

    def connect(self):
        probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        probe.settimeout(0.05)
        with contextlib.ExitStack() as stack:
            stack.callback(probe.close)
            probe.connect(("127.0.0.1", self.port))
            probe.send(b"there?")
            probe.recv(16)
            stack.pop_all()
        return probe


def collect(presets, compiler_of, peers=True):
    """Rows of all that can be measured, and why others cannot."""
    rows, missing = [], {}
    load = f"build/{presets[0]}/bench/udp_load"
    for preset, place, compiler in io_cases.places(presets, compiler_of):
        for impl, (role, program, _, _) in IMPLS.items():
            if role == "peer" and not peers or (program == "io_tokio") != (preset is None):
                continue
            found = f"{place}/{program}"
            if not os.access(found, os.X_OK):
                missing[program] = io_cases.reason(place, program)
                continue
            version = io_cases.version(program.replace("udp_asio", "io_asio"))
            about = {"suite": "udp", "impl": impl, "role": role, "compiler": compiler or version.split("; ")[-1], "preset": preset,
                     "threads": 1, "version": version, "extra": False}
            rows += rows_of(about, load, found)
    return rows, [f"{program}: {why}" for program, why in missing.items()]


def rows_of(about, load, found):
    """Those of one implementation."""
    rows = []
    for case, options, impls, text in CASES:
        if about["impl"] in impls:
            run = functools.partial(measure, load, found, about["impl"], options)
            rows += io_cases.one_sample(about | {"input": text}, case, FIGURES, run, 0)
    return rows


def measure(load, found, impl, options, cpus):
    _, _, arguments, environment = IMPLS[impl]
    setting = [f"{name}={value}" for name, value in environment.items()]
    argv = (["env", *setting] if setting else []) + [found, "PORT", "1", *arguments]
    with DatagramServer(argv, cpus[:1], servers.FIFO) as server:
        asked = [load, "-p", str(server.port), "-P", str(server.pid), "-d", str(SECONDS), "-w", str(0.3 * SECONDS), *options]
        return servers.figures(server, **figures(json.loads(servers.command(asked, cpus[-1:], servers.FIFO))))


def figures(got):
    """Of what the generator has counted: by the name of METRICS."""
    count = got["datagrams"]
    if not count:
        raise servers.Failed("no datagram came back")
    user = got["user_ticks"] / max(1, got["user_ticks"] + got["system_ticks"])
    return {"packets": count / got["seconds"], "cpu_packet": got["cpu_ns"] / count, "user_packet": got["cpu_ns"] * user / count,
            "lost": 100 * got["lost"] / (count + got["lost"])}
