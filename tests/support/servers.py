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
The end of its input ends all of them, SIGTERM too, and so does whatever kills the process that was started, SIGKILL included: it is the
front of another one, which then leaves neither a process nor a folder. `--installed NAME` only looks whether it could be started. Exits with 77 if one is not installed (a failure with TANDEM_TEST_REQUIRE_ALL=1)."""
import ctypes
import glob
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time

from server_process import (NOBODY, PAUSE, PR_SET_CHILD_SUBREAPER, Ending, children_of, held_port, in_a_child, is_root, new_folder, reap,
                            send_to, unprivileged, until_it_stands_still)

PATIENCE = float(os.environ.get("TANDEM_TEST_LIMIT_SECONDS", "60"))
IPC_RMID = 0


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
        self.holder, self.log = None, None

    def prepare(self, folder):
        """Once, before the first start."""
        self.folder = os.path.join(folder, self.name)
        os.mkdir(self.folder, 0o700)
        if is_root():
            os.chown(self.folder, NOBODY, NOBODY)
        self.holder = held_port()
        self.port = self.holder.getsockname()[1]
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
            if Ending.is_told():
                raise Failed(f"{self.name} was ended while it started")
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

    def halt(self):
        """It stands still when this returns, and makes no more processes."""
        self.send(signal.SIGSTOP)
        until_it_stands_still(self.process.pid)

    def others(self):
        """Its processes but the first one, as far as that lives: its number may be another's when it has been waited for."""
        return children_of(self.process.pid) if self.process.poll() is None else []

    def ended(self):
        self.process.wait(PATIENCE)
        self.process, self.is_paused = None, False

    def kill(self):
        self.halt()
        orphans = self.others()  # before: whoever loses a parent is another's child
        self.send(signal.SIGKILL)
        for each in orphans:
            send_to(each, signal.SIGKILL)
        self.ended()
        for each in orphans:  # ours now
            reap(each)

    def stop(self):
        if self.is_paused:
            self.resume()
        self.send(self.stop_signal)
        self.ended()

    def pause(self):
        self.halt()
        others = self.others()
        for each in others:
            send_to(each, signal.SIGSTOP)
        for each in others:
            until_it_stands_still(each)
        self.is_paused = True

    def resume(self):
        self.send(signal.SIGCONT)
        for each in self.others():
            send_to(each, signal.SIGCONT)
        self.is_paused = False

    def end(self):
        if self.process:
            self.kill()
        for each in (self.holder, self.log):
            if each:
                each.close()

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
    data = ""

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
                   "timezone=UTC", "log_timezone=UTC", "dynamic_shared_memory_type=mmap"]  # in its folder, and removed with that
        if self.with_tls:
            options += ["ssl=on", f"ssl_cert_file={self.certificate}", f"ssl_key_file={self.key}"]
        return [self.program(), "-D", self.data, *sum((["-c", each] for each in options), [])]

    def is_up(self):
        with open(os.path.join(self.data, "postmaster.pid"), encoding="utf-8") as text:
            lines = text.read().split("\n")
        return len(lines) > 7 and int(lines[0]) == self.process.pid and lines[7].strip() == "ready"

    def end(self):
        """Of one that was killed the kernel keeps the segment by which it would have found that it runs already."""
        super().end()
        try:
            with open(os.path.join(self.data, "postmaster.pid"), encoding="utf-8") as text:
                segment = text.read().split("\n")[6].split()[1]
        except (OSError, IndexError):  # it has ended in order
            return
        ctypes.CDLL(None).shmctl(int(segment), IPC_RMID, None)


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
    signal_at_end = signal.SIGTERM  # its worker would outlive it

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
        self.folder, self.lock = new_folder()
        self.prepared = []
        try:
            for server in self.all.values():
                self.prepared.append(server)
                server.prepare(self.folder)
                server.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for server in self.prepared:
            try:
                server.end()
            except Exception as why:  # pylint: disable=broad-except  # the others, and the folder, are to go all the same
                print(f"servers.py: {server.name} does not end: {why}", file=sys.stderr)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.lock.close()


def obey(running):
    text = b""
    while Ending.told not in select.select([0, Ending.told], [], [])[0]:
        more = os.read(0, 65536)
        if not more:
            return
        *lines, text = (text + more).split(b"\n")
        for line in lines:
            obey_line(running, line.decode(errors="replace").strip())


def obey_line(running, line):
    verb, _, name = line.partition(" ")
    try:
        if verb not in ("kill", "stop", "start", "pause", "resume") or name not in running.all:
            raise Failed(f"unknown: {line}")
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
    return in_a_child(lambda: serve(names))


def serve(names):
    try:
        with Servers(*names) as running:
            for server in running.all.values():
                print(server.told(), flush=True)
            print("ready", flush=True)
            obey(running)
    except Failed as why:
        print(f"servers.py: {why}", file=sys.stderr)
        return 1
    finally:
        # Whatever they have left: nobody else is a child of this process.
        while left := children_of(os.getpid()):
            for each in left:
                send_to(each, signal.SIGKILL)
                reap(each)
    return 0


if __name__ == "__main__":
    sys.exit(main())
