"""Runs pool_monitor with short loads, and looks at all that it prints, writes and draws.

usage: check_pool_monitor.py PROGRAM cpu|io|options|defaults

defaults: both loads as they are when nothing else is said, against what examples/README.md promises of them. By the real
clock, so this is for a machine that does nothing else: tests/run.sh nightly.
"""
# SPDX-License-Identifier: MIT
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
import zlib
from collections import Counter

import emulated

LINE = re.compile(r"^(inject \+1 n=\d+ reason=[a-z_]+|retire -1 n=\d+) t=\d+\.\d\ds$")
CURVES = {"threads": (31, 78, 156), "goal": (224, 122, 31), "completed, 1 s": (224, 122, 31), "items that wait": (108, 117, 125)}
SVG = "{http://www.w3.org/2000/svg}"


def main():
    program, what = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        if what == "options":
            options(program, os.path.join(folder, "run.json"))
            refusals(program, folder)
        elif what == "defaults":
            defaults(program, os.path.join(folder, "run.json"))
        else:
            load(program, what, folder)


def load(program, kind, folder):
    told = os.path.join(folder, "run.json")
    arguments = [f"--{kind}", "--duration", "1500ms", "--compute", "2ms", "--keep-alive", "100ms",
                 "--min", "2", "--max", "12", "--queue", "64"]
    if kind == "io":
        arguments += ["--wait", "20ms"]
    plots = []
    if emulated.EMULATOR:
        pass  # a program for Windows starts no gnuplot of this system
    elif shutil.which("gnuplot"):
        plots = [os.path.join(folder, "run.svg"), os.path.join(folder, "run.png")]
    elif os.environ.get("TANDEM_TEST_REQUIRE_ALL") == "1":
        sys.exit("gnuplot is missing, and TANDEM_TEST_REQUIRE_ALL is set")
    for plot in plots or [None]:
        text, run = monitor(program, told, *arguments, *(["--plot", plot] if plot else []))
        expect(run["items_per_second"] > 0, "nothing happened")
        expect(run["load"] == kind and 2 <= run["most_threads"] <= 12 and run["last_threads"] == 2,
               f"threads: {run['most_threads']} at most, {run['last_threads']} at the end")
        if plot and plot.endswith(".svg"):
            svg_shows(plot, run)
        elif plot:
            png_shows(plot)


def options(program, told):
    small = ["--compute", "200us", "--keep-alive", "100ms", "--queue", "16"]

    # A fixed pool starts its threads for work, and keeps them.
    text, run = monitor(program, told, "--io", "--wait", "20ms", "--adaptive", "off", "--min", "2", "--duration", "700ms", *small)
    expect(not run["adaptive"] and run["most_threads"] <= 2 and ", fixed;" in text, "--adaptive off: " + text)
    expect({(each["action"], each["reason"]) for each in run["decisions"]} <= {("inject", "work")}, "--adaptive off: " + text)

    # So many items, and no more.
    text, run = monitor(program, told, "--io", "--wait", "1ms", "--burst", "150", *small)
    expect(run["samples"][-1]["completed"] == 150, f"--burst: {run['samples'][-1]}")

    # Twice the load, and the pause between them.
    text, run = monitor(program, told, "--cpu", "--duration", "200ms", "--pause", "600ms", *small)
    expect(run["seconds"] >= 1.0, f"--pause: {run['seconds']} s")

    # Nobody waits for an hour; and of a hundred items ten do, one after the other.
    text, run = monitor(program, told, "--io", "--wait", "60m", "--blocking-percent", "0", "--burst", "50", *small)
    expect(text.startswith("items that compute:"), "--blocking-percent 0: " + text)
    text, run = monitor(program, told, "--io", "--wait", "40ms", "--blocking-percent", "10", "--burst", "100",
                        "--adaptive", "off", "--min", "1", *small)
    expect(text.startswith("items that wait and compute:") and run["seconds"] >= 10 * 0.04, f"--blocking-percent 10: {run['seconds']} s")

    # What the lines would say is in the JSON only.
    text, run = monitor(program, told, "--io", "--wait", "5ms", "--quiet", "--duration", "200ms", *small)
    expect(len(text.splitlines()) == 2 and any(each["action"] == "inject" for each in run["decisions"]), "--quiet: " + text)

    # The orders of Java: idle threads are no matter, the queue is; or threads up to max, then the queue.
    text, run = monitor(program, told, "--io", "--wait", "20ms", "--growth", "queue_first", "--min", "1", "--max", "3",
                        "--queue", "4", "--duration", "500ms", "--compute", "1ms", "--keep-alive", "100ms")
    expect(text.count("reason=queue_full") >= 2 and "\nretire -1 n=1 " in text and ", queue first;" in text, "queue first: " + text)
    text, run = monitor(program, told, "--io", "--wait", "20ms", "--growth", "threads_first", "--min", "1", "--max", "3",
                        "--duration", "500ms", *small)
    expect(run["most_threads"] == 3 and run["last_threads"] == 1 and ", threads first;" in text, "threads first: " + text)
    expect({each["reason"] for each in run["decisions"] if each["action"] == "inject"} == {"work"}, "threads first: " + text)


def defaults(program, told):
    for kind in ("cpu", "io"):
        began = time.monotonic()
        text, run = monitor(program, told, f"--{kind}")
        passed = time.monotonic() - began
        retired = [each for each in run["decisions"] if each["action"] == "retire"]
        print(f"{kind}: ended after {passed:.1f} s, 40 promised; {len(retired)} threads retired; {text.splitlines()[-1]}")
        expect(passed <= 40, f"{kind}: {passed:.1f} s")
        expect(run["last_threads"] == run["min_threads"], f"{kind}: {run['last_threads']} threads are left")
        if kind == "io":
            expect(run["most_threads"] > run["min_threads"] and retired, "io: no thread came and went")


def refusals(program, folder):
    for arguments in (["--cpu", "--io"], [], ["--cpu", "--keep-alive", "soon"], ["--cpu", "--min", "8", "--max", "4"],
                      ["--cpu", "--adaptive", "perhaps"], ["--io", "--blocking-percent", "101"], ["--cpu", "--growth", "none"],
                      ["--cpu", "--json", os.path.join(folder, "none", "run.json")],
                      ["--cpu", "--plot", os.path.join(folder, "run.txt"), "--duration", "10ms"]):
        out = subprocess.run([*emulated.command(program), *arguments], capture_output=True, text=True, timeout=200)
        expect(out.returncode != 0 and out.stderr.strip(), f"{arguments} was not refused with a reason")


def monitor(program, told, *arguments):
    """What a run prints and writes, which have to fit."""
    out = subprocess.run([*emulated.command(program), *arguments, "--json", told], capture_output=True, text=True, timeout=250)
    expect(out.returncode == 0, f"{arguments} ended with {out.returncode}: {out.stderr}")
    with open(told, encoding="utf-8") as file:
        run = json.load(file)
    lines = out.stdout.splitlines()
    for line in lines[1:-1]:
        expect(LINE.match(line), f"no line as they should be: {line!r}")
    counts = Counter(each["action"] for each in run["decisions"])
    if "--quiet" not in arguments:
        expect(sum(line.startswith("inject") for line in lines) == counts["inject"], "injections: " + out.stdout)
        expect(sum(line.startswith("retire") for line in lines) == counts["retire"], "retirements: " + out.stdout)
    expect(counts["inject"] - counts["retire"] == run["last_threads"], f"{counts}, but {run['last_threads']} are left")
    expect(all(each["reason"] for each in run["decisions"]), "a decision without a reason")
    expect(len(run["samples"]) >= 2 and run["samples"][-1]["completed"] > 0, "nothing happened")
    times = [each["t"] for each in run["decisions"]]
    expect(times == sorted(times), "decisions are out of order")
    return out.stdout, run


def svg_shows(file, run):
    """All curves, and a mark for each thread that came or went, in the colour of its reason."""
    root = xml.parse(file).getroot()
    texts = Counter("".join(each.itertext()).strip() for each in root.iter(SVG + "text"))
    for name, colour in CURVES.items():
        expect(texts[name] >= 1, f"{file}: {name} is not in the legend")
        expect(any(colour_of(each, "stroke") == colour and each.get("d").count("L") > 4 for each in root.iter(SVG + "path")),
               f"{file}: no curve of {name}")
    came_or_went = Counter(f"{each['action']}: {each['reason'].replace('_', ' ')}" for each in run["decisions"]
                           if each["action"] != "goal")
    legend = {text for text in texts if text.startswith(("inject: ", "retire: "))}
    expect(legend == set(came_or_went), f"{file}: {legend} in the legend, {set(came_or_went)} happened")
    marks = Counter(colour_of(each, "color") for each in root.iter(SVG + "use") if each.get("color"))
    # One more of each stands in the legend.
    expect(sorted(marks.values()) == sorted(count + 1 for count in came_or_went.values()), f"{file}: {marks} for {came_or_went}")


def colour_of(element, attribute):
    found = re.match(r"rgb\( *(\d+), *(\d+), *(\d+)\)", element.get(attribute) or "")
    return tuple(map(int, found.groups())) if found else None


def png_shows(file):
    """1000 x 760 points that can be decoded and are not all alike."""
    data = open(file, "rb").read()
    expect(data[:8] == b"\x89PNG\r\n\x1a\n", f"{file} is no PNG")
    at, packed, header = 8, b"", None
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        expect(zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0], f"{file} is damaged")
        if kind == b"IHDR":
            header = struct.unpack(">IIBB", body[:10])
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    expect(header[:2] == (1000, 760) and header[2] == 8, f"{file}: {header}")
    samples = {0: 1, 2: 3, 3: 1, 6: 4}[header[3]]
    rows = zlib.decompress(packed)
    expect(len(rows) == 760 * (1 + 1000 * samples), f"{file}: {len(rows)} bytes")
    distinct = {rows[at + 1:at + 1 + 1000 * samples] for at in range(0, len(rows), 1 + 1000 * samples)}
    expect(len(distinct) > 20, f"{file}: nothing is drawn")


def expect(holds, complaint):
    if not holds:
        sys.exit(complaint)


main()
