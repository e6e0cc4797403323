#!/usr/bin/env python3
# check_rooms.py: rooms include headers of lower rooms only, in the order of rooms.txt, but for the exceptions there.
# SPDX-License-Identifier: MIT
"""check_rooms.py [ROOT]

rooms.txt beside this says how it is written. Judged is what the files of rooms include: "room/x.hpp", and of their own part
<tandem/.../detail/x.hpp>. Offences: an include that goes up or to a sibling, or names no room, and is not excepted; an
exception that nothing needs; a room that is not in the order, and one of the order that is not there; a detail header
without a room, or with two, and one that is not there.
Prints each offender with its line; exits with 1 if there is one.
"""

import pathlib
import re
import sys

RULES = "tests/support/rooms.txt"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
EITHER_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
EXCEPTION = re.compile(r"(\w+(?: \w+)*) -> (\w+) \((\S+)\): \S.*")
HEADERS = re.compile(r"(\w+): (\w+(?: \w+)*)")


class Part:
    """The rooms of one folder."""

    def __init__(self, folder: str):
        self.folder = folder
        self.order: dict[str, int] = {}  # the line that names a room; lower rooms come first
        self.rank: dict[str, int] = {}  # siblings have the same
        self.listed: list[tuple[str, str, int]] = []  # (detail header, room, line)
        self.room_of: dict[str, str] = {}  # of each detail header, as it is included
        self.exceptions: dict[tuple[str, str, str], int] = {}  # (room, room of the header, header) -> line
        self.needed: set[tuple[str, str, str]] = set()

    def add_rooms(self, words: list[str], line: int) -> None:
        rank = len(self.order)
        beside = False
        for word in words:
            if word == "|":
                beside = True
                continue
            rank += not beside
            beside = False
            self.order[word] = line
            self.rank[word] = rank

    def siblings(self) -> list[list[str]]:
        """The rooms that share a rank with others, by rank."""
        rows: dict[int, list[str]] = {}
        for room, rank in self.rank.items():
            rows.setdefault(rank, []).append(room)
        return [row for row in rows.values() if len(row) > 1]

    def is_below(self, lower: str, room: str) -> bool:
        return lower in self.rank and self.rank[lower] < self.rank.get(room, 0)


class Checker:
    def __init__(self, root: pathlib.Path):
        self.root = root
        self.looked_at = 0
        self.found = 0

    def offend(self, file: str, line: int, what: str) -> None:
        self.found += 1
        print(f"{file}:{line}: {what}")

    def read_rules(self) -> list[Part]:
        parts: list[Part] = []
        for number, line in enumerate((self.root / RULES).read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            if line.startswith("["):
                parts.append(Part(line.strip("[]")))
            elif not parts:
                self.offend(RULES, number, "stands before any folder")
            elif "->" in line:
                self.read_exception(parts[-1], number, line)
            elif headers := HEADERS.fullmatch(line):
                parts[-1].listed += [(header, headers.group(1), number) for header in headers.group(2).split()]
            elif ":" in line:
                self.offend(RULES, number, "headers are written: room: header header")
            else:
                parts[-1].add_rooms(line.split(), number)
        return parts

    def read_exception(self, part: Part, number: int, line: str) -> None:
        exception = EXCEPTION.fullmatch(line)
        if exception is None:
            self.offend(RULES, number, "an exception is written: room room -> room (header): reason")
            return
        rooms, target, header = exception.groups()
        for room in rooms.split():
            part.exceptions[room, target, header] = number

    def check(self, part: Part) -> None:
        files = sorted(file for pattern in ("*.hpp", "*.cpp") for file in (self.root / part.folder).rglob(pattern))
        rooms = {file.relative_to(self.root / part.folder).parts[0] for file in files}
        for room in sorted(rooms - set(part.order)):
            self.offend(RULES, 1, f"room {part.folder}/{room} is not in the order")
        for room, line in part.order.items():
            if room not in rooms:
                self.offend(RULES, line, f"there is no room {part.folder}/{room}")
        self.place_headers(part)
        for file in files:
            self.check_file(part, file)
        for exception, line in part.exceptions.items():
            if exception not in part.needed:
                self.offend(RULES, line, f"nothing in {part.folder}/{exception[0]} needs this exception")

    def place_headers(self, part: Part) -> None:
        """Which room each header of a detail folder is of: its line says so, or the folder in which it lies."""
        public = (self.root / part.folder).parent / "include"
        rooms: dict[str, str] = {}
        for header, room, line in part.listed:
            if header in rooms:
                self.offend(RULES, line, f"{header} is of {rooms[header]} already")
            if room not in part.order:
                self.offend(RULES, line, f"{room} is no room of {part.folder}")
            rooms[header] = room
        there = set()
        for file in sorted(public.rglob("detail/**/*.hpp")):
            name = str(file.relative_to(public))
            within = name.split("/detail/", 1)[1]
            there.add(file.stem)
            room = within.split("/")[0] if "/" in within else rooms.get(file.stem)
            if room not in part.order:
                self.offend(RULES, 1, f"<{name}> is of no room")
            else:
                part.room_of[name] = room
        for header, _, line in part.listed:
            if header not in there:
                self.offend(RULES, line, f"there is no detail header {header}")

    def check_file(self, part: Part, file: pathlib.Path) -> None:
        text = file.read_text(encoding="utf-8")
        room = file.relative_to(self.root / part.folder).parts[0]
        for include in EITHER_INCLUDE.finditer(text):
            quoted, angled = include.groups()
            if quoted is None and angled not in part.room_of:
                continue
            self.looked_at += 1
            header = quoted or f"<{angled}>"
            target, _, short = quoted.partition("/") if quoted else (part.room_of[angled], "", header)
            if target == room or part.is_below(target, room):
                continue
            if (room, target, short) in part.exceptions:
                part.needed.add((room, target, short))
                continue
            line = text.count("\n", 0, include.start()) + 1
            name = str(file.relative_to(self.root))
            if target in part.order:
                self.offend(name, line, f"{header} is of {target}, a room that is not below {room}: see {RULES}")
            else:
                self.offend(name, line, f"{header} is of no room: a header is included as room/header")


def main() -> int:
    checker = Checker(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    for part in checker.read_rules():
        checker.check(part)
    print(f"rooms: {checker.looked_at} looked at, {checker.found} wrong")
    return 0 if checker.found == 0 and checker.looked_at > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
