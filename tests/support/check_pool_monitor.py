"""Runs pool_monitor with a short load, and looks at all that it prints, writes and draws.

usage: check_pool_monitor.py PROGRAM cpu|io
"""
# SPDX-License-Identifier: MIT
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

LINE = re.compile(r"^(inject \+1|retire -1) n=\d+ reason=[a-z_]+ t=\d+\.\d\ds$")


def main():
    program, load = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        told = os.path.join(folder, "run.json")
        command = [program, f"--{load}", "--duration", "1500ms", "--compute", "2ms", "--keep-alive", "100ms",
                   "--min", "2", "--max", "12", "--queue", "64", "--json", told]
        if load == "io":
            command += ["--wait", "20ms"]
        plots = []
        if shutil.which("gnuplot"):
            plots = [os.path.join(folder, "run.svg"), os.path.join(folder, "run.png")]
        elif os.environ.get("TANDEM_TEST_REQUIRE_ALL") == "1":
            sys.exit("gnuplot is missing, and TANDEM_TEST_REQUIRE_ALL is set")
        for plot in plots or [None]:
            out = subprocess.run(command + (["--plot", plot] if plot else []), capture_output=True, text=True, timeout=200)
            if out.returncode != 0:
                sys.exit(f"pool_monitor ended with {out.returncode}: {out.stderr}")
            check(out.stdout, json.load(open(told, encoding="utf-8")), load)
            if plot and os.path.getsize(plot) < 2000:
                sys.exit(f"{plot} is empty")
        in_order_of_java(program)
        refused(program, ["--cpu", "--io"])
        refused(program, [])
        refused(program, ["--cpu", "--keep-alive", "soon"])
        refused(program, ["--cpu", "--min", "8", "--max", "4"])
        refused(program, ["--cpu", "--json", os.path.join(folder, "none", "run.json")])
        refused(program, ["--cpu", "--plot", os.path.join(folder, "run.txt"), "--duration", "10ms"])


def in_order_of_java(program):
    out = subprocess.run([program, "--io", "--growth", "queue_first", "--min", "1", "--max", "3", "--queue", "4", "--wait", "20ms",
                          "--compute", "1ms", "--duration", "500ms", "--keep-alive", "100ms"],
                         capture_output=True, text=True, timeout=100)
    lines = [line for line in out.stdout.splitlines() if "reason=" in line]
    if out.returncode != 0 or sum("reason=queue_full" in line for line in lines) < 2 or not lines[-1].startswith("retire -1 n=1 "):
        sys.exit(f"queue first: {out.stdout}{out.stderr}")


def refused(program, arguments):
    out = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=100)
    if out.returncode == 0 or not out.stderr.strip():
        sys.exit(f"{arguments} was not refused with a reason")


def check(text, run, load):
    lines = text.splitlines()
    for line in lines[1:-1]:
        if not LINE.match(line):
            sys.exit(f"no line as they should be: {line!r}")
    injected = sum(line.startswith("inject") for line in lines)
    retired = sum(line.startswith("retire") for line in lines)
    if injected - retired != run["last_threads"]:
        sys.exit(f"{injected} came and {retired} went, but {run['last_threads']} are left")
    if run["load"] != load or not 2 <= run["most_threads"] <= 12 or run["last_threads"] != 2:
        sys.exit(f"threads: {run['most_threads']} at most, {run['last_threads']} at the end")
    if run["items_per_second"] <= 0 or len(run["samples"]) < 5:
        sys.exit("nothing happened")
    times = [each["t"] for each in run["decisions"]]
    if times != sorted(times):
        sys.exit("decisions are out of order")


main()
