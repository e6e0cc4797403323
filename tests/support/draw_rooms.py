#!/usr/bin/env python3
# draw_rooms.py: draws which rooms include headers of which, runtime/rooms.svg and io/rooms.svg; or checks these drawings.
# SPDX-License-Identifier: MIT
"""draw_rooms.py [check] [ROOT]

An arrow goes from a room to one whose headers it includes. Those that follow from others are left out: with a -> b and
b -> c there is no a -> c. Rooms that rooms.txt puts side by side are drawn so. With no word it draws, for which it needs
graphviz (Debian package graphviz). "check" compares the drawings with the includes of today, prints each arrow and each
room that is missing or too much, and exits with 1 if there is one.
"""

import html
import pathlib
import re
import shutil
import subprocess
import sys

from check_rooms import INCLUDE, Checker, Part

TITLE = re.compile(r"<title>([^<]*)</title>")


def arrows_of(root: pathlib.Path, part: Part) -> set[tuple[str, str]]:
    """Which room includes a header of which other one."""
    folder = root / part.folder
    found = set()
    for file in sorted([*folder.rglob("*.hpp"), *folder.rglob("*.cpp")]):
        room = file.relative_to(folder).parts[0]
        for include in INCLUDE.finditer(file.read_text(encoding="utf-8")):
            target = include.group(1).split("/")[0]
            if target in part.order and target != room:
                found.add((room, target))
    return found


def reduced(arrows: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Without those that follow from others. pre: they make no circle, which the law of rooms sees to."""
    reach = set(arrows)
    while more := {(a, d) for a, b in reach for c, d in arrows if b == c} - reach:
        reach |= more
    return {(a, b) for a, b in arrows if not any(a == c and (d, b) in reach for c, d in arrows)}


def wanted(root: pathlib.Path, part: Part) -> set[str]:
    """The titles of what a drawing of this part shows, as graphviz writes them."""
    return set(part.order) | {f"{a}->{b}" for a, b in reduced(arrows_of(root, part))}


def drawing_of(root: pathlib.Path, part: Part) -> pathlib.Path:
    return (root / part.folder).parent / "rooms.svg"


def draw(root: pathlib.Path, part: Part) -> None:
    lines = ["digraph rooms {", "rankdir=TB; nodesep=0.2; ranksep=0.35; bgcolor=white;",
             'node [shape=box, style="rounded,filled", fillcolor="#eef3fb", color="#5b7db1", fontname=Helvetica, fontsize=12];',
             'edge [color="#7a7a7a", arrowsize=0.7];']
    lines += [f'"{room}" [URL="src/{room}/README.md", target="_top"];' for room in sorted(part.order)]
    for row in part.siblings():
        lines.append("{rank=same; " + " ".join(f'"{room}";' for room in sorted(row)) + "}")
    lines += [f'"{a}" -> "{b}";' for a, b in sorted(reduced(arrows_of(root, part)))]
    done = subprocess.run(["dot", "-Tsvg"], input="\n".join([*lines, "}"]), text=True, capture_output=True, check=True)
    file = drawing_of(root, part)
    file.write_text(done.stdout, encoding="utf-8")
    print(f"wrote {file}")


def check(root: pathlib.Path, part: Part) -> int:
    """@returns  how many arrows and rooms are wrong"""
    file = drawing_of(root, part)
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    drawn = {html.unescape(title) for title in TITLE.findall(text)} - {"rooms"}
    expected = wanted(root, part)
    name = file.relative_to(root)
    offences = [f"{name}: {each} is not drawn" for each in sorted(expected - drawn)]
    offences += [f"{name}: {each} is drawn, and is not there" for each in sorted(drawn - expected)]
    for offence in offences:
        print(f"{offence}: run tests/support/draw_rooms.py")
    return len(offences)


def main() -> int:
    words = sys.argv[1:]
    checks = words[:1] == ["check"]
    if checks:
        words = words[1:]
    root = pathlib.Path(words[0]) if words else pathlib.Path(__file__).parents[2]
    parts = Checker(root).read_rules()
    if checks:
        wrong = sum(check(root, part) for part in parts)
        print(f"drawings: {len(parts)} looked at, {wrong} wrong")
        return 0 if wrong == 0 and parts else 1
    if shutil.which("dot") is None:
        print("draw_rooms.py: graphviz is missing; install it: apt-get install graphviz", file=sys.stderr)
        return 2
    for part in parts:
        draw(root, part)
    return 0


if __name__ == "__main__":
    sys.exit(main())
