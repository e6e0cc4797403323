#!/usr/bin/env python3
# check_trace.py: reads a trace as Perfetto does, and says what is wrong with it.
# SPDX-License-Identifier: MIT
"""check_trace.py FILE... | --run PROGRAM [ARGUMENT...] | --mistakes

With --run the program is started in an empty folder, with "run.json" as its last argument, and has to write that.
With --mistakes traces with one mistake each are made, and each has to be found.
The format: Chrome's trace events, JSON object format. Prints each offence; exits with 1 if there is one.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

# What each kind of event has to have, beside ph, pid, tid, ts and name.
NEEDED = {
    "M": {"args": dict},
    "X": {"dur": (int, float), "cat": str},
    "i": {"s": str, "cat": str},
    "b": {"id": str, "cat": str},
    "e": {"id": str, "cat": str},
    "s": {"id": str, "cat": str},
    "f": {"id": str, "cat": str},
}
ALLOWED = {"ph", "pid", "tid", "ts", "name", "args", "dur", "cat", "id", "s", "bp"}
PHASE_OF_SCHEMA = {"pid": int, "tid": int, "ts": (int, float), "name": str}


class Checker:
    def __init__(self) -> None:
        self.found: list[str] = []
        self.flows: dict[str, dict] = {}
        self.ended: set[str] = set()
        self.spans: dict[tuple[str, str], list[tuple[str, float]]] = {}
        self.slices: dict[int, list[tuple[int, int, str]]] = {}
        self.tracks: set[int] = set()

    def offend(self, text: str) -> None:
        self.found.append(text)

    def members(self, number: int, event: object) -> bool:
        if not isinstance(event, dict) or event.get("ph") not in NEEDED:
            self.offend(f"event {number} has no known ph: {event!r:.100}")
            return False
        wanted = PHASE_OF_SCHEMA | NEEDED[event["ph"]]
        for name, kind in wanted.items():
            if not isinstance(event.get(name), kind) or isinstance(event.get(name), bool):
                self.offend(f"event {number} ({event['ph']}): {name} is {event.get(name)!r}")
                return False
        for name in event.keys() - ALLOWED:
            self.offend(f"event {number} ({event['ph']}) has a member {name}")
        if event["ts"] < 0:
            self.offend(f"event {number} is before the begin")
        return True

    def add(self, number: int, event: dict) -> None:
        phase, track, time, name = event["ph"], event["tid"], event["ts"], event["name"]
        if phase == "M":
            if name == "thread_name":
                self.tracks.add(track)
            return
        if track not in self.tracks:
            self.offend(f"event {number} is on track {track}, which has no name")
        if phase == "X":
            if event["dur"] < 0:
                self.offend(f"event {number}: slice {name} ends before it begins")
            # In whole nanoseconds, so that neighbours meet.
            begin = round(time * 1000)
            self.slices.setdefault(track, []).append((begin, begin + round(event["dur"] * 1000), name))
        elif phase == "i" and event["s"] not in ("t", "p", "g"):
            self.offend(f"event {number}: an instant of scope {event['s']}")
        elif phase == "b":
            self.spans.setdefault((event["cat"], event["id"]), []).append((name, time))
        elif phase == "e":
            self.end_span(number, event)
        elif phase == "s":
            if event["id"] in self.flows:
                self.offend(f"event {number}: flow {event['id']} begins twice")
            self.flows[event["id"]] = event
        elif phase == "f":
            self.end_flow(number, event)

    def end_span(self, number: int, event: dict) -> None:
        open_ones = self.spans.get((event["cat"], event["id"]), [])
        if not open_ones:
            self.offend(f"event {number}: span {event['name']} of {event['id']} has not begun")
            return
        name, since = open_ones.pop()
        # A task may have been named after its begin.
        if open_ones and name != event["name"]:
            self.offend(f"event {number}: span {name} of {event['id']} ends as {event['name']}")
        if event["ts"] < since:
            self.offend(f"event {number}: span {name} of {event['id']} ends before it begins")

    def end_flow(self, number: int, event: dict) -> None:
        begin = self.flows.get(event["id"])
        if begin is None or event["id"] in self.ended:
            self.offend(f"event {number}: flow {event['id']} ends, and has not begun, or twice")
        elif begin["ts"] > event["ts"]:
            self.offend(f"event {number}: flow {event['id']} ends before it begins")
        elif begin["name"] != event["name"] or begin["cat"] != event["cat"]:
            self.offend(f"event {number}: flow {event['id']} has two names")
        self.ended.add(event["id"])

    def finish(self) -> None:
        for (_, task), open_ones in self.spans.items():
            for name, _ in open_ones:
                self.offend(f"span {name} of {task} does not end")
        for track, slices in self.slices.items():
            open_ones: list[tuple[int, str]] = []
            for begin, end, name in sorted(slices, key=lambda one: (one[0], -one[1])):
                while open_ones and open_ones[-1][0] <= begin:
                    open_ones.pop()
                if open_ones and end > open_ones[-1][0]:
                    self.offend(f"track {track}: slice {name} ends after {open_ones[-1][1]}, inside which it begins")
                open_ones.append((end, name))


def offences(text: str) -> list[str]:
    checker = Checker()
    try:
        trace = json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError) as mistake:
        return [f"it is no JSON: {mistake}"]
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        return ["it is no object with traceEvents"]
    if trace.get("displayTimeUnit") not in ("ns", "ms"):
        checker.offend("displayTimeUnit is neither ns nor ms")
    for number, event in enumerate(trace["traceEvents"]):
        if checker.members(number, event):
            checker.add(number, event)
    checker.finish()
    return checker.found


def check(path: pathlib.Path) -> int:
    text = path.read_bytes().decode("utf-8", errors="strict")
    found = offences(text)
    for each in found[:50]:
        print(f"{path}: {each}")
    print(f"{path}: {len(found)} offences, {text.count(chr(10))} lines")
    return 1 if found else 0


def run(command: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        program = [os.path.abspath(part) if os.path.exists(part) else part for part in command]
        subprocess.run([*program, "run.json"], cwd=folder, check=True, timeout=200)
        return check(pathlib.Path(folder, "run.json"))


TRACK = {"ph": "M", "pid": 1, "tid": 1, "ts": 0, "name": "thread_name", "args": {"name": "worker 0"}}


def event(phase: str, **more: object) -> dict:
    return {"ph": phase, "pid": 1, "tid": 1, "ts": 5, "name": "n", "cat": "c"} | more


MISTAKES = {
    "no ph": [{"pid": 1}],
    "no duration": [event("X")],
    "a negative duration": [event("X", dur=-1)],
    "an unknown member": [event("X", dur=1, colour="red")],
    "a time that is a text": [event("X", dur=1, ts="5")],
    "a time before the begin": [event("X", dur=1, ts=-1)],
    "a track without a name": [event("X", dur=1, tid=7)],
    "a flow without a begin": [event("f", id="1")],
    "a flow that begins twice": [event("s", id="1"), event("s", id="1")],
    "a flow that ends twice": [event("s", id="1"), event("f", id="1"), event("f", id="1")],
    "a flow that goes back": [event("s", id="1"), event("f", id="1", ts=4)],
    "a span that does not end": [event("b", id="1")],
    "a span that does not begin": [event("e", id="1")],
    "spans that cross": [event("b", id="1"), event("b", id="1", name="m"), event("b", id="1", name="k"),
                         event("e", id="1", name="m"), event("e", id="1"), event("e", id="1")],
    "slices that cross": [event("X", dur=10), event("X", ts=8, dur=10)],
    "an instant of no scope": [event("i", s="x")],
}


def mistakes() -> int:
    good = [event("X", dur=10), event("X", ts=6, dur=2), event("s", id="1"), event("f", id="1", ts=6),
            event("b", id="1"), event("e", id="1", ts=9)]
    missed = 0
    for name, events in {"nothing": good, **MISTAKES}.items():
        text = json.dumps({"displayTimeUnit": "ns", "traceEvents": [TRACK, *events]})
        found = offences(text)
        if bool(found) == (name == "nothing"):
            print(f"{name}: {found or 'not found'}")
            missed += 1
    for name, text in {"no JSON": '{"traceEvents":[', "a list": "[]", "no events": '{"displayTimeUnit":"ns"}'}.items():
        if not offences(text):
            print(f"{name}: not found")
            missed += 1
    return 1 if missed else 0


def main() -> int:
    if sys.argv[1:2] == ["--mistakes"]:
        return mistakes()
    if sys.argv[1:2] == ["--run"]:
        return run(sys.argv[2:])
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    return max(check(pathlib.Path(path)) for path in sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
