#!/usr/bin/env python3
# check_words.py: the code that pages quote is that of compiled files, and what they link to is there.
# SPDX-License-Identifier: MIT
"""check_words.py LAW [ROOT]

quotes  A fenced block whose opening line names a file, as in ```cpp server.cpp, stands in that file (a path from the
        page's folder): the same lines, one after the other, but for an indentation that all of them share. A line
        "// ..." leaves something out. Every block of C++ names a file in README.md, in those of runtime and io, in
        examples/guide and in runtime/parallel-search.md.
links   What a page links to is there: files and folders, and headings of other pages.
length  README.md has at most LIMIT words.
cites   Protocols have names, and their steps too. A step is defined once: in a page as **parking/announce**, or in a comment
        below a line that ends with "Protocol parking:", indented by three blanks, its name and two more. Whatever a comment
        or a page cites, parking/announce, is defined; whatever is defined is cited by a comment of code or of a model;
        and nobody cites labels, such as a letter with a number, or a step of our own work by its number.
index   The maps, runtime/README.md and io/README.md, say where each protocol stands: the last column of their tables of
        rooms names, in order, those that a room's page defines, and those of the headers in a row of their own choice.

Prints each offender with its line; exits with 1 if there is one, and says how many blocks or links were looked at.
"""

import pathlib
import re
import subprocess
import sys

LIMIT = 930
GAP = "// ..."
LABEL = re.compile(r"(?<![\w/\-.'\"`<])(?:(?:HC|HG|HB|RC|ST|[A-Z])\d{1,2}(?!\w|\.\w|\()|[Ss]tep \d+\b)")
NO_LABELS = {"O0", "O1", "O2", "O3", "T1", "T2", "T3", "T4", "T5"}  # levels of optimisation, trees
STEP = r"([a-z_]+)/([a-z_]+)"
CITE = re.compile(r"(?<![\w/.*])" + STEP + r"(?![\w/*]|\.[a-z])")
EVERY_BLOCK_NAMES_A_FILE = re.compile(r"((runtime|io)/)?README\.md|examples/guide/.*|runtime/parallel-search\.md")


class Checker:
    def __init__(self, root: pathlib.Path):
        self.root = root
        self.looked_at = 0
        self.found = 0
        self.pages = {page: (root / page).read_text(encoding="utf-8") for page in list_files(root, "*.md")}

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

    def comments_and_prose(self):
        """Numbered lines by file: of code and models their comments, of pages all but the code that they quote."""
        comments = {file: list(comments_of(self.root / file)) for file in list_files(self.root, "*.hpp", "*.cpp", "*.pml")
                    if file.split("/")[0] in ("runtime", "io", "tests") and not file.startswith(("tests/bench/", "tests/package/"))}
        prose = {page: list(enumerate(without_fences(text), 1)) for page, text in self.pages.items()
                 if page.split("/")[0] in ("runtime", "io", "tests") and not page.startswith("tests/bench/kit/")}
        return comments, prose

    def index(self) -> None:
        comments, prose = self.comments_and_prose()
        for part in ("runtime", "io"):
            map_page = f"{part}/README.md"
            wanted = {}  # protocol -> the page of its room, or None if it stands in a header
            for file, _, step in all_steps(prose, comments):
                if file.startswith(part + "/"):
                    page = file if file.endswith("/README.md") else None
                    wanted.setdefault(step.split("/")[0], set()).add(page)
            listed = set()
            for number, row in prose.get(map_page, []):
                found = re.match(r"\| \[\w+\]\((src/\w+/README\.md)\).*\|([^|]*)\|$", row)
                if not found:
                    continue
                page, names = f"{part}/{found.group(1)}", re.findall(r"`(\w+)`", found.group(2))
                if names != sorted(names):
                    self.offend(map_page, number, f"the protocols of {page} are not in order")
                for name in names:
                    self.looked_at += 1
                    pages = wanted.get(name, set())
                    if page in pages or (None in pages and name not in {each for each, _ in listed}):
                        listed.add((name, page if page in pages else None))
                    else:
                        self.offend(map_page, number, f"{name} is no protocol of {page}")
            for name, page in sorted(((name, page) for name, pages in wanted.items() for page in pages), key=str):
                if (name, page) not in listed:
                    self.offend(map_page, 1, f"protocol {name} is in no row of the rooms' table" if page is None else
                                f"protocol {name} is not in the row of {page}")

    def cites(self) -> None:
        comments, prose = self.comments_and_prose()
        defined = {}
        for file, line, step in all_steps(prose, comments):
            if step in defined:
                self.offend(file, line, f"{step} is defined in {defined[step][0]}, too")
            defined[step] = (file, line)
        protocols = {step.split("/")[0] for step in defined}
        cited = set()
        for file, lines in {**comments, **prose}.items():
            for line, text in lines:
                for protocol, step in CITE.findall(text):
                    if protocol not in protocols:
                        continue
                    self.looked_at += 1
                    if f"{protocol}/{step}" not in defined:
                        self.offend(file, line, f"cites {protocol}/{step}, which no protocol defines")
                    elif file in comments:
                        cited.add(f"{protocol}/{step}")
                for name in re.findall(r"\bProtocol ([a-z_]+)[:.,]", text):
                    if name not in protocols:
                        self.offend(file, line, f"names protocol {name}, of which no step is defined")
                for label in set(LABEL.findall(text)) - NO_LABELS:
                    self.offend(file, line, f"cites {label}: a step has a protocol and a name")
        for step, (file, line) in defined.items():
            if step not in cited:
                self.offend(file, line, f"no code cites {step}")

    def length(self) -> None:
        self.looked_at = len(self.pages["README.md"].split())
        if self.looked_at > LIMIT:
            self.offend("README.md", 1, f"{self.looked_at} words; at most {LIMIT}: details have their place in the guide")


def list_files(root: pathlib.Path, *patterns: str) -> list[str]:
    if not (root / ".git").exists():
        return sorted(str(file.relative_to(root)) for pattern in patterns for file in root.rglob(pattern)
                      if "build" not in file.parts)
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", *patterns],
                            check=True, capture_output=True, text=True)
    return sorted(file for file in set(listed.stdout.split("\n")) if file and (root / file).is_file())


def comments_of(file: pathlib.Path):
    """Number and text of each line's comment: all from // on, and what stands between /* and */ on one line."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        found = re.search(r"//.*|/\*.*?\*/", line)
        if found and line[:found.start()].count('"') % 2 == 0:
            yield number, found.group()


def all_steps(prose, comments):
    """File, line and protocol/step of each definition."""
    yield from steps_of_pages(prose)
    yield from steps_of_comments(comments)


def steps_of_pages(pages):
    for page, lines in pages.items():
        for number, line in lines:
            for protocol, step in re.findall(r"\*\*" + STEP + r"\*\*", line):
                yield page, number, f"{protocol}/{step}"


def steps_of_comments(comments):
    for file, lines in comments.items():
        protocol, before = None, 0
        for number, text in lines:
            begins = re.search(r"\bProtocol ([a-z_]+):$", text)
            step = re.match(r"///?   ([a-z_]+)  +\S", text)
            if begins:
                protocol = begins.group(1)
            elif protocol and step and number == before + 1:
                yield file, number, f"{protocol}/{step.group(1)}"
            elif number != before + 1 or not re.match(r"///?    ", text):
                protocol = None
            before = number


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
    laws = ("quotes", "links", "length", "cites", "index")
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
