#!/usr/bin/env python3
# draw_trace.py: a trace file as a picture: tracks, spans of tasks, flows.
# SPDX-License-Identifier: MIT
"""draw_trace.py TRACE.json PICTURE.svg [FROM_US TO_US]

Above, a line for each thread: slices of the tasks that it ran. Below, a line for each task: when it was queued (amber),
running (its colour) and suspended (thin). Arrows go from who wakes to who is woken.
"""

import html
import json
import pathlib
import sys

WIDTH, LEFT, ROW, GAP = 1180, 190, 24, 8
COLOURS = ["#4c78a8", "#59a14f", "#b07aa1", "#e15759", "#76b7b2", "#9c755f", "#ff9da7", "#6b6ecf"]
QUEUED, GREY, IDLE = "#edb646", "#9aa0a6", "#e4e6e9"


class Picture:
    def __init__(self, events: list[dict], begin: float, end: float):
        self.events, self.begin, self.end = events, begin, end
        self.out: list[str] = []
        self.colours: dict[str, str] = {}
        self.rows: dict[object, int] = {}
        self.tracks = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
        self.order = {e["tid"]: e["args"]["sort_index"] for e in events if e["ph"] == "M" and e["name"] == "thread_sort_index"}

    def x(self, time: float) -> float:
        share = (min(max(time, self.begin), self.end) - self.begin) / (self.end - self.begin)
        return LEFT + share * (WIDTH - LEFT - 16)

    def y(self, row: int) -> int:
        return 34 + row * (ROW + GAP)

    def colour(self, name: str) -> str:
        if name in ("parked", "waits for its ring", "looks at its ring", "spawns", "wakes"):
            return IDLE
        return self.colours.setdefault(name, COLOURS[len(self.colours) % len(COLOURS)])

    def box(self, row: int, begin: float, end: float, fill: str, text: str = "", inset: int = 0) -> None:
        if end < self.begin or begin > self.end:
            return
        left, right = self.x(begin), self.x(end)
        width = max(right - left, 1.2)
        self.out.append(f'<rect x="{left:.1f}" y="{self.y(row) + inset}" width="{width:.1f}" height="{ROW - 2 * inset}" '
                        f'rx="2" fill="{fill}"/>')
        if width > 7 * len(text) + 8 and text:
            ink = "#666" if fill == IDLE else "#fff"
            self.out.append(f'<text x="{left + 5:.1f}" y="{self.y(row) + 16}" fill="{ink}">{html.escape(text)}</text>')

    def label(self, row: int, text: str) -> None:
        self.out.append(f'<text x="{LEFT - 10}" y="{self.y(row) + 16}" text-anchor="end" fill="#333">{html.escape(text)}</text>')

    def threads(self) -> None:
        used = {e["tid"] for e in self.events if e["ph"] in "Xi"}
        for track in sorted(used, key=lambda one: self.order.get(one, 0)):
            self.rows[track] = len(self.rows)
            self.label(self.rows[track], self.tracks[track])
        for each in self.events:
            if each["ph"] == "X":
                self.box(self.rows[each["tid"]], each["ts"], each["ts"] + each["dur"], self.colour(each["name"]), each["name"])
        for each in self.events:
            if each["ph"] == "i" and self.begin <= each["ts"] <= self.end:
                x, y = self.x(each["ts"]), self.y(self.rows[each["tid"]])
                self.out.append(f'<path d="M {x:.1f} {y - 3} l 4 -5 l -8 0 z" fill="#222"><title>{html.escape(each["name"])}</title></path>')

    def tasks(self) -> None:
        first = len(self.rows) + 1
        names: dict[str, str] = {}
        open_ones: dict[str, list[dict]] = {}
        for each in self.events:
            if each["ph"] == "b":
                open_ones.setdefault(each["id"], []).append(each)
            elif each["ph"] == "e":
                begin = open_ones[each["id"]].pop()
                if open_ones[each["id"]]:
                    row = self.rows.setdefault("task " + each["id"], first + len(names))
                    names.setdefault(each["id"], "")
                    self.state(row, begin, each["ts"], open_ones[each["id"]][0]["name"])
                else:
                    self.label(self.rows["task " + each["id"]], each["name"])

    def state(self, row: int, begin: dict, end: float, name: str) -> None:
        if begin["name"] == "suspended":
            self.box(row, begin["ts"], end, GREY, inset=11)
        elif begin["name"] == "queued":
            self.box(row, begin["ts"], end, QUEUED, inset=6)
        else:
            self.box(row, begin["ts"], end, self.colour(name), inset=1)

    def flows(self) -> None:
        begun = {e["id"]: e for e in self.events if e["ph"] == "s"}
        for end in self.events:
            begin = begun.get(end["id"]) if end["ph"] == "f" else None
            if begin is None or not (self.begin <= begin["ts"] and end["ts"] <= self.end):
                continue
            x1, y1 = self.x(begin["ts"]), self.y(self.rows[begin["tid"]]) + ROW - 3
            x2, y2 = self.x(end["ts"]), self.y(self.rows[end["tid"]]) + (3 if end["tid"] != begin["tid"] else ROW - 3)
            bend = 14 if y1 == y2 else 0
            self.out.append(f'<path d="M {x1:.1f} {y1} C {x1 + 12:.1f} {y1 + bend}, {x2 - 12:.1f} {y2 + bend}, {x2:.1f} {y2}" '
                            'fill="none" stroke="#222" stroke-width="0.9" opacity="0.7" marker-end="url(#tip)"/>')

    def ruler(self) -> None:
        step = next(s for s in (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10**4, 10**5, 10**6, 10**7)
                    if (self.end - self.begin) / s <= 12)
        time = (self.begin // step + 1) * step
        while time < self.end:
            x = self.x(time)
            self.out.append(f'<path d="M {x:.1f} 24 V {self.y(self.height())}" stroke="#e8eaed"/>')
            self.out.append(f'<text x="{x:.1f}" y="18" text-anchor="middle" fill="#777">{time / 1000:g} ms</text>')
            time += step

    def height(self) -> int:
        return max(self.rows.values(), default=0) + 1

    def svg(self) -> str:
        self.threads()
        self.tasks()
        self.flows()
        drawn, self.out = self.out, []
        self.ruler()
        height = self.y(self.height()) + 6
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            'font-family="sans-serif" font-size="12">',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
            '<path d="M0 0 L8 4 L0 8 z" fill="#222"/></marker></defs>',
            f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>', *self.out, *drawn, "</svg>", ""])


def main() -> int:
    if len(sys.argv) not in (3, 5):
        print(__doc__)
        return 2
    events = json.loads(pathlib.Path(sys.argv[1]).read_text("utf-8"))["traceEvents"]
    times = [e["ts"] + e.get("dur", 0) for e in events if e["ph"] != "M"]
    begin, end = (float(sys.argv[3]), float(sys.argv[4])) if len(sys.argv) == 5 else (0.0, max(times, default=1.0))
    pathlib.Path(sys.argv[2]).write_text(Picture(events, begin, end).svg(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
