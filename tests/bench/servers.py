"""What suite io does with servers: starts one, loads it, and tells req/s, latencies and CPU time of each request.
SPDX-License-Identifier: MIT

Every sample is a server of its own: started on the first CPUs, loaded from the last one, killed. The load generator is the
kit's (kit/echoload.c), of the first preset for all; wrk for HTTP. Where server and generator share no CPU, both run with
realtime priority if that is permitted and TANDEM_BENCH_FIFO=1: a spinning server would starve whatever shares its CPU.
"""
import contextlib, os, re, resource, selectors, shutil, signal, socket, struct, subprocess, tempfile, time

SECONDS = float(os.environ.get("TANDEM_BENCH_SECONDS", "1"))  # of load in each sample
FIFO = os.environ.get("TANDEM_BENCH_FIFO") == "1" and os.geteuid() == 0 and shutil.which("chrt")
TICKS = os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """Why a sample has no figure."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def pinned(cpus, argv, realtime):
    return (["chrt", "-f", "1"] if realtime else []) + ["taskset", "-c", ",".join(map(str, cpus))] + argv


class Server:
    """`with Server(argv, cpus) as server:` runs it on a free port, which stands for PORT, and kills it afterwards."""

    def __init__(self, argv, cpus, realtime=False):
        self.port = free_port()
        self.log = tempfile.TemporaryFile("w+")
        self.limits()
        argv = [a.replace("PORT", str(self.port)) for a in argv]
        self.process = subprocess.Popen(pinned(cpus, argv, realtime), stdout=self.log, stderr=self.log)
        self.pid = self.process.pid

    @staticmethod
    def limits():
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    def __enter__(self):
        for _ in range(200):
            if self.process.poll() is not None:
                break
            with contextlib.suppress(OSError):
                self.connect().close()
                return self
            time.sleep(0.02)
        self.__exit__()
        self.log.seek(0)
        raise Failed(f"the server did not start: {self.log.read().strip()[-200:]}")

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), 5)

    def cpu(self):
        """Nanoseconds of CPU time of all threads, and which share of it was in user space (counted in ticks)."""
        total = 0
        for task in self.tasks():
            with contextlib.suppress(OSError), open(f"{task}/schedstat") as stat:
                total += int(stat.read().split()[0])
        with open(f"/proc/{self.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return total, int(fields[11]), int(fields[12])

    def tasks(self):
        return [f"/proc/{self.pid}/task/{task}" for task in os.listdir(f"/proc/{self.pid}/task")]

    def status(self, field):
        with open(f"/proc/{self.pid}/status") as status:
            return int(re.search(rf"^{field}:\s+(\d+)", status.read(), re.M).group(1))

    def switches(self):
        """How often one of its threads went to sleep, that is: was woken."""
        return sum(int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", open(f"{task}/status").read(), re.M).group(1))
                   for task in self.tasks())


class UnixServer(Server):
    """The same, of a Unix socket, whose path stands for UNIX."""

    def __init__(self, argv, cpus, realtime=False):
        self.folder = tempfile.TemporaryDirectory()
        super().__init__([a.replace("UNIX", f"{self.folder.name}/PORT") for a in argv], cpus, realtime)
        self.path = f"{self.folder.name}/{self.port}"

    def __exit__(self, *_):
        super().__exit__()
        self.folder.cleanup()

    def connect(self):
        with contextlib.ExitStack() as undo:
            made = undo.enter_context(socket.socket(socket.AF_UNIX))
            made.connect(self.path)
            undo.pop_all()
        return made


def figures(server, **more):
    return {"values": more, "rss": server.status("VmHWM")}


def command(argv, cpus, realtime):
    try:
        done = subprocess.run(pinned(cpus, argv, realtime), capture_output=True, text=True, timeout=30 + 5 * SECONDS)
    except subprocess.TimeoutExpired:
        raise Failed("the load generator did not end: a message was lost") from None
    if done.returncode != 0:
        raise Failed(f"load generator: exit {done.returncode}: {(done.stdout + done.stderr).strip()[-200:]}")
    return done.stdout


def echo(tools, server, generator_cpus, connections, size=64, realtime=False, more=()):
    """One load by the kit's generator."""
    text = command([tools["load"], "-c", str(connections), "-s", str(size), "-p", str(server.port), "-d", str(SECONDS),
                    "-w", "0.2", "-P", str(server.pid), *more], generator_cpus, realtime)
    found = re.search(r"req/s=(\d+)\s+p50=([\d.]+) p99=([\d.]+) .*cpu/req=(\d+) ns user/req=(\d+) ns.*answered=(\d+)", text)
    if not found or not int(found.group(1)):
        raise Failed(f"load generator: {text.strip()[-200:]}")
    return dict(zip(("rate", "p50", "p99", "cpu", "user", "answered"), map(float, found.groups())))


def measure_echo(tools, argv, threads, cpus, connections, size=64, shared=False):
    """@param shared  server and generator may meet on a CPU, or threads of the server do: no realtime priority"""
    realtime = FIFO and not shared
    with Server(argv, cpus[:threads], realtime) as server:
        return figures(server, **echo(tools, server, cpus[-1:], connections, size, realtime))


def measure_unix_echo(tools, argv, threads, cpus, connections):
    with UnixServer(argv, cpus[:threads], FIFO) as server:
        return figures(server, **echo(tools, server, cpus[-1:], connections, realtime=FIFO, more=["-U", server.path]))


def measure_greedy(tools, argv, threads, cpus, connections):
    """The p99 of polite connections beside one that keeps 64 KiB in flight, in units of the p99 without it."""
    with Server(argv, cpus[:threads]) as server:
        alone = echo(tools, server, cpus[-1:], connections)
        beside = echo(tools, server, cpus[-1:], connections, more=["-g", "65536"])
        return figures(server, rate=beside["rate"], p99=beside["p99"], times=beside["p99"] / alone["p99"])


def measure_http(tools, argv, threads, cpus, connections):
    with Server(argv, cpus[:threads], FIFO) as server:
        before = server.cpu()
        text = command(["wrk", "-t1", f"-c{connections}", f"-d{max(1, round(SECONDS))}s", "--latency",
                        f"http://127.0.0.1:{server.port}/"], cpus[-1:], FIFO)
        after = server.cpu()
        if re.search(r"Non-2xx|Socket errors", text):
            raise Failed("wrk: " + re.search(r".*(Non-2xx|Socket errors).*", text).group(0))
        count = int(re.search(r"(\d+) requests in", text).group(1))
        spent = [b - a for a, b in zip(before, after)]
        return figures(server, rate=float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1)),
                       p50=microseconds(text, "50%"), p99=microseconds(text, "99%"), cpu=spent[0] / count,
                       user=spent[0] / count * spent[1] / max(1, spent[1] + spent[2]))


def microseconds(text, quantile):
    number, unit = re.search(rf"{quantile}\s+([\d.]+)(us|ms|s)", text).groups()
    return float(number) * {"us": 1, "ms": 1e3, "s": 1e6}[unit]


@contextlib.contextmanager
def open_connections(server, count):
    """So many connections, each of which has been answered once; they end with a reset, which leaves no trace behind."""
    Server.limits()
    sockets = []
    try:
        for begin in range(0, count, 500):
            batch = [server.connect() for _ in range(min(500, count - begin))]
            sockets += batch
            for one in batch:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                one.sendall(b"x" * 64)
            for one in batch:
                left = 64
                while left:
                    got = one.recv(left)
                    if not got:
                        raise Failed("the server closed a connection")
                    left -= len(got)
        yield sockets
    finally:
        for one in sockets:
            one.close()


def measure_idle_connections(_tools, argv, threads, cpus, connections):
    """Resident memory that each connection costs after one request: of a server that had a thousand before."""
    with Server(argv, cpus[:threads]) as server:
        with open_connections(server, 1000):
            few = server.status("VmRSS")
            with open_connections(server, connections):
                many = server.status("VmRSS")
        return figures(server, bytes=(many - few) * 1024 / connections, megabytes=many * 1024 / 1e6)


def measure_idle_process(_tools, argv, threads, cpus, connections):
    """How often its threads wake up in 10 s in which nothing happens."""
    with Server(argv, cpus[:threads]) as server, open_connections(server, connections):
        time.sleep(2)  # searchers come to rest, receives are armed
        before = server.switches(), server.cpu()[0]
        time.sleep(10)
        return figures(server, wakes=server.switches() - before[0], idle_cpu=(server.cpu()[0] - before[1]) / 1e3)


def measure_spin(_tools, argv, threads, cpus, connections):
    """The longest round trip while a handler keeps one of two rings busy for 200 ms: on the other ring, and on its own."""
    with Server(argv, cpus[:threads]) as server, open_connections(server, connections) as sockets:
        rings = {}
        for one in sockets:
            one.sendall(b"?")
            rings.setdefault(one.recv(1), []).append(one)
        if len(rings) < 2:
            raise Failed("all connections are on one completion thread")
        (own, other) = list(rings.values())[:2]
        spinner, neighbour = own[0], own[1]
        spinner.sendall(b"!")
        time.sleep(0.02)
        start = time.monotonic()
        neighbour.sendall(b"x")
        worst = 0
        poll = selectors.DefaultSelector()
        poll.register(neighbour, selectors.EVENT_READ)
        while not poll.select(0):
            for one in other:
                asked = time.monotonic()
                one.sendall(b"x")
                one.recv(1)
                worst = max(worst, time.monotonic() - asked)
            if time.monotonic() - start > 10:
                raise Failed("no answer within 10 s")
        return figures(server, other=worst * 1e3, own=(time.monotonic() - start) * 1e3)


def nginx(folder):
    """The command line of an nginx that answers everything with 13 bytes, out of a folder of its own."""
    os.makedirs(folder, exist_ok=True)
    folder = os.path.abspath(folder)
    with open(f"{folder}/nginx.conf.in", "w") as conf:
        conf.write(f"""daemon off; master_process off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log crit;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 3600s; default_type text/plain; sendfile off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:NUMBER reuseport; location / {{ return 200 "Hello, World!"; }} }}
}}
""")
    script = f"sed s/NUMBER/$1/ '{folder}/nginx.conf.in' >'{folder}/nginx.conf' && exec nginx -p '{folder}' -c '{folder}/nginx.conf'"
    return ["sh", "-c", script, "nginx", "PORT"]
