#!/usr/bin/env python3
# servers.py NAME...: real servers for a test: on loopback, in a private folder, as an unprivileged user, ended with it.
# SPDX-License-Identifier: MIT
"""NAME: postgres, redis, nginx, mosquitto; postgres+tls, nginx+tls with a certificate of their own.

Prints a line `NAME key=value ...` for each once it answers (port, folder, certificate), then `ready`. Then it obeys lines of its
standard input, and answers each with `done`, or with `failed: why`:
  kill NAME     at once, as a crash would
  stop NAME     as an administrator would; clients are thrown out
  start NAME    again, at the same port, with what it has stored
  pause NAME    it answers nothing more, until
  resume NAME
The end of its input ends all of them. `--installed NAME` only looks whether it could be started. Exits with 77 if one is not installed (a failure with TANDEM_TEST_REQUIRE_ALL=1)."""
import ctypes
import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PATIENCE = float(os.environ.get("TANDEM_TEST_LIMIT_SECONDS", "60"))
NOBODY = 65534
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
PAUSE = 0.01  # between two looks at something that is under way


def is_root():
    return os.geteuid() == 0


def unprivileged(signal_at_parents_end):
    """What a child does before it becomes the server."""
    libc = ctypes.CDLL(None)

    def become():
        os.setsid()
        if is_root():
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        # After that: a change of the user forgets it.
        libc.prctl(PR_SET_PDEATHSIG, signal_at_parents_end)
    return become


def children_of(process):
    """Their numbers; a server of many processes (PostgreSQL) gives each a group of its own."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as text:
                fields = text.read().rsplit(")", 1)[1].split()
        except OSError:  # it has just ended
            continue
        if int(fields[1]) == process:
            found.append(int(path.split("/")[2]))
    return found


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def program(name, *folders):
    for folder in [*sum((sorted(glob.glob(each), reverse=True) for each in folders), []), *os.environ.get("PATH", "").split(":"),
                   "/usr/sbin", "/usr/local/sbin"]:
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return path
    return None


class Failed(Exception):
    """What went wrong, in words."""


class Server:
    name, package = "", ""
    signal_at_end = signal.SIGKILL
    stop_signal = signal.SIGTERM

    def __init__(self, with_tls):
        self.with_tls, self.process, self.is_paused = with_tls, None, False

    def prepare(self, folder):
        """Once, before the first start."""
        self.folder = os.path.join(folder, self.name)
        os.mkdir(self.folder, 0o700)
        if is_root():
            os.chown(self.folder, NOBODY, NOBODY)
        self.port = free_port()
        self.log = open(os.path.join(folder, self.name + ".log"), "ab")
        if self.with_tls:
            self.make_certificate()
        self.set_up()

    def write(self, name, text, mode=0o600):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        os.chmod(path, mode)
        if is_root():
            os.chown(path, NOBODY, NOBODY)
        return path

    def run(self, *words):
        done = subprocess.run(words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=self.environment(), preexec_fn=unprivileged(signal.SIGKILL), timeout=PATIENCE)
        if done.returncode:
            raise Failed(f"{words[0]}: {done.stdout}")

    def environment(self):
        return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": self.folder, "LC_ALL": "C", "TZ": "UTC"}

    def make_certificate(self):
        self.certificate, self.key = os.path.join(self.folder, "made.pem"), os.path.join(self.folder, "key.pem")
        self.run(program("openssl") or "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                 "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", self.key, "-out", self.certificate)

    def set_up(self):
        pass

    def command(self):
        raise NotImplementedError

    def is_up(self):
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE):
            return True

    def start(self):
        if self.process:
            raise Failed(f"{self.name} runs already")
        self.process = subprocess.Popen(self.command(), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        env=self.environment(), preexec_fn=unprivileged(self.signal_at_end))
        end = time.monotonic() + PATIENCE
        while True:
            try:
                if self.is_up():
                    return
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > end:
                self.kill()
                with open(self.log.name, encoding="utf-8", errors="replace") as text:
                    raise Failed(f"{self.name} does not start:\n{text.read()[-4000:]}")
            time.sleep(PAUSE)

    def send(self, number):
        if not self.process:
            raise Failed(f"{self.name} does not run")
        if self.process.poll() is None:
            self.process.send_signal(number)

    def send_all(self, number):
        """To all of its processes, the first one first: it makes no more. @returns the others"""
        if not self.process:
            raise Failed(f"{self.name} does not run")
        others = children_of(self.process.pid)  # before: whoever loses a parent is another's child
        self.send(number)
        for each in others:
            try:
                os.kill(each, number)
            except ProcessLookupError:
                pass
        return others

    def ended(self):
        self.process.wait(PATIENCE)
        self.process = None

    def kill(self):
        self.send(signal.SIGSTOP)  # so that it makes no more
        orphans = self.send_all(signal.SIGKILL)
        self.ended()
        for each in orphans:  # ours now
            try:
                os.waitpid(each, 0)
            except ChildProcessError:
                pass
        self.is_paused = False

    def stop(self):
        if self.is_paused:
            self.resume()
        self.send(self.stop_signal)
        self.ended()

    def pause(self):
        self.send_all(signal.SIGSTOP)
        self.is_paused = True

    def resume(self):
        self.send_all(signal.SIGCONT)
        self.is_paused = False

    def end(self):
        if self.process:
            self.kill()

    def told(self):
        words = [self.name, f"port={self.port}", f"folder={self.folder}"]
        if self.with_tls:
            words.append(f"certificate={self.certificate}")
        return " ".join(words)


class Postgres(Server):
    """User `tandem`, database `postgres`; nothing is synced to the disk."""
    name, package = "postgres", "postgresql"
    signal_at_end = signal.SIGQUIT  # at once, with all of its processes
    stop_signal = signal.SIGINT     # throws clients out, and ends in order

    @staticmethod
    def program():
        return program("postgres", "/usr/lib/postgresql/*/bin")

    def set_up(self):
        self.data = os.path.join(self.folder, "data")
        self.run(os.path.join(os.path.dirname(self.program()), "initdb"), "-D", self.data, "-U", "tandem", "-A", "trust", "-E", "UTF8",
                 "--locale=C", "--no-sync", "--no-instructions")

    def command(self):
        options = [f"port={self.port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={self.folder}", "fsync=off",
                   "synchronous_commit=off", "full_page_writes=off", "max_connections=100", "shared_buffers=32MB", "log_min_messages=warning",
                   "timezone=UTC", "log_timezone=UTC"]
        if self.with_tls:
            options += ["ssl=on", f"ssl_cert_file={self.certificate}", f"ssl_key_file={self.key}"]
        return [self.program(), "-D", self.data, *sum((["-c", each] for each in options), [])]

    def is_up(self):
        with open(os.path.join(self.data, "postmaster.pid"), encoding="utf-8") as text:
            lines = text.read().split("\n")
        return len(lines) > 7 and int(lines[0]) == self.process.pid and lines[7].strip() == "ready"


class Redis(Server):
    """Stores nothing unless a test says SAVE; `kill` then loses what came later."""
    name, package = "redis", "redis-server"

    @staticmethod
    def program():
        return program("redis-server")

    def command(self):
        return [self.program(), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder, "--save", "", "--appendonly", "no",
                "--daemonize", "no", "--enable-debug-command", "yes"]

    def is_up(self):
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as client:
            client.settimeout(PATIENCE)
            client.sendall(b"PING\r\n")
            return client.recv(64).startswith(b"+PONG")


NGINX = """daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  client_max_body_size 0; keepalive_requests 1000000;
  server {{
    listen 127.0.0.1:{port}{tls};
    root {folder}/files;
    location /upload/ {{ dav_methods PUT DELETE; create_full_put_path on; }}
    location = /teapot {{ return 418 "short and stout"; }}
    location = /moved {{ return 302 /hello.txt; }}
    location = /loop {{ return 302 /loop; }}
    location = /echo {{ return 200 "$request_method $http_x_asked $http_user_agent"; add_header X-Answered yes; }}
    location = /cookie {{ return 200 "$http_cookie"; add_header Set-Cookie "seen=yes; Path=/"; }}
    location /slow/ {{ alias {folder}/files/; limit_rate 20k; }}
  }}
}}
"""


class Nginx(Server):
    """Files: hello.txt, 100.bin, 1M.bin of bytes 0, 1, ... 250, 0, ...; /upload/ takes PUT; /echo, /moved, /loop, /teapot, /cookie, /slow/."""
    name, package = "nginx", "nginx"

    @staticmethod
    def program():
        return program("nginx")

    def set_up(self):
        files = os.path.join(self.folder, "files")
        os.makedirs(os.path.join(files, "upload"))
        pattern = bytes(range(251))
        for name, size in (("100.bin", 100), ("1M.bin", 1 << 20)):
            with open(os.path.join(files, name), "wb") as out:
                out.write((pattern * (size // 251 + 1))[:size])
        with open(os.path.join(files, "hello.txt"), "w", encoding="utf-8") as out:
            out.write("hello, world\n")
        if is_root():
            for folder, _, names in os.walk(files):
                for path in [folder, *(os.path.join(folder, each) for each in names)]:
                    os.chown(path, NOBODY, NOBODY)
        tls = f" ssl http2; ssl_certificate {self.certificate}; ssl_certificate_key {self.key}" if self.with_tls else ""
        self.configuration = self.write("nginx.conf", NGINX.format(folder=self.folder, port=self.port, tls=tls))

    def command(self):
        return [self.program(), "-c", self.configuration, "-p", self.folder, "-e", "stderr"]


class Mosquitto(Server):
    name, package = "mosquitto", "mosquitto"

    @staticmethod
    def program():
        return program("mosquitto")

    def set_up(self):
        self.configuration = self.write("mosquitto.conf", f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\nset_tcp_nodelay true\n")

    def command(self):
        return [self.program(), "-c", self.configuration]


KINDS = {kind.name: kind for kind in (Postgres, Redis, Nginx, Mosquitto)}


class Servers:
    """`with Servers("postgres", "redis") as running: running["redis"].port`"""

    def __init__(self, *names):
        self.all = {}
        for name in names:
            plain, _, option = name.partition("+")
            kind = KINDS.get(plain)
            if kind is None or option not in ("", "tls"):
                raise Failed(f"no such server: {name} ({', '.join(KINDS)}, each also with +tls)")
            if not kind.program():
                print(f"skipped: {plain} is not installed (Debian: apt-get install {kind.package})", flush=True)
                sys.exit(1 if os.environ.get("TANDEM_TEST_REQUIRE_ALL") == "1" else 77)
            self.all[plain] = kind(option == "tls")

    def __getitem__(self, name):
        return self.all[name]

    def __enter__(self):
        # What a server that was killed leaves behind is reaped here.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.folder = tempfile.mkdtemp(prefix="tandem-servers-")
        os.chmod(self.folder, 0o711)  # each has its own in there
        try:
            for server in self.all.values():
                server.prepare(self.folder)
                server.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for server in self.all.values():
            server.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def obey(running):
    for line in sys.stdin:
        verb, _, name = line.strip().partition(" ")
        try:
            if verb not in ("kill", "stop", "start", "pause", "resume") or name not in running.all:
                raise Failed(f"unknown: {line.strip()}")
            getattr(running[name], verb)()
            print("done", flush=True)
        except (Failed, OSError, subprocess.TimeoutExpired) as why:
            print("failed:", str(why).replace("\n", " | "), flush=True)


def main():
    names = sys.argv[1:]
    if not names or "--help" in names or "-h" in names:
        print(__doc__)
        return 0 if names else 2
    if names[0] == "--installed":
        names = names[1:]
        try:
            Servers(*names)
        except Failed as why:
            print(f"servers.py: {why}", file=sys.stderr)
            return 2
        return 0
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(130))
    try:
        with Servers(*names) as running:
            for server in running.all.values():
                print(server.told(), flush=True)
            print("ready", flush=True)
            obey(running)
    except Failed as why:
        print(f"servers.py: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
