# migration_curl.py NAME BEFORE AFTER: both programs download the same from an nginx, and have to print the same.
# SPDX-License-Identifier: MIT
"""Exits with 77 if nginx is not installed (a failure with TANDEM_TEST_REQUIRE_ALL=1)."""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from servers import PATIENCE, Servers, held_port  # noqa: E402


def fnv(data):
    total = 2166136261
    for byte in data:
        total = ((total ^ byte) * 16777619) & 0xFFFFFFFF
    return f"{total:08x}"


def printed(program, *words):
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    if done.returncode:
        raise AssertionError(f"{program}: {done.returncode}: {done.stderr}")
    # How long something took is no answer.
    return re.sub(r"after \d+ (ms|milliseconds)", "after some time", done.stdout)


def laws(base, nobody):
    yield [f"{base}/hello.txt"], f"200 13 {fnv(b'hello, world' + bytes([10]))} {base}/hello.txt\n"
    yield [f"{base}/100.bin", f"{base}/none", f"{base}/moved", f"{base}/teapot", f"{base}/1M.bin"], None
    yield ["--at-once", "7", "--times", "50", f"{base}/1M.bin", f"{base}/100.bin"], None
    yield ["--times", "300", f"{base}/100.bin"], 300 * f"200 100 {fnv(bytes(range(100)))} {base}/100.bin\n"
    yield [f"{base}/loop", f"http://127.0.0.1:{nobody}/", "ftp://127.0.0.1/x", f"{base}/hello.txt"], None


def main():
    _, before, after = sys.argv[1:]
    with Servers("nginx") as running, held_port() as nobody:  # nobody listens there, and nobody else can
        base = f"http://127.0.0.1:{running['nginx'].port}"
        for words, expected in laws(base, nobody.getsockname()[1]):
            said = [printed(program, *words) for program in (before, after)]
            if said[0] != said[1] or expected not in (None, said[0]):
                print(f"{' '.join(words)}:\n{said[0][:2000]}\n{said[1][:2000]}\nexpected: {expected}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
