#!/usr/bin/env python3
# check_words.py: the code that pages quote is that of compiled files, and what they link to is there.
# SPDX-License-Identifier: MIT
"""check_words.py LAW [ROOT]

quotes  A fenced block whose opening line names a file, as in ```cpp server.cpp, stands in that file (a path from the
        page's folder): the same lines, one after the other, but for an indentation that all of them share. A line
        "// ..." leaves something out. In README.md and in examples/guide every block of C++ names a file.
links   What a page links to is there: files and folders, and headings of other pages.
length  README.md has at most LIMIT words.

Prints each offender with its line; exits with 1 if there is one, and says how many blocks or links were looked at.
"""

import pathlib
import re
import subprocess
import sys

LIMIT = 930
GAP = "// ..."
EVERY_BLOCK_NAMES_A_FILE = re.compile(r"README\.md|examples/guide/.*")


class Checker:
    def __init__(self, root: pathlib.Path):
        self.root = root
        self.looked_at = 0
        self.found = 0
        self.pages = {page: (root / page).read_text(encoding="utf-8") for page in list_pages(root)}

    def offend(self, page: str, line: int, what: str) -> None:
        self.found += 1
        print(f"{page}:{line}: {what}")

    def quotes(self) -> None:
        for page, text in self.pages.items():
            for line, words, block in fences(text):
                if len(words) < 2:
                    if words[:1] == ["cpp"] and EVERY_BLOCK_NAMES_A_FILE.fullmatch(page):
                        self.offend(page, line, "this block names no file: ```cpp FILE")
                    continue
                self.looked_at += 1
                file = (self.root / page).parent / words[1]
                if not file.is_file():
                    self.offend(page, line, f"there is no file {words[1]}")
                    continue
                missing = first_missing(block, file.read_text(encoding="utf-8").splitlines())
                if missing is not None:
                    self.offend(page, line, f"{words[1]} does not have this: {missing}")

    def links(self) -> None:
        for page, text in self.pages.items():
            for number, line in enumerate(without_fences(text), 1):
                for target in re.findall(r"\]\(([^()\s]+)\)", line):
                    if re.match(r"[a-z]+:", target):
                        continue
                    self.looked_at += 1
                    self.link(page, number, target)

    def link(self, page: str, line: int, target: str) -> None:
        path, _, heading = target.partition("#")
        there = (self.root / page).parent / path if path else self.root / page
        if not there.exists():
            self.offend(page, line, f"links to {target}, which is not there")
        elif heading and heading not in headings(there.read_text(encoding="utf-8")):
            self.offend(page, line, f"links to {target}: no such heading")

    def length(self) -> None:
        self.looked_at = len(self.pages["README.md"].split())
        if self.looked_at > LIMIT:
            self.offend("README.md", 1, f"{self.looked_at} words; at most {LIMIT}: details have their place in the guide")


def list_pages(root: pathlib.Path) -> list[str]:
    if not (root / ".git").exists():
        return sorted(str(page.relative_to(root)) for page in root.rglob("*.md") if "build" not in page.parts)
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "*.md"],
                            check=True, capture_output=True, text=True)
    return sorted(page for page in listed.stdout.split("\n") if page and (root / page).is_file())


def fences(text: str):
    """Line, words of the opening line and lines of each fenced block."""
    opened = None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("```"):
            if opened:
                opened[2].append(line)
        elif opened:
            yield opened
            opened = None
        else:
            opened = (number, line[3:].split(), [])


def without_fences(text: str):
    inside = False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside
        yield "" if inside or line.startswith("    ") else line


def first_missing(block: list[str], lines: list[str]):
    """The first line of the block that the file does not have in its place, or None."""
    pieces = [[]]
    for line in block:
        if line.strip() == GAP:
            pieces.append([])
        else:
            pieces[-1].append(line)
    begin = 0
    for piece in pieces:
        if not piece:
            continue
        at = next((at for at in range(begin, len(lines) - len(piece) + 1)
                   if same(piece, lines[at:at + len(piece)])), None)
        if at is None:
            return next((line for line in piece if line.strip() not in [each.strip() for each in lines[begin:]]), piece[0])
        begin = at + len(piece)
    return None


def same(piece: list[str], lines: list[str]) -> bool:
    def indentation(some: list[str]) -> int:
        return min((len(line) - len(line.lstrip()) for line in some if line.strip()), default=0)
    cut_piece, cut_lines = indentation(piece), indentation(lines)
    return all(a[cut_piece:].rstrip() == b[cut_lines:].rstrip() for a, b in zip(piece, lines))


def headings(text: str) -> set[str]:
    """The anchors that a page's headings get."""
    found = set()
    for line in without_fences(text):
        if re.match(r"#+ ", line):
            name = line.lstrip("#").strip().lower()
            found.add(re.sub(r"[^\w\- ]", "", name.replace("`", "")).replace(" ", "-"))
    return found


def main() -> int:
    laws = ("quotes", "links", "length")
    if len(sys.argv) < 2 or sys.argv[1] not in laws:
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parents[2])
    checker = Checker(root)
    getattr(checker, sys.argv[1])()
    print(f"{sys.argv[1]}: {checker.looked_at} looked at, {checker.found} wrong")
    return 0 if checker.found == 0 and checker.looked_at > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
