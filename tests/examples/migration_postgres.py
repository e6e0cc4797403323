# migration_postgres.py NAME BEFORE AFTER: runs both programs against a server, and compares what they say.
# SPDX-License-Identifier: MIT
"""Exits with 77 if PostgreSQL is not installed. With --measure ROUNDS ORDERS: the times of both, one after the other."""
import os
import re
import resource
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from servers import PATIENCE, Servers  # noqa: E402


def conninfo(server):
    return f"host=127.0.0.1 port={server.port} user=tandem dbname=postgres sslmode=disable gssencmode=disable " \
           "options=-cclient_min_messages=warning"


def run(program, server, orders):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    done = subprocess.run([program, conninfo(server), str(orders)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=PATIENCE)
    took = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check_lines():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "migrations", "postgres")
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as page:
        rows = re.findall(r"\[[^]]*\]\((\w+\.[ch]pp)\) \| (\d+) \|", page.read())
    for file, said in rows:
        with open(os.path.join(folder, file), encoding="utf-8") as source:
            count = sum(1 for line in source if line.strip() and not line.strip().startswith("//"))
        if count != int(said):
            raise AssertionError(f"README.md: {file} has {count} lines, not {said}")
    if len(rows) != 3:
        raise AssertionError("README.md names other files")


def check(programs):
    check_lines()
    with Servers("postgres") as running:
        server = running["postgres"]
        said = []
        for program in programs:
            done, _, _ = run(program, server, 400)
            if done.returncode or done.stderr:
                raise AssertionError(f"{program}: {done.returncode}: {done.stderr}")
            said.append(done.stdout)
        if said[0] != said[1]:
            raise AssertionError(f"they differ:\n{said[0]}\n{said[1]}")
        lines = said[0].splitlines()
        # 50 orders of each thing, of 3 on average: of 100 there are some that cannot be served.
        if len(lines) != 9 or not lines[0].startswith("thing 0: ") or lines[8] == "0 refused":
            raise AssertionError(said[0])
        server.stop()
        for program in programs:
            done, _, _ = run(program, server, 400)
            if done.returncode != 1 or "refused" not in done.stderr or str(server.port) not in done.stderr:
                raise AssertionError(f"{program} without a server: {done.returncode}: {done.stderr}")


def measure(programs, rounds, orders):
    with Servers("postgres") as running:
        for i in range(rounds):
            for program in programs if i % 2 == 0 else programs[::-1]:
                done, took, cpu = run(program, running["postgres"], orders)
                print(os.path.basename(program), done.returncode, f"{orders / took:.0f} orders/s, CPU {cpu * 1e6 / orders:.1f} us an order", flush=True)


def main():
    words = sys.argv[1:]
    if "--measure" in words:
        at = words.index("--measure")
        measure(words[1:at], int(words[at + 1]), int(words[at + 2]))
    else:
        check(words[1:])


if __name__ == "__main__":
    main()
