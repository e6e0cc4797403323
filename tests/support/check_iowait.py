#!/usr/bin/env python3
# check_iowait.py ECHO_SERVER: an idle server's CPU is idle, not waiting for a disk.
# SPDX-License-Identifier: MIT
"""For a machine with nothing else to do: counts the ticks of all CPUs that went by as iowait while a server with one
completion thread waited. Kernels 6.5 to 6.14 count such a wait so, whatever is done (io/src/uring/README.md, "What is probed")."""
import os
import platform
import re
import sys
import time

sys.dont_write_bytecode = True
from service_process import Service  # noqa: E402

SECONDS = 5


def iowait_ticks():
    with open("/proc/stat", encoding="ascii") as stat:
        return int(stat.readline().split()[5])


def main():
    version = tuple(map(int, re.match(r"(\d+)\.(\d+)", platform.release()).groups()))
    if (6, 5) <= version < (6, 15):
        print(f"left out: Linux {platform.release()} counts every wait in a ring as iowait")
        return
    with Service(sys.argv[1], "--io-threads", "1") as server:
        before = iowait_ticks()
        time.sleep(SECONDS)
        ticks = iowait_ticks() - before
        server.stop()
    all_of_one = SECONDS * os.sysconf("SC_CLK_TCK")
    print(f"{ticks} ticks of iowait; a CPU has {all_of_one}")
    assert ticks < all_of_one / 4, "an idle server is counted as one that waits for a disk"


if __name__ == "__main__":
    main()
