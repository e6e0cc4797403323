"""The cases of suite tls: servers of encrypted connections under load: rows for harness.py.
SPDX-License-Identifier: MIT

Every sample is a server of its own on the first CPU, loaded from the last one by the kit's generator (kit/tlsload.c), and
killed. All servers have the same certificate (ECDSA on P-256); the generator takes nothing but TLS 1.3 with
TLS_AES_128_GCM_SHA256 and X25519, and checks that. It is OpenSSL, too, and takes as much CPU time as a server, for a handshake
more: so what a server can do is told by its CPU time (.cpu, .user) rather than by the clock.
"""
import atexit, functools, json, os, shutil, subprocess, tempfile
import io_cases, servers
from servers import Failed

SECONDS = float(os.environ.get("TANDEM_BENCH_SECONDS", "0.5"))  # of load in each sample
ROUNDS = 7  # unless --rounds says so
BULK_FILE = 16 << 20  # bytes of the file that nginx sends

# case, mode of the generator, mode of the servers, connections, figures (the first one gives the case its name), impls, what
ECHO = ["rate", "p50", "p99", "cpu", "user"]
BULK = ["mib", "cpu_kib", "user_kib"]
HANDSHAKES = ["handshakes", "cpu_handshake", "user_handshake"]
OURS = ["tandem", "tandem_asio"]
PEERS = ["asio_callback", "tokio_rustls", "tokio_openssl"]
ALL_ECHO = OURS + ["openssl", "asio_coroutine", "tokio_rustls_current"] + PEERS
ALL_BULK = OURS + ["openssl"] + PEERS
ALL_HANDSHAKES = OURS + ["tandem_caller", "openssl", "nginx"] + PEERS
CASES = [
    ("echo_1", "echo", "echo", 1, ECHO, ALL_ECHO, "64 B on 1 connection"),
    ("echo_64", "echo", "echo", 64, ECHO, ALL_ECHO, "64 B on 64 connections"),
    ("down_1", "down", "source", 1, BULK, ALL_BULK + ["openssl_plain", "nginx"], "the server writes for ever, 64 KiB a call, on 1 connection"),
    ("down_8", "down", "source", 8, BULK, ALL_BULK + ["nginx"], "the server writes for ever, 64 KiB a call, on 8 connections"),
    ("up_1", "up", "sink", 1, BULK, ALL_BULK + ["openssl_plain"], "the client writes for ever on 1 connection"),
    ("up_8", "up", "sink", 8, BULK, ALL_BULK, "the client writes for ever on 8 connections"),
    ("full", "full", "echo", 32, HANDSHAKES, ALL_HANDSHAKES, "connect, full handshake, the client says close_notify, the server closes; 32 at once"),
    ("resumed", "resumed", "echo", 32, HANDSHAKES, ALL_HANDSHAKES, "the same, with the session of an earlier connection; 32 at once"),
]
PLOTTED = ["echo_1.p50", "echo_64", "echo_64.cpu"] + [
    f"{case}{figure}" for case in ("down_1", "up_1") for figure in ("", ".cpu_kib")] + [
    f"{case}.cpu_handshake" for case in ("full", "resumed")]

# impl: role, executable, its arguments after PORT THREADS MODE FOLDER, its environment
IMPLS = {
    "tandem": ("self", "tls_tandem", [], {}),
    "tandem_asio": ("self", "tls_tandem", [], {"TANDEM_IO_BACKEND": "asio"}),
    "tandem_caller": ("self", "tls_tandem", ["caller"], {}),
    "openssl": ("floor", "tls_openssl", [], {}),
    "openssl_plain": ("floor", "tls_openssl", ["plain"], {}),
    "asio_callback": ("peer", "tls_asio", ["callback"], {}),
    "asio_coroutine": ("peer", "tls_asio", ["coroutine"], {}),
    "tokio_rustls": ("peer", "tls_tokio", ["rustls"], {}),
    "tokio_rustls_current": ("peer", "tls_tokio", ["rustls", "current"], {}),
    "tokio_openssl": ("peer", "tls_tokio", ["openssl"], {}),
    "nginx": ("peer", "nginx", [], {}),
}
OF_NO_PRESET = ("tls_tokio", "nginx")


@functools.cache
def version(name):
    """Of a floor or peer: what its executable or its package says."""
    asked = {"tls_tokio": ["build/peers/tls_tokio", "--version"], "tls_openssl": ["openssl", "version"],
             "tls_asio": ["dpkg-query", "-W", "-f=Asio ${Version}", "libasio-dev"], "nginx": ["nginx", "-v"]}
    if name not in asked:
        return ""
    try:
        done = subprocess.run(asked[name], capture_output=True, text=True)
        said = (done.stdout + done.stderr).strip().replace("nginx version: nginx/", "nginx ")
        return " ".join(said.split()[:2]) if name == "tls_openssl" else said
    except OSError:
        return ""


@functools.cache
def folder():
    """Certificate, key and what nginx needs; in memory, and gone when this process ends."""
    where = tempfile.mkdtemp(prefix="tandem_tls_", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    atexit.register(shutil.rmtree, where, ignore_errors=True)
    argv = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-keyout", f"{where}/key.pem", "-out", f"{where}/cert.pem"]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"openssl req: {done.stderr.strip()[-200:]}")
    os.makedirs(f"{where}/www")
    with open(f"{where}/www/bulk", "wb") as file:
        file.write(b"x" * BULK_FILE)
    return where


def nginx():
    """The command line of an nginx of one process that sends the file by HTTPS."""
    where = folder()
    temporary = " ".join(f"{name}_temp_path {where}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open(f"{where}/nginx.conf.in", "w") as conf:
        conf.write(f"""daemon off; master_process off; worker_processes 1; pid {where}/nginx.pid; error_log {where}/error.log crit;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 3600s; default_type text/plain; {temporary}
  open_file_cache max=10;
  ssl_certificate {where}/cert.pem; ssl_certificate_key {where}/key.pem; ssl_protocols TLSv1.3; ssl_session_tickets on;
  server {{ listen 127.0.0.1:NUMBER ssl reuseport; root {where}/www; }}
}}
""")
    script = f"sed s/NUMBER/$1/ '{where}/nginx.conf.in' >'{where}/nginx.conf' && exec nginx -p '{where}' -c '{where}/nginx.conf'"
    return ["sh", "-c", script, "nginx", "PORT"]


def command_line(found, impl, mode):
    """Of a server; PORT stands for its port."""
    _, program, arguments, environment = IMPLS[impl]
    if program == "nginx":
        return nginx()
    setting = [f"{name}={value}" for name, value in environment.items()]
    return (["env", *setting] if setting else []) + [found, "PORT", "1", mode, folder(), *arguments]


def collect(presets, compiler_of, peers=True):
    """Rows of all that can be measured, and why others cannot."""
    rows, missing = [], {}
    load = f"build/{presets[0]}/bench/tls_load"
    for preset, place, compiler in io_cases.places(presets, compiler_of):
        for impl, (role, program, _, _) in IMPLS.items():
            if role == "peer" and not peers or (program in OF_NO_PRESET) != (preset is None):
                continue
            found = shutil.which("nginx") if program == "nginx" else f"{place}/{program}"
            if found is None or not os.access(found, os.X_OK):
                missing[program] = io_cases.reason(place, program)
                continue
            about = {"suite": "tls", "impl": impl, "role": role, "compiler": compiler or version(program).split("; ")[-1],
                     "preset": preset, "threads": 1, "version": version(program), "extra": False}
            rows += rows_of(about, load, found)
    rows.sort(key=lambda row: [case[0] for case in CASES].index(row["case"].split(".")[0]))
    return rows, [f"{program}: {why}" for program, why in missing.items()]


def rows_of(about, load, found):
    """Those of one implementation."""
    rows = []
    for case, asked, served, connections, names, impls, text in CASES:
        if about["impl"] in impls:
            run = functools.partial(measure, load, found, about["impl"], asked, served, connections)
            rows += io_cases.one_sample(about | {"input": text}, case, names, run, 0)
    return rows


def measure(load, found, impl, asked, served, connections, cpus):
    """One sample: figures of a server's own CPU time, and of the clock."""
    with servers.Server(command_line(found, impl, served), cpus[:1], servers.FIFO) as server:
        argv = [load, "-m", asked, "-p", str(server.port), "-c", str(connections), "-d", str(SECONDS), "-w", str(0.3 * SECONDS),
                "-P", str(server.pid)]
        if impl == "nginx" and asked == "down":
            argv += ["-r", str(BULK_FILE)]
        got = json.loads(servers.command(argv, cpus[-1:], servers.FIFO))
        return servers.figures(server, **figures(got))


def figures(got):
    """Of what the generator has counted: by the name of METRICS."""
    user = got["cpu_ns"] * got["user_ticks"] / max(1, got["user_ticks"] + got["system_ticks"])
    if got["bytes"]:
        kib = got["bytes"] / 1024
        return {"mib": kib / 1024 / got["seconds"], "cpu_kib": got["cpu_ns"] / kib, "user_kib": user / kib}
    count, rate = got["count"], got["count"] / got["seconds"]
    return {"rate": rate, "p50": got["p50_us"], "p99": got["p99_us"], "cpu": got["cpu_ns"] / count, "user": user / count,
            "handshakes": rate, "cpu_handshake": got["cpu_ns"] / count / 1e3, "user_handshake": user / count / 1e3}
